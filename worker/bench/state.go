package bench

// State is where a run or a trial is on its way.
//
//	queued -> running -> succeeded | failed | lost
//	queued -> canceled
//	running -> canceling -> canceled
type State string

// The states. The last four are final: nothing follows them.
const (
	Queued    State = "queued"
	Running   State = "running"
	Canceling State = "canceling"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	Canceled  State = "canceled"
	Lost      State = "lost"
)

// States returns every state in order.
func States() []State {
	return []State{Queued, Running, Canceling, Succeeded, Failed, Canceled, Lost}
}

// Valid tells whether s is one of the states.
func (s State) Valid() bool {
	for _, t := range States() {
		if s == t {
			return true
		}
	}
	return false
}

// Final tells whether s is the end of the way.
func (s State) Final() bool {
	return s == Succeeded || s == Failed || s == Canceled || s == Lost
}

// CanBecome tells whether a trial in state s may go to state t. A final state never
// changes, which is what makes a late or repeated result harmless.
func (s State) CanBecome(t State) bool {
	switch s {
	case Queued:
		return t == Running || t == Canceling || t.Final()
	case Running:
		return t == Canceling || t.Final()
	case Canceling:
		return t.Final()
	default:
		return false
	}
}

// RunState works out the state of a run from its trials' and from whether its cancellation
// was asked for. A run succeeded only if every trial did.
func RunState(trials []State, cancelRequested bool) State {
	n := make(map[State]int, 7)
	for _, s := range trials {
		n[s]++
	}
	open := n[Queued] + n[Running] + n[Canceling]
	switch {
	case open > 0 && cancelRequested:
		return Canceling
	case open > 0 && n[Queued] == len(trials):
		return Queued
	case open > 0:
		return Running
	case cancelRequested && n[Canceled] > 0:
		return Canceled
	case n[Lost] > 0:
		return Lost
	case n[Failed] > 0:
		return Failed
	case n[Canceled] > 0:
		return Canceled
	default:
		return Succeeded
	}
}
