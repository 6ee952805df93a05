package messaging

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/eclipse/paho.golang/packets"
)

// errOldMQTT tells of a broker from before MQTT 5.
var errOldMQTT = errors.New("it speaks MQTT 3.1.1, and not MQTT 5, which has request and reply")

// mqttElder explains why a broker did not answer a CONNECT of MQTT 5. One from before it may
// hang up without a word, as RabbitMQ did until 3.13; that it answers a CONNECT of its own
// version says so.
func mqttElder(ctx context.Context, at place, why error) error {
	ctx, cancel := context.WithTimeout(ctx, connectPatience)
	defer cancel()
	socket, err := at.dial(ctx)
	if err != nil {
		return why
	}
	defer func() { _ = socket.Close() }()
	release := context.AfterFunc(ctx, func() { _ = socket.Close() })
	defer release()
	var answer [4]byte
	if _, err = socket.Write(mqttElderConnect(at)); err == nil {
		_, err = io.ReadFull(socket, answer[:])
	}
	if err == nil && answer[0]>>4 == packets.CONNACK && answer[1] == 2 {
		return errOldMQTT
	}
	return why
}

// mqttElderConnect is a CONNECT of MQTT 3.1.1 (section 3.1), for a session that is forgotten.
func mqttElderConnect(at place) []byte {
	const clean, withUser, withPassword = 0x02, 0x80, 0x40
	flags := byte(clean)
	rest := mqttText([]byte{0, mqttKeepAlive}, unguessable()[:23]) // the longest name that all take
	if user, password := at.credentials("", ""); user != "" {
		flags |= withUser | withPassword
		rest = mqttText(mqttText(rest, user), password)
	}
	rest = append(append(mqttText(nil, "MQTT"), 4, flags), rest...)
	return append(binary.AppendUvarint([]byte{packets.CONNECT << 4}, uint64(len(rest))), rest...)
}

// mqttText appends a text with its length before it.
func mqttText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}
