package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"benchd/kernels"
)

// A Discovery is what was found at a named service of this host. Nothing in it tells the
// service's address or its user.
type Discovery struct {
	Name   string `json:"name"`
	Scheme string `json:"scheme"`
	// Product and Version are what it calls itself; null where it does not tell.
	Product *string `json:"product"`
	Version *string `json:"version"`
	// Supports is what it can do and how it is set, in a few words each.
	Supports []string `json:"supports"`
	// RoundTrip is the time of the smallest request of its protocol, and Message that of a
	// message through a broker back to its sender; null where there was none.
	RoundTrip *Pace `json:"round_trip"`
	Message   *Pace `json:"message"`
	// Notes are sentences about what moves figures that are measured there.
	Notes []string `json:"notes"`
	// Error says why nothing can be measured there; null where something can.
	Error *string `json:"error"`
}

// A Pace is the median time of something, of how many.
type Pace struct {
	Median int64 `json:"median_ns"`
	Count  int   `json:"count"`
}

// hangingTime is how much longer than its patience a probe is waited for to end in order.
const hangingTime = time.Second

// Discover tries each named service, one after another so that none is in the way of
// another's round trips, for as long as patience says each. Addresses are as in Config. The
// only error is that of an address that is none.
func Discover(ctx context.Context, families []kernels.Family, addrs map[string]string, patience time.Duration) ([]Discovery, error) {
	services, schemes, err := readServices(addrs, nil) // one that no kernel can use is told as such
	if err != nil {
		return nil, err
	}
	var all []Discovery
	for _, name := range slices.Sorted(maps.Keys(services)) {
		all = append(all, services[name].discover(ctx, families, schemes[name], patience))
	}
	return all, nil
}

// discover tries one service.
func (s service) discover(ctx context.Context, families []kernels.Family, scheme string, patience time.Duration) Discovery {
	d := Discovery{Name: s.name, Scheme: scheme, Supports: []string{}, Notes: []string{}}
	r, err := s.probe(ctx, families, scheme, patience)
	if err != nil {
		d.Error = new(s.tidy(err.Error(), maxSentence))
		return d
	}
	d.Product, d.Version = s.told(r.Product), s.told(r.Version)
	for _, text := range r.Supports {
		if text = s.tidy(text, maxWords); text != "" {
			d.Supports = append(d.Supports, text)
		}
	}
	d.RoundTrip, d.Message = paceOf(r.RoundTrip), paceOf(r.Message)
	if p := slowest(r); onPlateau(p.Median.Nanoseconds()) {
		d.Notes = append(d.Notes, plateau("the median of its round trips is", p.Median.Nanoseconds(), "it", r.NoDelay))
	}
	return d
}

// probe lets the first kernel that can ask a service do so. A probe that does not end in time
// is left behind.
func (s service) probe(ctx context.Context, families []kernels.Family, scheme string, patience time.Duration) (kernels.Report, error) {
	p := proberFor(families, scheme)
	if p == nil {
		return kernels.Report{}, fmt.Errorf("no kernel measures at an address that begins with %s://; %s are the schemes that some can use", scheme, strings.Join(schemesOf(families), ", "))
	}
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	type answer struct {
		report kernels.Report
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		r, err := p.Probe(bounded, s.addr)
		answers <- answer{r, err}
	}()
	hanging := time.NewTimer(patience + hangingTime)
	defer hanging.Stop()
	late := fmt.Errorf("it did not answer as one of its kind within %s", patience)
	select {
	case a := <-answers:
		if a.err != nil && ctx.Err() == nil && (bounded.Err() != nil || errors.Is(a.err, context.DeadlineExceeded)) {
			return kernels.Report{}, late
		}
		return a.report, a.err
	case <-hanging.C:
		return kernels.Report{}, late
	}
}

// proberFor returns the first kernel that can tell what is at an address of a scheme.
func proberFor(families []kernels.Family, scheme string) kernels.Prober {
	for _, k := range servicesOf(families) {
		if p, ok := k.Kernel.(kernels.Prober); ok && slices.Contains(k.schemes, scheme) {
			return p
		}
	}
	return nil
}

// schemesOf lists the schemes of addresses that kernels can use.
func schemesOf(families []kernels.Family) []string {
	var all []string
	for _, k := range servicesOf(families) {
		all = append(all, k.schemes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A caller is a kernel that can measure at named services of these schemes.
type caller struct {
	kernels.Kernel
	schemes []string
}

func servicesOf(families []kernels.Family) []caller {
	var all []caller
	for _, f := range families {
		for _, k := range f.Kernels {
			for _, p := range k.Info().Params {
				if p.Kind == kernels.Service {
					all = append(all, caller{k, p.Schemes})
				}
			}
		}
	}
	return all
}

// slowest returns the pace that waits the longest.
func slowest(r kernels.Report) kernels.Pace {
	if r.Message.Median > r.RoundTrip.Median {
		return r.Message
	}
	return r.RoundTrip
}

func paceOf(p kernels.Pace) *Pace {
	if p.Count == 0 {
		return nil
	}
	return &Pace{Median: p.Median.Nanoseconds(), Count: p.Count}
}

// Limits of what a service can make others read, in letters.
const (
	maxSentence = 400
	maxWords    = 80
)

// told is a name that a service gave, if it gave one.
func (s service) told(text string) *string {
	if text = s.tidy(text, maxWords); text == "" {
		return nil
	}
	return &text
}

// tidy takes out of a text what is secret, and what only a terminal would understand: part of
// it may have come from a service that means harm.
func (s service) tidy(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s.hide(strings.ToValidUTF8(text, "?")))
	letters := []rune(strings.Join(strings.Fields(text), " "))
	if len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return string(letters)
}
