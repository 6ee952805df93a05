package queue

import (
	"bufio"
	"context"
	"fmt"
	"strconv"
	"strings"

	"benchd/worker/bench"
)

// The oldest Redis that has every command used, by asynq and here.
const (
	minMajor = 6
	minMinor = 2
)

// check asks Redis what it is. It reads INFO rather than CONFIG, which hosted services often
// forbid.
func (q *Queue) check(ctx context.Context, embedded bool) error {
	if err := q.rdb.Ping(ctx).Err(); err != nil {
		return bench.Errorf(bench.Unavailable, "redis_away", "Redis at %s cannot be reached: %v; start it, or name another one", q.addr, err)
	}
	if embedded {
		return nil
	}
	info, err := q.rdb.Info(ctx).Result()
	if err != nil {
		return bench.Errorf(bench.Unavailable, "redis_info", "Redis at %s does not answer INFO, which tells its version: %v", q.addr, err)
	}
	return checkInfo(q.addr, info)
}

// checkInfo judges the text of INFO: lines "name:value" under "# Section" headings.
func checkInfo(addr, info string) error {
	fields := make(map[string]string)
	lines := bufio.NewScanner(strings.NewReader(info))
	for lines.Scan() {
		if name, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), ":"); ok {
			fields[name] = value
		}
	}
	version := fields["redis_version"]
	major, minor, err := parseVersion(version)
	if err != nil {
		return bench.Errorf(bench.Unavailable, "redis_version", "the server at %s does not tell its Redis version (%v); Redis %d.%d or newer is needed", addr, err, minMajor, minMinor)
	}
	if major < minMajor || major == minMajor && minor < minMinor {
		return bench.Errorf(bench.Unavailable, "redis_version", "Redis at %s is version %s; %d.%d or newer is needed", addr, version, minMajor, minMinor)
	}
	// An evicted task would stay active for ever, an evicted cancellation would be forgotten.
	if p := fields["maxmemory_policy"]; p != "noeviction" {
		return bench.Errorf(bench.Unavailable, "redis_evicts", "Redis at %s may evict keys (maxmemory-policy is %q) and would lose orders and results; set it to noeviction: redis-cli config set maxmemory-policy noeviction", addr, p)
	}
	return nil
}

func parseVersion(v string) (major, minor int, err error) {
	a, rest, _ := strings.Cut(v, ".")
	b, _, _ := strings.Cut(rest, ".")
	if major, err = strconv.Atoi(a); err != nil {
		return 0, 0, fmt.Errorf("version %q", v)
	}
	if minor, err = strconv.Atoi(b); err != nil {
		return 0, 0, fmt.Errorf("version %q", v)
	}
	return major, minor, nil
}
