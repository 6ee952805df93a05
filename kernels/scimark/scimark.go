// Package scimark holds the five numeric kernels of SciMark 2.0, the benchmark of the NIST:
// a fast Fourier transform, successive over-relaxation, Monte Carlo integration, a sparse
// matrix product and an LU factorisation.
//
// The algorithms, sizes, seeds and counts of operations are those of the original
// (R. Pozo, B. Miller, https://math.nist.gov/scimark2), so that figures can be set beside
// its C and Java versions. Two things differ, neither of which changes the speed: each
// kernel draws its data from a fresh generator, where the original hands one generator from
// kernel to kernel, and the measuring belongs to the harness.
//
// The inner loops are written so that the compiler needs no bounds checks and nothing is
// allocated in them. Their arithmetic is the original's, operation by operation, which
// gives the original's results to the last bit wherever the processor does not fuse a
// multiplication and an addition into one.
package scimark

import (
	"context"
	"fmt"
	"math"

	"benchd/kernels"
)

// seed starts the generator of every kernel's data, except the samples of Monte Carlo.
const seed = 101010

// The words of the parameter size.
const (
	small = "small"
	large = "large"
)

// Family returns the five kernels in the order of the original.
func Family() kernels.Family {
	return kernels.Family{
		Name:    "scimark",
		Title:   "Numeric kernels of SciMark 2.0: how fast the processor computes, in and out of its caches.",
		Kernels: []kernels.Kernel{fft(), sor(), monteCarlo(), sparse(), lu()},
	}
}

// kernel is one of the five. The texts go into its Info; open makes a trial with the data
// of the small or the large size.
type kernel struct {
	name      string
	title     string
	operation string
	noun      string
	sizes     string // what the two sizes are, for the manual
	open      func(large bool) kernels.Trial
}

// Info describes the kernel. The five differ in their texts only.
func (k kernel) Info() kernels.Info {
	return kernels.Info{
		Name: k.name, Title: k.title, Operation: k.operation,
		Unit: "Mflop/s", Noun: k.noun, Batched: true,
		Lanes: "threads", Composite: "scimark",
		Params: []kernels.Param{
			{Name: "size", Doc: k.sizes, Kind: kernels.Word, Default: small, Values: []string{small, large}},
			{
				Name: "threads", Doc: "How many threads compute at once, each on data of its own.",
				Kind: kernels.Int, Default: "1", Min: 1, Max: 1024,
			},
		},
	}
}

// Open makes the data of a trial. It fails only for a size that the kernel does not have or
// a context that has ended.
func (k kernel) Open(ctx context.Context, p kernels.Params) (kernels.Trial, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open %s: %w", k.name, err)
	}
	size := p.Word("size")
	if size != small && size != large {
		return nil, fmt.Errorf("open %s: there is no size %q, only %s and %s", k.name, size, small, large)
	}
	return k.open(size == large), nil
}

// A problem is the data of one trial and the work on it.
type problem interface {
	// cycle performs one operation.
	cycle(ctx context.Context) error
	kernels.Checker
	kernels.Counter
}

// trial makes a problem a kernels.Trial whose operation is one cycle.
type trial struct{ problem }

// Do performs n cycles. It looks at the context before each one, and lu in the midst of one.
func (t trial) Do(ctx context.Context, n int) error {
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.cycle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close has nothing to give back but memory.
func (t trial) Close() error { return nil }

// pick returns the small or the large value.
func pick(isLarge bool, small, large int) int {
	if isLarge {
		return large
	}
	return small
}

// tolerance is the relative difference to the check values that is allowed: they were
// computed without fused multiplications, which some processors use.
const tolerance = 1e-9

// compare returns an error if got is further from want than the tolerance, or no number.
func compare(what string, got, want float64) error {
	if math.Abs(got-want) <= tolerance*math.Abs(want) {
		return nil
	}
	return fmt.Errorf("the %s is %.17g where %.17g is right", what, got, want)
}
