package store_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// benchFolder holds the full store of the benchmarks.
var benchFolder string

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == crashChild {
		fmt.Fprintln(os.Stderr, writeUntilKilled(os.Args[2], os.Stdout))
		os.Exit(1)
	}
	var err error
	if benchFolder, err = os.MkdirTemp("", "benchd-store-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if benched != nil {
		benched.Close()
	}
	os.RemoveAll(benchFolder)
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
