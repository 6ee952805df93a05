package messaging_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"benchd/kernels"
	"benchd/kernels/messaging"
)

// TestLeftoversOfRedis: the keys of a trial that was killed two days ago go when another one
// begins; those of a younger one, and those that are not ours, stay.
func TestLeftoversOfRedis(t *testing.T) {
	t.Parallel()
	addr, _ := bareRedis(t)
	o, err := redis.ParseURL(addr)
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	for name, age := range map[string]time.Duration{"benchd-old": 49 * time.Hour, "benchd-young": 47 * time.Hour} {
		begun := time.Now().Add(-age).Unix()
		for _, err := range []error{
			c.RPush(t.Context(), name, "a request").Err(), c.RPush(t.Context(), name+"-reply", "a reply").Err(),
			c.SAdd(t.Context(), name+"-keys", name+"-reply").Err(), c.Do(t.Context(), "ZADD", "benchd-trials", strconv.FormatInt(begun, 10), name).Err(),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Set(t.Context(), "benchd-notes", "another's", 0).Err(); err != nil {
		t.Fatal(err)
	}

	_, stop := serve(t, kernels.Params{"broker": "redis", "server": "cache", kernels.Addr: addr})
	stop()
	keys, err := c.Keys(t.Context(), "*").Result()
	slices.Sort(keys)
	want := []string{"benchd-notes", "benchd-trials", "benchd-young", "benchd-young-keys", "benchd-young-reply"}
	if err != nil || !slices.Equal(keys, want) {
		t.Errorf("there are %q, %v; want %q", keys, err, want)
	}
}

// TestLeftoversOfNATS: a stream of a trial is nobody's after two days, and not before.
func TestLeftoversOfNATS(t *testing.T) {
	t.Parallel()
	p := kernels.Params{"broker": "nats", "persistent": "true"}
	addr, _ := serve(t, p)
	for _, row := range []struct {
		later time.Duration
		there bool
	}{{47 * time.Hour, true}, {49 * time.Hour, false}} {
		if err := messaging.SweepStreams(t.Context(), addr, row.later); err != nil {
			t.Fatal(err)
		}
		left, err := messaging.Left(t.Context(), addr, p)
		if err != nil || (left != "") != row.there {
			t.Errorf("after %s there is %q, %v", row.later, left, err)
		}
	}
}
