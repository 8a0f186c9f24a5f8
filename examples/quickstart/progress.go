package main

import (
	"fmt"
	"os"
	"time"
)

// progress tells a person how far the program is: one line that is written again and again on a terminal, and a plain
// line for each phase, and every few seconds, elsewhere. One goroutine uses it.
type progress struct {
	out      *os.File
	terminal bool
	phase    string
	finished bool // the last line of the phase has been shown
	last     time.Time
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{out: out, terminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

// show says that n of total are done in a phase.
func (p *progress) show(phase string, n, total int) {
	every := 2 * time.Second
	if p.terminal {
		every = 50 * time.Millisecond
	}
	finished := n >= total
	if phase == p.phase && (p.finished || !finished && time.Since(p.last) < every) {
		return
	}
	p.phase, p.finished, p.last = phase, finished, time.Now()
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s: %d of %d", phase, n, total)
	} else {
		fmt.Fprintf(p.out, "%s: %d of %d\n", phase, n, total)
	}
}

// say writes a line that stays.
func (p *progress) say(line string) {
	p.end()
	fmt.Fprintln(p.out, "quickstart:", line)
}

// end clears the line.
func (p *progress) end() {
	if p.terminal && p.phase != "" {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
