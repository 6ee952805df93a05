package store

import (
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"benchd/worker/bench"
)

// maxResult bounds what a stored result may unpack to.
const maxResult = 512 << 20

// A measurement is what the results table keeps of a finished report.
type measurement struct {
	Result   *bench.TrialResult `json:"result"`
	Snapshot bench.HostSnapshot `json:"snapshot"`
}

// A codec packs measurements. Raw samples compress well, and they are most of the store.
type codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// newCodec makes the packer and the unpacker. Both are used for whole buffers only, so that
// neither keeps a goroutine or a stream's window.
func newCodec() (codec, error) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return codec{}, fmt.Errorf("make zstd encoder: %w", err)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxResult))
	if err != nil {
		return codec{}, fmt.Errorf("make zstd decoder: %w", err)
	}
	return codec{e, d}, nil
}

// close frees the unpacker; the packer has nothing to free.
func (c codec) close() { c.decoder.Close() }

// pack writes a measurement as compressed JSON. JSON, since it is what the API shows: a
// result that was stored years ago is read by the same rules as one sent today.
func (c codec) pack(m measurement) ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write result: %w", err)
	}
	return c.encoder.EncodeAll(text, nil), nil
}

// unpack reads what pack wrote, of this or of an earlier version of the shape.
func (c codec) unpack(body []byte) (measurement, error) {
	var m measurement
	text, err := c.decoder.DecodeAll(body, nil)
	if err != nil {
		return m, fmt.Errorf("unpack result: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("read result: %w", err)
	}
	return m, nil
}
