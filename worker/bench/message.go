package bench

import "time"

// An Order tells a worker to measure a trial. It is what the queue run.<host> carries.
type Order struct {
	Run     string `json:"run"`
	Trial   string `json:"trial"`
	Host    string `json:"host"`
	Attempt int    `json:"attempt"` // the least number that this start may take: one more than all that came before
	Case    Case   `json:"case"`
	Repeat  int    `json:"repeat"`
	Plan    Plan   `json:"plan"`
	// With are the further trials of an interleaved run on this host: their forks are measured
	// in turn with this order's, and the worker takes all of them as one piece of work.
	With []Order `json:"with,omitempty"`
}

// All gives the order and those that are measured in turn with it.
func (o Order) All() []Order {
	with := o.With
	o.With = nil
	return append([]Order{o}, with...)
}

// A Report tells the collector what a worker did with an order. It is what the queue
// results carries.
type Report struct {
	Kind     ReportKind   `json:"kind"`
	Run      string       `json:"run"`
	Trial    string       `json:"trial"`
	Attempt  int          `json:"attempt"`
	Host     string       `json:"host"`
	Instance string       `json:"instance"` // the worker process
	At       time.Time    `json:"at"`
	Snapshot HostSnapshot `json:"snapshot"`
	Result   *TrialResult `json:"result,omitempty"` // of a Finished report
}

// ReportKind says what a Report tells.
type ReportKind string

// The kinds of report. Started may arrive after Finished; both may arrive twice.
const (
	Started  ReportKind = "started"
	Finished ReportKind = "finished"
)

// A Beat is a worker's sign of life.
type Beat struct {
	Host     string            `json:"host"`
	Instance string            `json:"instance"` // a new one at each start of the worker
	At       time.Time         `json:"at"`       // by the clock of Redis
	Labels   map[string]string `json:"labels"`
	Limits   Limits            `json:"limits"`
	Services map[string]string `json:"services,omitempty"` // as in Host
	Version  string            `json:"version"`
	Running  *RunningTrial     `json:"running"`
	Held     []string          `json:"held"`   // trials that were taken and not finished, the running one among them
	Outbox   []string          `json:"outbox"` // trials whose finished results wait for their acknowledgement
	Snapshot HostSnapshot      `json:"snapshot"`
}

// AsHost tells what a host is by its worker's sign of life.
func (b Beat) AsHost() Host {
	return Host{
		Name: b.Host, Live: true, Labels: b.Labels, Limits: b.Limits, Services: b.Services, Version: b.Version,
		LastSeen: b.At, Running: b.Running, Snapshot: b.Snapshot,
	}
}

// A CancelReason says why a running trial shall stop.
type CancelReason string

// The reasons: the client asked, the run's timeout passed, or the trial was given up as lost.
const (
	CancelAsked   CancelReason = "asked"
	CancelTimeout CancelReason = "timeout"
	CancelLost    CancelReason = "lost"
)
