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

func (c codec) close() { c.decoder.Close() }

func (c codec) pack(m measurement) ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write result: %w", err)
	}
	return c.encoder.EncodeAll(text, nil), nil
}

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
