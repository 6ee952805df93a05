package messaging_test

import (
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2" //nolint:depguard // a stand-in for the broker that is tested
)

// bareRedis runs a Redis in this process until the test ends or down is called.
func bareRedis(tb testing.TB) (addr string, down func()) {
	tb.Helper()
	r := miniredis.NewMiniRedis()
	if err := r.Start(); err != nil {
		tb.Fatal(err)
	}
	down = sync.OnceFunc(r.Close)
	tb.Cleanup(down)
	return "redis://" + r.Addr(), down
}
