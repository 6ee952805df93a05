package queue

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// asynqLog passes asynq's log on. asynq tells every start and stop as Info, which is of no
// use to an operator, and calls Redis being away an Error, which passes by itself.
type asynqLog struct{ logger *slog.Logger }

var _ asynq.Logger = asynqLog{}

func (l asynqLog) log(level slog.Level, args []any) {
	l.logger.Log(context.Background(), level, "asynq: "+fmt.Sprint(args...))
}

// Debug passes a detail on.
func (l asynqLog) Debug(args ...any) { l.log(slog.LevelDebug, args) }

// Info passes a start or a stop on.
func (l asynqLog) Info(args ...any) { l.log(slog.LevelDebug, args) }

// Warn passes an unusual event on.
func (l asynqLog) Warn(args ...any) { l.log(slog.LevelWarn, args) }

// Error passes a failure on.
func (l asynqLog) Error(args ...any) { l.log(slog.LevelWarn, args) }

// Fatal passes a failure on, and does not end the process as asynq's own logger does.
func (l asynqLog) Fatal(args ...any) { l.log(slog.LevelError, args) }

// RouteDriverLog sends what go-redis has to tell, such as each failed dial, to logger at
// debug level; without it go-redis writes to standard error. The setting is go-redis' own and
// holds for the whole process: call it once at the start, before Open.
func RouteDriverLog(logger *slog.Logger) { redis.SetLogger(driverLog{logger}) }

type driverLog struct{ logger *slog.Logger }

// Printf is what go-redis calls.
func (l driverLog) Printf(ctx context.Context, format string, args ...any) {
	if l.logger.Enabled(ctx, slog.LevelDebug) {
		l.logger.DebugContext(ctx, fmt.Sprintf(format, args...))
	}
}
