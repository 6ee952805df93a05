package envelope_test

import (
	"errors"
	"fmt"

	"benchd/kernels/envelope"
)

func ExampleCodec() {
	codec, err := envelope.NewCodec(envelope.Stream, envelope.DefaultLimits())
	if err != nil {
		fmt.Println(err)
		return
	}
	sent := envelope.Beans(1)
	request := codec.Append(nil, &sent)
	var got envelope.Message
	err = codec.Decode(request, &got)
	fmt.Println(len(request), err, got.Equal(&sent))

	err = codec.Decode(request[:100], &got)
	var refused *envelope.Error
	fmt.Println(errors.As(err, &refused), err)
	// Output:
	// 2253 <nil> true
	// true the document ends inside the value of an attribute, at byte 100
}

func ExamplePayload() {
	sent, err := envelope.Payload(10<<10, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	got := append([]byte(nil), sent...)
	fmt.Println(len(sent), envelope.Check(sent, got))
	got[5000] = '!'
	fmt.Println(envelope.Check(sent, got))
	// Output:
	// 10240 <nil>
	// the answer of 10240 bytes differs from the 10240 bytes sent, first at byte 5000
}
