package worker_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"benchd/kernels"
	"benchd/worker/bench"
)

// A loudmouth cannot be opened, and says all that the errors of packages say of where it was to go.
type loudmouth struct{}

func (loudmouth) Info() kernels.Info {
	return kernels.Info{
		Name: "odd.tells", Title: "Errors of others.", Operation: "one", Unit: "call/s", Noun: "call",
		Params: []kernels.Param{{Name: "server", Kind: kernels.Service, Default: kernels.Embedded, Schemes: []string{"says"}}},
	}
}

func (loudmouth) Open(_ context.Context, p kernels.Params) (kernels.Trial, error) {
	u, err := url.Parse(p[kernels.Addr])
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, t := range told(u.Hostname()) {
		lines = append(lines, t.said)
	}
	return nil, errors.New(strings.Join(lines, "\n"))
}

// A telling is what an error says, and what a report may say of it where the service is called
// mine.
type telling struct{ said, want string }

// told are the tellings of a service at a host.
func told(host string) []telling {
	return map[string][]telling{
		"10.20.30.40": {
			{"", ""},
			{"dial tcp 10.20.30.40:77: connect: connection refused", "dial tcp mine: connect: connection refused"},
			{"read tcp 10.20.30.41:5000->10.20.30.40:77: read: connection reset by peer", "read tcp mine: read: connection reset by peer"},
			{"dial tcp: lookup db.inner.example on 10.0.0.2:53: no such host", "dial tcp: lookup mine: no such host"},
			{"lookup db.inner.example on 10.0.0.2:53: read udp 10.20.30.41:5001->10.0.0.2:53: i/o timeout", "lookup mine: read udp mine: i/o timeout"},
			{"lookup db.inner.example: i/o timeout", "lookup mine: i/o timeout"},
			{`Post "http://bob:***@10.20.30.40:77/x/echo": EOF`, `Post "…": EOF`},
			{"10.20.30.40 went away, 110.20.30.40 and 10.20.30.401 did not", "mine went away, 110.20.30.40 and 10.20.30.401 did not"},
			{"the broker 10.20.30.40:77 is gone", "the broker mine is gone"},
			{"x509: certificate is valid for db.inner.example, 10.20.30.43, not 10.20.30.40", "x509: certificate is valid for others, not mine"},
			{"x509: cannot validate certificate for 10.20.30.40 because it doesn't contain any IP SANs", "x509: cannot validate certificate for mine because it doesn't contain any IP SANs"},
			{`unknown authority (possibly while trying to verify candidate authority certificate "Inner CA")`, "unknown authority (possibly while trying to verify candidate authority certificate …)"},
			{"says://bob:s3cret%2Fword@10.20.30.40:77/x and bob:s3cret/word@", "… and "},
			{"http://schemas.example/soap says no", "http://schemas.example/soap says no"},
		},
		"DB.inner.example": {
			{"", ""},
			{"lookup db.inner.example: no such host", "lookup mine: no such host"},
			{"x509: certificate is not valid for any names, but wanted to match DB.inner.example", "x509: certificate is not valid for any names, but wanted to match mine"},
			{"dial db.inner.example:77, DB.INNER.EXAMPLE.", "dial mine, mine."},
			{"Get https://db.inner.example?q=1 failed", "Get … failed"},
		},
		"broker": {
			{"", ""},
			{"dial tcp 10.20.30.40:77: i/o timeout", "dial tcp mine: i/o timeout"},
			{"lookup broker on [fd00::1]:53: server misbehaving", "lookup mine: server misbehaving"},
			{"the broker at broker:77 said no", "the broker at mine said no"},
			{"amqp://broker/vhost: the broker said no", "… the broker said no"},
		},
		"fd00::5": {
			{"", ""},
			{"read tcp [fd00::6]:5000->[fd00::5]:77: read: connection reset by peer", "read tcp mine: read: connection reset by peer"},
			{"at [fd00::5]:77, as fd00::5", "at mine, as mine"},
			{"Get http://[fd00::5]:77/x failed", "Get … failed"},
		},
	}[host]
}

// TestHostsAreHidden: what an error says of where a service is stays with the worker, and what
// was wrong is told.
func TestHostsAreHidden(t *testing.T) {
	for _, host := range []string{"10.20.30.40", "DB.inner.example", "broker", "fd00::5"} {
		t.Run(host, func(t *testing.T) {
			b := newBed(t)
			at := host
			if strings.Contains(host, ":") {
				at = "[" + host + "]"
			}
			b.services = map[string]string{"mine": strings.Replace(address(at+":77"), "tcp:", "says:", 1)}
			b.collect()
			b.work("blue", t.TempDir())
			b.at("t1", "odd.tells", "mine", nil)
			report := b.next(bench.Finished)
			silent(t, report)
			got := strings.Split(report.Result.Error.Message, "\n")
			for i, tt := range told(host) {
				if i > 0 && (i >= len(got) || got[i] != tt.want) {
					t.Errorf("%s\nis %q\nwant %q", tt.said, got[min(i, len(got)-1)], tt.want)
				}
			}
		})
	}
}
