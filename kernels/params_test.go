package kernels_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"benchd/kernels"
)

func TestParseSize(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want int64
		back string
	}{
		{"0", 0, "0B"},
		{"512", 512, "512B"},
		{"16B", 16, "16B"},
		{"1KB", 1024, "1KB"},
		{"1024", 1024, "1KB"},
		{"2.2KB", 2253, "2.2KB"},
		{"12795", 12795, "12795B"},
		{"10KB", 10240, "10KB"},
		{"1MB", 1 << 20, "1MB"},
		{"1.5GB", 3 << 29, "1.5GB"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			n, err := kernels.ParseSize(tt.text)
			if err != nil || n != tt.want {
				t.Fatalf("%d, %v; want %d", n, err, tt.want)
			}
			if s := kernels.FormatSize(n); s != tt.back {
				t.Errorf("written as %s, want %s", s, tt.back)
			}
		})
	}
	for _, bad := range []string{"", "KB", "-1", "1e3", "0x10", "1 KB", "1kb", "NaN", "+Inf", "99999999999GB", "1_000"} {
		if n, err := kernels.ParseSize(bad); err == nil {
			t.Errorf("%q was read as %d", bad, n)
		}
	}
}

func TestSizeRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<40).Draw(t, "bytes")
		back, err := kernels.ParseSize(kernels.FormatSize(n))
		if err != nil || back != n {
			t.Fatalf("%d was written as %s and read as %d, %v", n, kernels.FormatSize(n), back, err)
		}
	})
}

func TestParamsJSON(t *testing.T) {
	t.Parallel()
	p := kernels.Params{"model": "stream", "clients": "4", "keepalive": "true", "size": "2.2KB", "version": "1.1", "zero": "007"}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b), `{"clients":4,"keepalive":true,"model":"stream","size":"2.2KB","version":"1.1","zero":"007"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var back kernels.Params
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p, back); d != "" {
		t.Error(d)
	}
	if p.Int("clients") != 4 || p.Bytes("size") != 2253 || !p.Bool("keepalive") || p.Word("model") != "stream" || p.Int("model") != 0 {
		t.Errorf("%d %d %v %s", p.Int("clients"), p.Bytes("size"), p.Bool("keepalive"), p.Word("model"))
	}
}

func TestParamsString(t *testing.T) {
	t.Parallel()
	p := kernels.Params{"b": "2", "a": "1"}
	q := p.With(kernels.Addr, "127.0.0.1:1")
	if q.String() != "a=1 b=2" {
		t.Errorf("%q shows the harness's own parameters", q)
	}
	if _, there := p[kernels.Addr]; there {
		t.Error("With changed its receiver")
	}
}
