package messaging

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"

	"benchd/kernels"
)

// mqttVersionTopic is where many brokers tell what they are; it is no part of the protocol.
const mqttVersionTopic = "$SYS/broker/version"

// inquire reads what the broker grants with CONNACK and what it tells of itself under $SYS,
// and times PINGREQ. It reads and writes the packets itself, since the client library shows
// no PINGRESP.
func (mqttDriver) inquire(ctx context.Context, at place) (finding, error) {
	socket, err := at.dial(ctx)
	if err != nil {
		return finding{}, fmt.Errorf("connect to the MQTT broker at %s: %w", at.url.Host, err)
	}
	defer func() { _ = socket.Close() }()
	release := context.AfterFunc(ctx, func() { _ = socket.Close() })
	defer release()
	m := &mqttInquiry{socket: socket, in: bufio.NewReader(socket)}
	f, err := m.ask(ctx, at)
	if errors.Is(err, io.EOF) {
		err = mqttElder(ctx, at, err)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return finding{}, fmt.Errorf("open a session at the MQTT broker at %s: %w", at.url.Host, err)
	}
	return f, nil
}

// mqttInquiry is a session on which one goroutine asks and waits for the answer.
type mqttInquiry struct {
	socket  net.Conn
	in      *bufio.Reader
	version string // that came under $SYS
}

func (m *mqttInquiry) ask(ctx context.Context, at place) (finding, error) {
	granted, err := m.connect(at)
	if err != nil {
		return finding{}, err
	}
	f := finding{Report: kernels.Report{Supports: mqttFeatures(granted.Properties)}}
	subscribe := packets.NewControlPacket(packets.SUBSCRIBE)
	subscribe.Content = &packets.Subscribe{
		PacketID: 1, Properties: &packets.Properties{}, Subscriptions: []packets.SubOptions{{Topic: mqttVersionTopic}},
	}
	if _, err := m.trip(subscribe, packets.SUBACK); err != nil {
		return finding{}, err
	}
	ping := packets.NewControlPacket(packets.PINGREQ)
	f.RoundTrip, err = kernels.Repeat(ctx, func(context.Context) error {
		_, err := m.trip(ping, packets.PINGRESP)
		return err
	})
	if err != nil {
		return finding{}, err
	}
	f.Product, f.Version = productOf(m.version)
	bye := packets.NewControlPacket(packets.DISCONNECT)
	_, _ = bye.WriteTo(m.socket) // whoever does not read it sees the connection end
	return f, nil
}

// connect opens a session that ends with the connection.
func (m *mqttInquiry) connect(at place) (*packets.Connack, error) {
	c := &paho.Connect{ClientID: unguessable(), CleanStart: true, KeepAlive: mqttKeepAlive}
	if user, password := at.credentials("", ""); user != "" {
		c.Username, c.UsernameFlag, c.Password, c.PasswordFlag = user, true, []byte(password), true
	}
	p := packets.NewControlPacket(packets.CONNECT)
	content := c.Packet()
	content.ProtocolName, content.ProtocolVersion = "MQTT", 5
	p.Content = content
	got, err := m.trip(p, packets.CONNACK)
	if err != nil {
		return nil, err
	}
	granted, _ := got.(*packets.Connack)
	if granted.ReasonCode >= 0x80 {
		return nil, fmt.Errorf("it refuses: %s (reason code 0x%02x)", granted.Reason(), granted.ReasonCode)
	}
	return granted, nil
}

// trip sends a packet and waits for the one that answers it. What comes between is looked at
// for the broker's version.
func (m *mqttInquiry) trip(p *packets.ControlPacket, answer byte) (packets.Packet, error) {
	// The library writes a packet in pieces, which are to leave as one.
	out := bufio.NewWriter(m.socket)
	if _, err := p.WriteTo(out); err != nil {
		return nil, err
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	for {
		if err := m.look(answer); err != nil {
			return nil, err
		}
		got, err := packets.ReadPacket(m.in)
		if err != nil {
			return nil, err
		}
		switch content := got.Content.(type) {
		case *packets.Publish:
			if content.Topic == mqttVersionTopic {
				m.version = string(content.Payload)
			}
		case *packets.Disconnect:
			return nil, fmt.Errorf("it ends the session: reason code 0x%02x", content.ReasonCode)
		default:
			if got.Type == answer {
				return got.Content, nil
			}
		}
	}
}

// look looks at the head of the packet that comes: at its length, before anybody makes room
// for it, and at whether it is a CONNACK of MQTT 3.1.1, which has no properties.
func (m *mqttInquiry) look(due byte) error {
	const lengths = 3 // bytes of a length, which are enough for 2 MB
	for n := 2; ; n++ {
		b, err := m.in.Peek(n)
		switch {
		case err != nil:
			return err
		case n == 2 && due == packets.CONNACK && b[0]>>4 != packets.CONNACK:
			return fmt.Errorf("what answers is no MQTT broker: CONNACK was due, there is %.20q", b)
		case n == 2 && due == packets.CONNACK && b[1] == 2:
			return errOldMQTT
		case b[n-1]&0x80 == 0:
			return nil
		case n > lengths:
			return errors.New("what comes is no MQTT: it tells of a packet of more than 2 MB")
		}
	}
}

// mqttFeatures tells what the broker grants; what it does not mention is granted whole (MQTT
// 5, section 3.2.2.3).
func mqttFeatures(p *packets.Properties) []string {
	granted := func(b *byte) bool { return b == nil || *b != 0 }
	out := []string{"MQTT 5"}
	qos := byte(2)
	if p.MaximumQOS != nil {
		qos = *p.MaximumQOS
	}
	out = append(out, fmt.Sprintf("QoS up to %d", qos))
	if p.MaximumPacketSize != nil {
		out = append(out, "maximum packet size "+kernels.FormatSize(int64(*p.MaximumPacketSize)))
	}
	if p.ReceiveMaximum != nil {
		out = append(out, fmt.Sprintf("receive maximum %d", *p.ReceiveMaximum))
	}
	for _, f := range []struct {
		name  string
		there bool
	}{
		{"retained messages", granted(p.RetainAvailable)},
		{"shared subscriptions", granted(p.SharedSubAvailable)},
	} {
		if f.there {
			out = append(out, f.name)
		} else {
			out = append(out, "no "+f.name)
		}
	}
	return out
}
