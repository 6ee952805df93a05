package measure

import (
	"errors"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A histogram holds one nanosecond to one hour with three significant digits, about 0.27 MB.
const (
	lowest  = 1
	highest = int64(time.Hour)
	digits  = 3
)

// times are the latencies of one lane's operations, or of all lanes together.
type times struct {
	latency histogram  // from the scheduled start, or from the own one where there is no schedule
	service *histogram // from the own start; nil without a schedule, where it is the same
	late    *histogram // how late the lane began when it had nothing else to do; nil without a schedule
}

func newTimes(paced bool) *times {
	t := &times{latency: newHistogram()}
	if paced {
		t.service, t.late = new(newHistogram()), new(newHistogram())
	}
	return t
}

// add records one operation. Nil times, of operations timed in batches, take nothing.
func (t *times) add(latency, service time.Duration) {
	if t == nil {
		return
	}
	t.latency.record(int64(latency))
	if t.service != nil {
		t.service.record(int64(service))
	}
}

// take adds what o holds, and empties o.
func (t *times) take(o *times) {
	if o == nil {
		return
	}
	t.latency.take(&o.latency)
	if t.service != nil {
		t.service.take(o.service)
		t.late.take(o.late)
	}
}

// encode writes the times and empties them.
func (t *times) encode() (Times, error) {
	var out Times
	var errs [3]error
	out.Latency, errs[0] = t.latency.encode()
	if t.service != nil {
		out.Service, out.Late = new(Histogram), new(Histogram)
		*out.Service, errs[1] = t.service.encode()
		*out.Late, errs[2] = t.late.encode()
	}
	return out, errors.Join(errs[:]...)
}

// Times are the encoded latencies of operations.
type Times struct {
	Latency Histogram  `json:"latency"`           // at a rate from each operation's scheduled start, otherwise from its own
	Service *Histogram `json:"service,omitempty"` // at a rate from each operation's own start; nil without a rate
	Late    *Histogram `json:"late,omitempty"`    // at a rate how late those began that waited for nothing but their time; nil without a rate
}

// A Histogram is an encoded HdrHistogram of nanoseconds.
type Histogram struct {
	HDR  string `json:"hdr"`            // V2 compressed, base64
	Over int64  `json:"over,omitempty"` // values beyond the histogram's end, counted at its end
}

type histogram struct {
	*hdrhistogram.Histogram
	over int64
}

func newHistogram() histogram {
	return histogram{Histogram: hdrhistogram.New(lowest, highest, digits)}
}

// record adds a value. One beyond the histogram's end is counted at its end and told apart,
// never dropped.
func (h *histogram) record(ns int64) {
	if ns > highest {
		h.over++
		ns = highest
	}
	_ = h.RecordValue(max(ns, lowest)) // within the bounds it cannot fail
}

func (h *histogram) take(o *histogram) {
	h.Merge(o.Histogram)
	h.over += o.over
	o.Reset()
	o.over = 0
}

// encode writes the histogram and empties it.
func (h *histogram) encode() (Histogram, error) {
	b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return Histogram{}, fmt.Errorf("encode a latency histogram: %w", err)
	}
	out := Histogram{HDR: string(b), Over: h.over}
	h.Reset()
	h.over = 0
	return out, nil
}

// MergeTimes adds up times without loss. It returns nil for none.
func MergeTimes(list []Times) (*Times, error) {
	if len(list) == 0 {
		return nil, nil
	}
	sum := newTimes(list[0].Service != nil)
	for _, t := range list {
		if err := sum.latency.decode(t.Latency); err != nil {
			return nil, err
		}
		if sum.service == nil || t.Service == nil || t.Late == nil {
			continue
		}
		if err := errors.Join(sum.service.decode(*t.Service), sum.late.decode(*t.Late)); err != nil {
			return nil, err
		}
	}
	out, err := sum.encode()
	return &out, err
}

// decode adds what an encoded histogram holds.
func (h *histogram) decode(o Histogram) error {
	d, err := hdrhistogram.Decode([]byte(o.HDR))
	if err != nil {
		return fmt.Errorf("the histogram of a fork cannot be read: %w", err)
	}
	h.Merge(d)
	h.over += o.Over
	return nil
}
