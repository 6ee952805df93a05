package bench

import (
	"maps"

	"benchd/kernels"
)

// OfFloor tells how much of a trial's time is the stack's own: its score as a part of that of
// its floor, the same bytes over a bare connection, measured in the same run on the same host
// and placement.
type OfFloor struct {
	Trial  string   `json:"trial"`                                        // of the floor
	Value  *float64 `json:"value" example:"0.41" extensions:"x-nullable"` // the trial's score over the floor's
	Low    *float64 `json:"low" extensions:"x-nullable"`                  // the trial's lower bound over the floor's upper one
	High   *float64 `json:"high" extensions:"x-nullable"`                 // and the other way round
	Reason string   `json:"reason,omitempty"`                             // why a figure is null
}

// Floor gives the case that is the floor of another. A floor has none itself, nor has a case
// at a rate, whose throughput is the schedule's.
func (c *Catalog) Floor(of Case) (Case, bool) {
	info, ok := c.infos[of.Kernel]
	if !ok {
		return Case{}, false
	}
	return floorOf(info, of.Params)
}

func floorOf(info kernels.Info, p kernels.Params) (Case, bool) {
	if len(info.Floor) == 0 || info.Rate != "" && p.Int(info.Rate) > 0 {
		return Case{}, false
	}
	params := maps.Clone(p)
	maps.Copy(params, info.Floor)
	if maps.Equal(params, p) {
		return Case{}, false
	}
	return Case{Kernel: info.Name, Params: params}, true
}

// SetFloors sets each trial's OfFloor from the floors among the trials of the same host and
// repeat. One whose floor was not measured keeps a null value and the reason.
func (c *Catalog) SetFloors(trials []TrialResult) {
	type place struct {
		host, key string
		repeat    int
	}
	found := make(map[place]*TrialResult, len(trials))
	for i := range trials {
		t := &trials[i]
		found[place{t.Host, t.Case().Key(), t.Repeat}] = t
	}
	for i := range trials {
		t := &trials[i]
		t.OfFloor = nil
		floor, ok := c.Floor(t.Case())
		if !ok || t.Score == nil || t.Score.Value == nil {
			continue
		}
		if f := found[place{t.Host, floor.Key(), t.Repeat}]; f != nil {
			t.OfFloor = ofFloor(*t.Score, f)
		}
	}
}

// ofFloor divides a score by that of its floor. Bounds that are wide apart on both sides make
// bounds that are wider still: no part of either doubt is lost.
func ofFloor(s Score, floor *TrialResult) *OfFloor {
	out := &OfFloor{Trial: floor.ID}
	f := floor.Score
	if floor.State != Succeeded || f == nil || f.Value == nil || *f.Value <= 0 {
		out.Reason = "the floor was not measured to its end"
		return out
	}
	out.Value = new(*s.Value / *f.Value)
	if s.Low == nil || s.High == nil || f.Low == nil || f.High == nil || *f.Low <= 0 {
		out.Reason = "one of the two has no interval"
		return out
	}
	out.Low, out.High = new(*s.Low / *f.High), new(*s.High / *f.Low)
	return out
}
