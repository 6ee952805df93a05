package soap_test

import (
	"errors"
	"strings"
	"testing"

	"benchd/kernels"
	"benchd/kernels/envelope"
	"benchd/kernels/soap"
)

// TestFaultOfOtherVersion: a service that knows one version of SOAP only answers in that, and
// its fault is a fault all the same.
func TestFaultOfOtherVersion(t *testing.T) {
	t.Parallel()
	faultOf := func(v envelope.Version) string {
		codec := newCodec(t, envelope.Stream)
		codec.Use(v)
		return string(codec.AppendFault(nil, &envelope.Fault{Code: envelope.CodeVersionMismatch, String: "another version, please"}))
	}
	for _, tt := range []struct {
		name   string
		kernel kernels.Kernel
		params kernels.Params
		answer string
		class  string
		text   string
	}{
		{"1.1 to 1.2", soap.Echo{}, kernels.Params{"version": "1.2"}, reply(415, faultOf(envelope.V11)), "fault", "in SOAP 1.1: SOAP fault VersionMismatch: another version"},
		{"1.1 to 1.2, by tree", soap.Echo{}, kernels.Params{"version": "1.2", "model": "dom"}, reply(500, faultOf(envelope.V11)), "fault", "in SOAP 1.1"},
		{"1.2 to 1.1", soap.Echo{}, nil, reply(400, faultOf(envelope.V12)), "fault", "in SOAP 1.2"},
		{"an attachment, 1.1 to 1.2", soap.Attachment{}, kernels.Params{"version": "1.2"}, reply(500, faultOf(envelope.V11)), "fault", "in SOAP 1.1"},
		{"no fault of 1.1 to 1.2", soap.Echo{}, kernels.Params{"version": "1.2"}, reply(200, echoed(t)), "malformed", "namespace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := tt.kernel.Info().Defaults().With(kernels.Addr, answering(t, tt.answer))
			for name, v := range tt.params {
				p = p.With(name, v)
			}
			trial, err := tt.kernel.Open(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = trial.Close() })
			var failed *kernels.Failure
			if err := trial.Do(t.Context(), 1); !errors.As(err, &failed) {
				t.Fatalf("error %v", err)
			}
			if failed.Class != tt.class || !strings.Contains(failed.Error(), tt.text) {
				t.Errorf("%s: %v", failed.Class, failed)
			}
		})
	}
}
