// Package changes finds the points of a history of figures where their level changed, in
// such a way that what was once found stays as it was when points are added.
//
// The package is pure.
package changes

// A Change is a point of a history from which on the values are on another level.
type Change struct {
	Index         int     // the first value on the new level
	Before, After float64 // medians of the values on either side, when the change was found
	Change        float64 // After relative to Before, less one; 0 when Before is 0
	P             float64 // of the t-test of the two sides
	// Confirmed tells that enough values followed: the change stays as it is whatever values
	// are added. Others are provisional.
	Confirmed bool
}

// Options say when a change is one. The zero value takes the defaults.
type Options struct {
	Window    int     // values looked at, at most, up to the newest; 60 when 0
	Confirm   int     // values that must follow a change before it is confirmed; 8 when 0
	MaxP      float64 // a change's P is below it; 0.0001 when 0
	MinEffect float64 // a change is larger than it, relative
}

// Find gives the changes of a history, ascending. The confirmed ones of a history are the
// first of those of any longer history that begins with it.
func Find(values []float64, o Options) []Change { return nil }
