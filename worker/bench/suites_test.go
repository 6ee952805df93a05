package bench_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	kernelcatalog "benchd/kernels/catalog"
	"benchd/worker/bench"
)

// there are the services of a host.
func there() map[string]string {
	return map[string]string{"gsoap": "http", "rabbit": "amqp", "rabbit10": "amqp10", "activemq": "stomp", "cache": "redis", "otp": "erlang"}
}

// expand gives the trials of a suite on a host with services beside the embedded ones.
func expand(t *testing.T, body string) (bench.Spec, []bench.Case) {
	t.Helper()
	spec, present, err := bench.ParseSpec([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	spec, cases, err := bench.NewCatalog(kernelcatalog.Families()).Resolve(spec, present, bench.DefaultLimits(2), there())
	if err != nil {
		t.Fatal(err)
	}
	return spec, cases
}

// rule is a case with what its plan makes of it: the messages of each lane in a fork, or the
// time of a step.
func rule(spec bench.Spec, c bench.Case) string {
	p := spec.PlanOf(c)
	each := fmt.Sprintf("%d x %d calls", p.Slices, p.Operations)
	if p.Operations == 0 {
		each = fmt.Sprintf("%d x %s", p.Slices, p.Slice)
	}
	if p.Ramp > 0 {
		each += fmt.Sprintf(" for each %d more", p.Ramp)
	}
	words := []string{c.Kernel}
	for _, name := range []string{"broker", "persistent", "sync", "content", "payload", "encoding", "size", "model", "keepalive", "server", "clients"} {
		if v, ok := c.Params[name]; ok {
			words = append(words, v)
		}
	}
	return fmt.Sprintf("%s: %d forks of %s, warm-up %s, %s", strings.Join(words, " "), p.Forks, each, p.Warmup, p.Interval)
}

// TestArticleSuites says the articles' own numbers. The batches of 200 calls, the 8 runs, the
// 20 trials of 100 messages, the lanes with their 5,000 or 500 or 100 messages, the minute between
// clients and the iterations of 10 s are theirs.
func TestArticleSuites(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		suite string
		want  []string
	}{
		{"soap-2004", []string{
			"soap.echo beans 2.2KB stream false embedded 1: 1 forks of 600 x 200 calls, warm-up auto, bootstrap",
			"soap.echo beans 2.2KB stream false gsoap 1: 1 forks of 600 x 200 calls, warm-up auto, bootstrap",
			"soap.echo beans 2.2KB dom false embedded 1: 1 forks of 600 x 200 calls, warm-up auto, bootstrap",
			"soap.echo beans 2.2KB dom false gsoap 1: 1 forks of 600 x 200 calls, warm-up auto, bootstrap",
		}},
		{"soaprunner", []string{
			"soap.echo text 1KB stream false embedded 1: 8 forks of 1 x 5000 calls, warm-up 0s, pooled_t",
			"soap.echo text 1KB stream false gsoap 1: 8 forks of 1 x 5000 calls, warm-up 0s, pooled_t",
			"soap.echo text 1KB dom false embedded 1: 8 forks of 1 x 5000 calls, warm-up 0s, pooled_t",
			"soap.echo text 1KB dom false gsoap 1: 8 forks of 1 x 5000 calls, warm-up 0s, pooled_t",
		}},
		{"soaprunner-attachments", []string{
			"soap.attachment swa 10KB embedded 1: 1 forks of 20 x 100 calls, warm-up 0s, pooled_t",
			"soap.attachment swa 100KB embedded 1: 1 forks of 20 x 100 calls, warm-up 0s, pooled_t",
			"soap.attachment mtom 10KB embedded 1: 1 forks of 20 x 100 calls, warm-up 0s, pooled_t",
			"soap.attachment mtom 100KB embedded 1: 1 forks of 20 x 100 calls, warm-up 0s, pooled_t",
		}},
		{"cxf-http", []string{
			"soap.echo document 1KB dom true embedded 60: 1 forks of 50 x 100 calls, warm-up auto, bootstrap",
			"soap.echo document 1KB dom true embedded 1: 1 forks of 50 x 100 calls, warm-up auto, bootstrap",
			"soap.echo document 1KB stream true embedded 60: 1 forks of 50 x 100 calls, warm-up auto, bootstrap",
			"soap.echo document 1KB stream true embedded 1: 1 forks of 50 x 100 calls, warm-up auto, bootstrap",
			"soap.echo document 10KB dom true embedded 40: 1 forks of 50 x 100 calls, warm-up auto, bootstrap",
			"soap.echo document 10KB dom true embedded 1: 1 forks of 50 x 100 calls, warm-up auto, bootstrap",
			"soap.echo document 1MB dom true embedded 10: 1 forks of 50 x 10 calls, warm-up auto, bootstrap",
			"soap.echo document 1MB dom true embedded 1: 1 forks of 50 x 10 calls, warm-up auto, bootstrap",
		}},
		{"cxf-max-load", []string{
			"soap.echo document 1KB dom true embedded 4: 1 forks of 60 x 1s for each 1 more, warm-up 0s, bootstrap",
		}},
		{"encon", []string{
			"messaging.echo embedded 1: 1 forks of 20 x 10s, warm-up 1m40s, pooled_t",
			"messaging.echo embedded 2: 1 forks of 20 x 10s, warm-up 1m40s, pooled_t",
			"messaging.echo embedded 4: 1 forks of 20 x 10s, warm-up 1m40s, pooled_t",
			"messaging.echo embedded 8: 1 forks of 20 x 10s, warm-up 1m40s, pooled_t",
			"messaging.echo otp 1: 1 forks of 20 x 10s, warm-up 1m40s, pooled_t",
			"messaging.echo otp 2: 1 forks of 20 x 10s, warm-up 1m40s, pooled_t",
			"messaging.echo otp 4: 1 forks of 20 x 10s, warm-up 1m40s, pooled_t",
			"messaging.echo otp 8: 1 forks of 20 x 10s, warm-up 1m40s, pooled_t",
			"messaging.mailbox 16B: 1 forks of 20 x 10s, warm-up 1m40s, pooled_t",
		}},
		{"cxf-jms", slices.Concat(overJMS("1KB", 50, 100), overJMS("10KB", 50, 100), overJMS("1MB", 10, 2))},
	} {
		t.Run(tt.suite, func(t *testing.T) {
			t.Parallel()
			spec, cases := expand(t, `{"suite":"`+tt.suite+`"}`)
			var got []string
			for _, c := range cases {
				got = append(got, rule(spec, c))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// overJMS are the cases of cxf-jms at one size of messages: no embedded broker of ours keeps
// any, and AMQP 1.0 has none.
func overJMS(size string, clients, operations int) (list []string) {
	for _, c := range []string{
		"tcp false false raw %s stream embedded", "stomp true true document %s dom activemq", "amqp10 true true document %s dom rabbit10",
		"stomp false false document %s dom embedded", "stomp false false document %s dom activemq", "amqp10 false false document %s dom rabbit10",
		"stomp true false document %s dom activemq", "amqp10 true false document %s dom rabbit10",
	} {
		list = append(list, fmt.Sprintf("messaging.roundtrip "+c+" %d: 1 forks of 50 x %d calls, warm-up auto, bootstrap", size, clients, operations))
	}
	return list
}

// TestBrokers: every broker of the kernel is asked for, at every server of its own that there
// is, kept and not, as far as it can be.
func TestBrokers(t *testing.T) {
	t.Parallel()
	_, cases := expand(t, `{"suite":"brokers"}`)
	var got []string
	for _, c := range cases {
		if c.Params["clients"] == "1" {
			got = append(got, fmt.Sprintf("%s at %s, kept %s, qos %s", c.Params["broker"], c.Params["server"], c.Params["persistent"], c.Params["qos"]))
		}
	}
	for _, want := range []string{
		"tcp at embedded, kept false, qos 0", "nats at embedded, kept false, qos 0", "nats at embedded, kept true, qos 0",
		"redis at cache, kept false, qos 0", "redis at cache, kept true, qos 0", "redis-streams at cache, kept true, qos 0",
		"stomp at embedded, kept false, qos 0", "stomp at activemq, kept true, qos 0", "erlang at embedded, kept false, qos 0", "erlang at otp, kept false, qos 0",
		"amqp091 at rabbit, kept true, qos 0", "amqp10 at rabbit10, kept true, qos 0", "mqtt at embedded, kept false, qos 0",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, c := range got {
		if strings.HasPrefix(c, "redis at embedded") || strings.HasPrefix(c, "stomp at embedded, kept true") || strings.HasPrefix(c, "mqtt at embedded, kept true") {
			t.Errorf("%s, which there is not", c)
		}
	}
	suite, _ := bench.SuiteNamed("brokers")
	info, _ := bench.NewCatalog(kernelcatalog.Families()).Info("messaging.roundtrip")
	all, _ := info.Param("broker")
	for _, name := range all.Values {
		if !slices.ContainsFunc(suite.Cases, func(cs bench.CaseSpec) bool { return slices.Contains(cs.Params["broker"], name) }) {
			t.Errorf("the suite does not ask for the broker %s", name)
		}
	}
}

// TestSuitesShortened: whoever gives a suite another number of operations has it in all of its
// cases, and whoever gives it a time for a slice has slices of that time.
func TestSuitesShortened(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, plan string
		operations []int // that occur in cxf-http
	}{
		{"as the article has it", `{}`, []int{10, 100}},
		{"fewer slices", `{"slices":30}`, []int{10, 100}},
		{"other operations", `{"operations":7}`, []int{7}},
		{"slices of a time", `{"operations":0,"slice":"50ms"}`, []int{0}},
		{"slices of a time, as a person says it", `{"slice":"50ms"}`, []int{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spec, cases := expand(t, `{"suite":"cxf-http","plan":`+tt.plan+`}`)
			var got []int
			for _, c := range cases {
				got = append(got, spec.PlanOf(c).Operations)
			}
			slices.Sort(got)
			if d := cmp.Diff(tt.operations, slices.Compact(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestEverySuite: each case of a suite has the operations of its own entry and is one of the
// suite's, all of it fits a host as it comes, and quick and full are as short as they say.
func TestEverySuite(t *testing.T) {
	t.Parallel()
	most := map[string]time.Duration{"quick": 90 * time.Second, "full": 25 * time.Minute}
	for _, s := range bench.Suites() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if !strings.HasSuffix(s.Title, ".") {
				t.Errorf("the title is no sentence: %q", s.Title)
			}
			spec, cases := expand(t, `{"suite":"`+s.Name+`"}`)
			var whole time.Duration
			for _, c := range cases {
				if !s.Has(c) {
					t.Errorf("%s is not one of the suite's", c.Key())
				}
				whole += spec.PlanOf(c).TrialTime()
			}
			if limit := most[s.Name]; limit > 0 && whole > limit {
				t.Errorf("takes %s, over %s", whole, limit)
			}
			own(t, s, spec)
			if found, ok := bench.SuiteNamed(s.Name); !ok || found.Name != s.Name {
				t.Errorf("is not found by its name")
			}
		})
	}
	if _, ok := bench.SuiteNamed("quik"); ok {
		t.Error("there is a suite quik")
	}
}

// own checks that no entry of a suite takes the case of another: each entry alone makes cases
// of the operations that it asks for.
func own(t *testing.T, s bench.Suite, spec bench.Spec) {
	t.Helper()
	for _, entry := range s.Cases {
		want := s.Plan.Operations
		if entry.Operations != nil {
			want = *entry.Operations
		}
		alone := bench.Spec{Cases: []bench.CaseSpec{entry}}
		_, cases, err := bench.NewCatalog(kernelcatalog.Families()).Resolve(alone, bench.Present{}, bench.DefaultLimits(2), there())
		if e := bench.AsError(err); e != nil && e.Code == "no_services" {
			continue // the host has none of what it asks for
		} else if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if got := spec.PlanOf(c).Operations; got != want {
				t.Errorf("%s has %d operations, not the %d of its entry", c.Key(), got, want)
			}
		}
	}
}
