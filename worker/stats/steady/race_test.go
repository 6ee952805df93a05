//go:build race

package steady_test

// raced tells that the race detector is on, which makes a simulation ten times as long.
const raced = true
