// Package direct makes connections that wait in the system call itself.
//
// A connection of package net never waits in a read: it is told that there is nothing yet,
// parks its goroutine, and is woken by the runtime's poller. With many connections that is
// best. With one it costs two or three system calls and a change of threads for every answer
// that is waited for, which is more than many an answer takes to make. A connection of this
// package reads and writes with one system call each and blocks its thread meanwhile, as a
// program in C does.
//
// It is meant for a process that has a single connection at work. A goroutine that waits in a
// system call keeps its processor, in the sense of runtime.GOMAXPROCS, until the runtime
// takes it away, which it does as soon as it looks if all the others are busy, and after 10 ms
// if one is idle. So the process should have a processor more than it has such connections:
// without it the runtime looks every 20 microseconds, and each answer finds its processor
// gone. Who runs the process sees to that; this package changes no setting of it.
//
// Elsewhere than on Linux the connections stay what they are.
package direct

import "time"

// Tick is how late a deadline, or a change of one, may be noticed by an operation that waits.
// The system wakes it so often to look; what is short of that costs nothing.
const Tick = 200 * time.Millisecond
