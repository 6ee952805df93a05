package queue

import (
	"fmt"
	"time"

	"benchd/worker/bench"
)

// Names in Redis. Those of asynq begin with asynq:, ours with benchd:.
const (
	resultsQueue = "results"
	epochKey     = "benchd:epoch"
	hostsKey     = "benchd:hosts" // set of the names of all hosts that ever beat
)

// How long our keys live. Those that guard against a repeated or late start outlive every
// run; an acknowledgement outlives the worker's rounds through its outbox.
const (
	guardTTL = 7 * 24 * time.Hour
	ackTTL   = 24 * time.Hour
	phaseTTL = 10 * time.Minute // of an interleaved run a trial waits for the others' turns
)

const runQueuePrefix = "run."

func runQueue(host string) string    { return runQueuePrefix + host }
func hostKey(host string) string     { return "benchd:host:" + host }
func wakeChannel(host string) string { return "benchd:wake:" + host }
func cancelKey(trial string) string  { return "benchd:cancel:" + trial }
func attemptKey(trial string) string { return "benchd:attempt:" + trial }
func phaseKey(trial string) string   { return "benchd:phase:" + trial }
func ackKey(t string, n int) string  { return fmt.Sprintf("benchd:ack:%s.%d", t, n) }
func orderID(o bench.Order) string   { return fmt.Sprintf("%s.%d", o.Trial, o.Attempt) }
func reportID(r bench.Report) string { return fmt.Sprintf("%s.%d.%s", r.Trial, r.Attempt, r.Kind) }
