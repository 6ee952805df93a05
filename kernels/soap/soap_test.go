package soap_test

import (
	"testing"

	"go.uber.org/goleak"

	"benchd/kernels"
	"benchd/kernels/kerneltest"
	"benchd/kernels/soap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Several lanes are a case of their own: a single one waits otherwise.
func TestEcho(t *testing.T) {
	for _, k := range soap.Family().Kernels {
		t.Run(k.Info().Name, func(t *testing.T) { kerneltest.Run(t, k, kerneltest.Also(kernels.Params{"clients": "3"})) })
	}
}
