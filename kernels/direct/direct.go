// Package direct makes connections that wait in the system call itself.
//
// A connection of package net never waits in a read: it is told that there is nothing yet,
// parks its goroutine, and is woken by the runtime's poller. With many connections that is
// best. With few it costs two or three system calls and a change of threads for every answer
// that is waited for, which is more than many an answer takes to make. A connection of this
// package blocks its thread in the system call meanwhile, as a program in C does. A write takes
// one; so does a read of what is there already. Before a read waits it gives its CPU away once,
// since a thread that does not sleep need not be woken.
//
// # Processors
//
// What runs Go code holds one of the runtime's processors (runtime.GOMAXPROCS). An ordinary
// system call lends it out: the runtime takes it away when it has looked twice and the call
// has not returned, and it looks each 20 microseconds for as long as it finds anything to
// take. With an answer every 60 microseconds that looking, and getting a processor back, is a
// tenth of all work with one connection, and a third with eight.
//
// So a connection keeps its processor while it waits, as if it computed. What the runtime does
// about a goroutine that computes for too long it does here too, and that is a signal: it stops
// the goroutine for the garbage collector, or because 10 milliseconds have passed. The signal
// ends the system call, since one with a time limit is never begun again by the system
// (signal(7)); the goroutine gives way where any other would; and what is left of the wait is
// spent without a processor. A connection on which nothing happens holds none.
//
// The process should have a processor for each such connection and two more, for what else
// there is to do; Room tells whether it has. Where it has fewer than three, connections lend
// theirs out. This package changes no setting of the process: who runs it sees to that.
//
// Elsewhere than on Linux the connections stay what they are.
package direct

import "time"

// Tick is how late a deadline, or a change of one, may be noticed by an operation that waits.
// The system wakes it so often to look; what is short of that costs nothing.
const Tick = 200 * time.Millisecond
