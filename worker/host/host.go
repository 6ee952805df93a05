// Package host reads the machine that benchd measures on: its stable facts and their
// fingerprint, the readings that change by themselves, and the CPU time that processes and
// the whole host have used.
//
// What a platform cannot tell is null, never zero, and the reason stands beside it.
package host
