package messaging

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"benchd/kernels"
)

// inquire reads INFO and the settings that decide what Redis keeps, and times PING.
func (redisLists) inquire(ctx context.Context, at place) (finding, error) {
	l, err := redisConnect(ctx, at, endless)
	if err != nil {
		return finding{}, err
	}
	defer func() { _ = l.close() }()
	f, info := finding{}, map[string]string(nil)
	err = l.within(ctx, func(ctx context.Context) error {
		var err error
		f.RoundTrip, err = kernels.Repeat(ctx, func(ctx context.Context) error { return l.conn.Ping(ctx).Err() })
		if err == nil {
			info = redisInfo(l.conn.Info(ctx).Val())
		}
		return err
	})
	if err != nil {
		return finding{}, fmt.Errorf("ping the Redis at %s: %w", at.url.Host, l.judge(ctx, err))
	}
	f.Product, f.Version = redisProduct(info)
	f.Supports = append([]string{"lists"}, redisFeatures(info, l.facts)...)
	kept := l.facts["appendonly"] == "yes"
	f.way = kernels.Params{
		"persistent": strconv.FormatBool(kept),
		"sync":       strconv.FormatBool(kept && l.facts["appendfsync"] == "always"),
	}
	return f, nil
}

// redisInfo reads what INFO answers: lines of a name, a colon and a value.
func redisInfo(text string) map[string]string {
	info := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && !strings.HasPrefix(name, "#") {
			info[name] = value
		}
	}
	return info
}

// redisProduct tells who speaks Redis: its heirs say so beside a version that is there for
// clients of old.
func redisProduct(info map[string]string) (product, version string) {
	switch {
	case info["valkey_version"] != "":
		return "Valkey", info["valkey_version"]
	case info["dragonfly_version"] != "":
		return "Dragonfly", info["dragonfly_version"]
	default:
		return "Redis", info["redis_version"]
	}
}

// redisFeatures tells of streams, which came with version 5, and of what is kept and thrown
// away.
func redisFeatures(info, facts map[string]string) []string {
	var out []string
	major, _, _ := strings.Cut(info["redis_version"], ".")
	if n, err := strconv.Atoi(major); err == nil && n >= 5 {
		out = append(out, "streams")
	}
	switch facts["appendonly"] {
	case "yes":
		out = append(out, "AOF on", "appendfsync "+facts["appendfsync"])
	case "no":
		out = append(out, "AOF off")
	default:
		out = append(out, "does not tell whether it keeps messages")
	}
	if policy := info["maxmemory_policy"]; policy != "" {
		out = append(out, "maxmemory-policy "+policy)
	}
	if mode := info["redis_mode"]; mode != "" && mode != "standalone" {
		out = append(out, mode)
	}
	return out
}
