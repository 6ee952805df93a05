package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"benchd/worker/bench"
)

// showEvery is how often the progress of a run is looked at.
const showEvery = 500 * time.Millisecond

// progress shows how far a run is: a bar that is drawn over itself for a person at a
// terminal, a line for each trial that ends for anything else.
type progress struct {
	mu   sync.Mutex
	w    io.Writer
	bar  bool
	said map[string]bool // trials whose end was told, and reasons to wait
	wide int             // of the bar as drawn
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, bar: interactive(w), said: make(map[string]bool)}
}

// run shows a run as it is now.
func (p *progress) run(r bench.Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, t := range r.Trials {
		if t.State.Final() && !p.said[t.ID] {
			p.said[t.ID] = true
			p.line(fmt.Sprintf("[%*d/%d] %-9s %s%s", len(fmt.Sprint(len(r.Trials))), i+1, len(r.Trials), t.State, t.Case().Key(), eta(r)))
		}
	}
	p.waits(r)
	if p.bar && !r.State.Final() {
		p.draw(r)
	}
}

// waits says once why nothing is measured.
func (p *progress) waits(r bench.Run) {
	why := r.Reason
	for _, t := range r.Trials {
		if t.Phase != nil && t.Phase.Name == "wait" {
			why = "another measurement holds host " + t.Host
		}
	}
	if why != "" && !r.State.Final() && !p.said[why] {
		p.said[why] = true
		p.line("waiting: " + why)
	}
}

func eta(r bench.Run) string {
	if r.Progress.ETA == nil {
		return ""
	}
	return fmt.Sprintf("  (%s left)", r.Progress.ETA)
}

const barWidth = 24

// draw draws the bar: ███████░░░░ 41 %  2/11  scimark.sor measure 12/20  40s left.
func (p *progress) draw(r bench.Run) {
	full := int(r.Progress.Percent / 100 * barWidth)
	text := fmt.Sprintf("%s%s %3.0f %%  %d/%d", strings.Repeat("█", full), strings.Repeat("░", barWidth-full), r.Progress.Percent, r.Progress.Done, r.Progress.Total)
	for _, t := range r.Trials {
		if ph := t.Phase; ph != nil {
			text += fmt.Sprintf("  %s %s %d/%d", t.Kernel, ph.Name, ph.Slice, ph.Slices)
		}
	}
	if r.Progress.ETA != nil {
		text += fmt.Sprintf("  %s left", r.Progress.ETA)
	}
	if r.Reason != "" {
		text += "  " + r.Reason
	}
	p.clear()
	_, _ = fmt.Fprint(p.w, text)
	p.wide = len([]rune(text))
}

// line writes a line above the bar.
func (p *progress) line(text string) {
	p.clear()
	_, _ = fmt.Fprintln(p.w, text)
}

func (p *progress) clear() {
	if p.wide > 0 {
		_, _ = fmt.Fprint(p.w, "\r", strings.Repeat(" ", p.wide), "\r")
		p.wide = 0
	}
}

// say writes a line.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(text)
}

// end takes the bar away.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
