package child_test

import (
	"context"
	"io"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"benchd/kernels"
	"benchd/worker/child"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == child.Arg {
		os.Exit(child.Main(families(), os.Stdin, os.Stdout))
	}
	if os.Getenv(parentEnv) != "" {
		beParent()
		return
	}
	goleak.VerifyTestMain(m)
}

// families are what the children of these tests have: a kernel whose server tells as its
// address what it sees of its own process.
func families() []kernels.Family {
	return []kernels.Family{{Name: "test", Kernels: []kernels.Kernel{looker{}, blocker{}}}}
}

// A blocker tells how many threads of Go may run at once where its server is.
type blocker struct{ looker }

func (blocker) Info() kernels.Info {
	info := looker{}.Info()
	info.Name, info.Lanes, info.Blocks = "test.block", "clients", 16
	return info
}

func (blocker) Serve(ctx context.Context, _ kernels.Params, ready func(string)) error {
	ready(strconv.Itoa(runtime.GOMAXPROCS(0)))
	<-ctx.Done()
	return nil
}

type looker struct{}

func (looker) Info() kernels.Info {
	return kernels.Info{Name: "test.look", Title: "Nothing.", Operation: "nothing", Unit: "call/s", Noun: "call"}
}

func (looker) Open(context.Context, kernels.Params) (kernels.Trial, error) { return nil, io.EOF }

func (looker) Serve(ctx context.Context, _ kernels.Params, ready func(string)) error {
	ready(look())
	<-ctx.Done()
	return nil
}

// start starts a child that is ended with the test, and returns it with its first event.
func start(t *testing.T, job child.Job) (*child.Process, child.Event) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := child.Starter{Exe: exe}.Start(t.Context(), job, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	e, ok, err := p.Await(ctx, func(child.Event) bool { return true })
	if err != nil || !ok {
		t.Fatalf("the child told nothing: %v; %s", err, p.Stderr())
	}
	if e.Failure != nil {
		t.Fatalf("the child failed: %s: %v", e.Failure.Code, e.Failure)
	}
	return p, e
}
