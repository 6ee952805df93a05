package bench

import (
	"slices"
	"time"
)

// A Suite is a named list of cases with a plan of its own.
type Suite struct {
	Name  string     `json:"name" example:"quick"`
	Title string     `json:"title"` // one sentence
	Plan  Plan       `json:"plan"`  // for the fields of the plan that a request leaves out
	Cases []CaseSpec `json:"cases"`
}

// Suites returns the suites in order.
func Suites() []Suite {
	return []Suite{quick(), full(), soap2004(), soapRunner(), soapRunnerAttachments(), cxfHTTP(), cxfMaxLoad(), encon(), cxfJMS(), brokers()}
}

// SuiteNamed gives the suite of a name.
func SuiteNamed(name string) (Suite, bool) {
	for _, s := range Suites() {
		if s.Name == name {
			return s, true
		}
	}
	return Suite{}, false
}

// Has tells whether a case is one of the suite's.
func (s Suite) Has(c Case) bool {
	return slices.ContainsFunc(s.Cases, func(cs CaseSpec) bool { return cs.makes(c) })
}

// quick is a look at everything in a little over a minute.
func quick() Suite {
	return Suite{
		Name:  "quick",
		Title: "Every family once, small, in about a minute.",
		Plan: Plan{
			Forks: 1, Warmup: WarmupAuto, Slices: 30, Slice: Duration(150 * time.Millisecond),
			Confidence: 0.95, Interval: Bootstrap, Order: Sequential, Pin: PinFree, Limit: Duration(time.Minute),
		},
		Cases: []CaseSpec{
			{Kernel: "scimark"},
			{Kernel: "soap.echo", Params: Matrix{"model": {"stream", "dom"}}},
			{Kernel: "messaging.roundtrip", Params: Matrix{"content": {"soap", "raw"}, "clients": {"1", "4"}}},
			{Kernel: "messaging.mailbox"},
		},
	}
}

// full is every kernel at its small and large sizes, three forks each.
func full() Suite {
	return Suite{
		Name:  "full",
		Title: "Every kernel, small and large, three forks each, in about twenty minutes.",
		Plan: Plan{
			Forks: 3, Warmup: WarmupAuto, Slices: 30, Slice: Duration(200 * time.Millisecond),
			Confidence: 0.95, Interval: Bootstrap, Order: Sequential, Pin: PinFree, Limit: Duration(3 * time.Minute),
		},
		Cases: []CaseSpec{
			{Kernel: "scimark", Params: Matrix{"size": {"small", "large"}}},
			{Kernel: "soap.echo", Params: Matrix{"model": {"stream", "dom"}, "clients": {"1", "4"}}},
			{Kernel: "messaging.roundtrip", Params: Matrix{"content": {"soap", "raw"}, "size": {"1KB", "10KB", "1MB"}, "clients": {"1", "2", "4", "8"}}},
			{Kernel: "messaging.roundtrip", Params: Matrix{"broker": {"stomp", "erlang", "mqtt"}, "content": {"raw"}, "clients": {"1", "4"}}},
			{Kernel: "messaging.roundtrip", Params: Matrix{"broker": {"kafka"}, "persistent": {"true"}, "content": {"raw"}, "clients": {"1", "4"}}},
			{Kernel: "messaging.publish"},
			{Kernel: "messaging.consume"},
			{Kernel: "messaging.echo", Params: Matrix{"clients": {"1", "8"}}},
			{Kernel: "messaging.mailbox", Params: Matrix{"size": {"16B", "1KB", "10KB"}}},
		},
	}
}
