package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Epoch names the life of this Redis' data. It stays the same until Redis is emptied or
// replaced; fresh says that this call had to make a new one. EpochTime reads from it when
// that was.
func (q *Queue) Epoch(ctx context.Context) (epoch string, fresh bool, err error) {
	epoch, err = q.rdb.Get(ctx, epochKey).Result()
	if err == nil {
		return epoch, false, nil
	}
	if !errors.Is(err, redis.Nil) {
		return "", false, fmt.Errorf("read the epoch: %w", err)
	}
	now, err := q.Now(ctx)
	if err != nil {
		return "", false, fmt.Errorf("make an epoch: %w", err)
	}
	made := fmt.Sprintf("%d-%s", now.UnixMilli(), rand.Text())
	if err := q.rdb.SetNX(ctx, epochKey, made, 0).Err(); err != nil {
		return "", false, fmt.Errorf("make an epoch: %w", err)
	}
	// Read it again: another replica may have been faster.
	epoch, err = q.rdb.Get(ctx, epochKey).Result()
	if err != nil {
		return "", false, fmt.Errorf("read the epoch: %w", err)
	}
	return epoch, epoch == made, nil
}

// EpochTime is when an epoch began, by the clock of Redis; the zero time for a text that is
// no epoch. A trial that started before it started in a Redis that is no more.
func EpochTime(epoch string) time.Time {
	ms, _, ok := strings.Cut(epoch, "-")
	n, err := strconv.ParseInt(ms, 10, 64)
	if !ok || err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}
