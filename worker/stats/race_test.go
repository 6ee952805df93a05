//go:build race

package stats_test

// raced tells that the race detector is on, which makes a simulation ten times as long.
const raced = true
