package bench

import (
	"time"

	"benchd/kernels"
)

// A History is how scores went over time: a series for each case on each host in each
// placement, those that were measured last first.
type History struct {
	Series []HistorySeries `json:"series"`
	Cut    bool            `json:"cut"` // there are more series than are shown: ask for fewer
}

// A HistorySeries is the scores of one case on one host in one placement, measured in one way
// and in one unit.
type HistorySeries struct {
	Host       string         `json:"host"`
	Kernel     string         `json:"kernel" example:"soap.echo"`
	Params     kernels.Params `json:"params" swaggertype:"object"`
	Operations int            `json:"operations"` // of each lane in a slice, by the plan; 0 means slices of a time
	Ramp       int            `json:"ramp"`       // lanes that begin at a time, by the plan; 0 means all at once
	Pin        string         `json:"pin" example:"free"`
	Awake      bool           `json:"awake"`
	Metric     string         `json:"metric" example:"throughput"`
	Unit       string         `json:"unit" example:"call/s"`
	Better     string         `json:"better" enums:"higher,lower"`
	Points     []Point        `json:"points"` // oldest first
	Total      int            `json:"total"`  // points that fit the question; more than are shown when it was cut
	Cut        bool           `json:"cut"`    // there are older points than are shown
	Changes    []ChangePoint  `json:"changes"`
	Noise      *NoiseFloor    `json:"noise" extensions:"x-nullable"` // on the host as it was at the last point; null when it was not measured
	Reason     string         `json:"reason,omitempty"`              // why the noise is null
}

// Case returns the case that is followed.
func (s HistorySeries) Case() Case { return Case{Kernel: s.Kernel, Params: s.Params} }

// A Point is the score of one trial in a series.
type Point struct {
	Run         string     `json:"run"`
	Repeat      int        `json:"repeat"` // which of the case's trials in the run, counted from 1
	Finished    time.Time  `json:"finished" format:"date-time"`
	Value       float64    `json:"value"`
	Low         *float64   `json:"low" extensions:"x-nullable"` // bounds of the value's interval; null when there were too few samples
	High        *float64   `json:"high" extensions:"x-nullable"`
	Confidence  float64    `json:"confidence" example:"0.95"`
	N           int        `json:"n"`
	Valid       bool       `json:"valid"`                      // nothing spoke against the figure
	Fingerprint string     `json:"fingerprint"`                // of the host then
	Slice       Duration   `json:"slice" swaggertype:"string"` // of the plan it was measured by; "0s" for slices of operations
	Warmup      WarmupTime `json:"warmup" swaggertype:"string" example:"auto"`
	Commit      string     `json:"commit,omitempty"` // the run's label "commit"
}

// A ChangePoint is where a series went to another level. Points that are not valid and points
// without an interval count in the search like all others: what spoke against one mostly spoke
// against its neighbours too, and a series without them would seem to be steady. A few that
// lie apart change nothing, since the search leaves outliers out.
type ChangePoint struct {
	Index     int     `json:"index"`  // of the first point on the new level, among the points shown
	Run       string  `json:"run"`    // of that point
	Before    float64 `json:"before"` // medians of all points on either side in the search's window
	After     float64 `json:"after"`
	Change    float64 `json:"change" example:"-0.051"` // after over before, less one
	P         float64 `json:"p"`
	Confirmed bool    `json:"confirmed"` // enough points came after it: it stays as it is when more are added
}

// A Leaderboard ranks the best scores of the service's own runs, a board for each case.
type Leaderboard struct {
	Boards []Board `json:"boards"`
	Cut    bool    `json:"cut"` // there are more than are shown: ask for fewer
}

// A Board ranks the hosts that measured one case in one way and in one unit.
type Board struct {
	Kernel     string         `json:"kernel" example:"soap.echo"`
	Params     kernels.Params `json:"params" swaggertype:"object"`
	Operations int            `json:"operations"` // of each lane in a slice, by the plan; 0 means slices of a time
	Ramp       int            `json:"ramp"`       // lanes that begin at a time, by the plan; 0 means all at once
	Metric     string         `json:"metric" example:"throughput"`
	Unit       string         `json:"unit" example:"call/s"`
	Better     string         `json:"better" enums:"higher,lower"`
	Rows       []Leader       `json:"rows"` // the best first; figures with doubts after all others
}

// Case returns the case of the board.
func (b Board) Case() Case { return Case{Kernel: b.Kernel, Params: b.Params} }

// A Leader is the best score of a host in one placement.
type Leader struct {
	Rank   int      `json:"rank"` // counted from 1; equal values have one rank
	Host   string   `json:"host"`
	Pin    string   `json:"pin" example:"free"`
	Awake  bool     `json:"awake"`
	OfBest *float64 `json:"of_best" extensions:"x-nullable"` // the value over the first one's
	Point
}
