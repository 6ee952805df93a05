package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Epoch names the life of this Redis' data. It stays the same until Redis is emptied or
// replaced; fresh says that this call had to make a new one.
func (q *Queue) Epoch(ctx context.Context) (epoch string, fresh bool, err error) {
	epoch, err = q.rdb.Get(ctx, epochKey).Result()
	if err == nil {
		return epoch, false, nil
	}
	if !errors.Is(err, redis.Nil) {
		return "", false, fmt.Errorf("read the epoch: %w", err)
	}
	made := rand.Text()
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
