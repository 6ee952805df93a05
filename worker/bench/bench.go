// Package bench holds the words that every part of benchd shares: what a client asks for
// (Spec), what is queued (Order), what is measured and reported (Trial, Result), on what
// (Host), and how each is written as JSON and checked.
//
// The package is pure: it reads no clock, no file and no network, so the same input gives
// the same answer in the API, in the worker and in a test.
package bench

// Schema is the version of the result's JSON shape. It grows when a field changes its
// meaning or goes away; new fields leave it alone.
const Schema = 1

// Bounds of a request that hold on every host.
const (
	MaxTrials   = 1000    // trials of one run
	MaxBody     = 1 << 20 // bytes of a request
	MaxLabels   = 32
	MaxLabelLen = 128 // bytes of a label's name or value
)
