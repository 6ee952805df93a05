package soap_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchd/kernels"
	"benchd/kernels/soap"
)

// describe gives what a trial tells of its service.
func describe(t *testing.T, trial kernels.Trial) map[string]string {
	t.Helper()
	d, ok := trial.(interface{ Describe() map[string]string })
	if !ok {
		t.Fatal("the trial tells nothing of its service")
	}
	return d.Describe()
}

// TestDescribe: calls that were made again are told, since nothing else in a result shows them.
func TestDescribe(t *testing.T) {
	t.Parallel()
	good := strings.Replace(reply(200, echoed(t)), "\r\n", "\r\nServer: gSOAP/2.8 \x01\r\n", 1)
	trial := scripted(t, strings.Replace(good, "\x01", "", 1)) // one call for each connection, and nobody says so
	if err := trial.Do(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"transport": "plain", "server": "gSOAP/2.8", "repeated_calls_of_lane_1": "2"}
	if diff := cmp.Diff(want, describe(t, trial)); diff != "" {
		t.Errorf("what is told (-want +got):\n%s", diff)
	}
}

// TestDescribeTLS: what carried the calls is told for both kernels, of a service of our own.
func TestDescribeTLS(t *testing.T) {
	t.Parallel()
	for _, k := range []interface {
		kernels.Kernel
		kernels.Server
	}{soap.Echo{}, soap.Attachment{}} {
		for value, transport := range map[string]string{"false": "plain", "true": "TLS 1.3, TLS_"} {
			t.Run(k.Info().Name+" tls="+value, func(t *testing.T) {
				t.Parallel()
				p := k.Info().Defaults().With("tls", value)
				trial, err := k.Open(t.Context(), start(t, k, p))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = trial.Close() })
				if err := trial.Do(t.Context(), 2); err != nil {
					t.Fatal(err)
				}
				got := describe(t, trial)
				if !strings.HasPrefix(got["transport"], transport) || got["repeated_calls_of_lane_1"] != "0" {
					t.Errorf("it tells %v, want the transport %s", got, transport)
				}
			})
		}
	}
}
