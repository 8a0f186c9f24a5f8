package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress tells a person how far the program is: a line for each phase, and every second.
type progress struct {
	out io.Writer

	mu       sync.Mutex // guards the rest
	phase    string
	finished bool // the last line of the phase has been shown
	last     time.Time
}

// show says that n of total are done in a phase.
func (p *progress) show(phase string, n, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	finished := n >= total
	if phase == p.phase && (p.finished || !finished && time.Since(p.last) < time.Second) {
		return
	}
	p.phase, p.finished, p.last = phase, finished, time.Now()
	fmt.Fprintf(p.out, "%s: %d of %d\n", phase, n, total)
}

// say writes a line for a person.
func (p *progress) say(line string) { fmt.Fprintln(p.out, "quickstart:", line) }
