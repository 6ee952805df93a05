package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// A Lock is the host's: whoever holds it measures, and nobody else does.
type Lock struct {
	file *os.File
}

// errHeld tells that another process holds the lock.
var errHeld = errors.New("the lock is held")

// lockPoll is how often a held lock is tried again.
const lockPoll = 50 * time.Millisecond

// Acquire takes the lock of the file at path, waiting until whoever holds it is gone or ctx
// ends. waiting is called once if it has to wait.
func Acquire(ctx context.Context, path string, waiting func()) (*Lock, error) {
	f, err := openLock(path)
	if err != nil {
		return nil, fmt.Errorf("open the lock file of the host: %w", err)
	}
	for first := true; ; first = false {
		err := tryLock(f)
		if err == nil {
			return &Lock{file: f}, nil
		}
		if !errors.Is(err, errHeld) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		if first && waiting != nil {
			waiting()
		}
		select {
		case <-time.After(lockPoll):
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), f.Close())
		}
	}
}

// CheckLock tells whether the file at path can serve as a lock.
func CheckLock(path string) error {
	f, err := openLock(path)
	if err != nil {
		return fmt.Errorf("open the lock file of the host: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("the lock file of the host %s is a folder; give the path of a file", path)
	}
	return errors.Join(err, f.Close())
}

// openLock opens the file, making it when it is not there. It is opened first without the
// wish to make it: in a directory that all may write, Linux refuses that wish for a file
// that another user made.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrPermission) {
		f, err = os.Open(path)
	}
	if errors.Is(err, os.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	}
	return f, err
}

// Release closes this process's hold. The lock is free once every child that inherited it is
// gone too.
func (l *Lock) Release() error { return l.file.Close() }
