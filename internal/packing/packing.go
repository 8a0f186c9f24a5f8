// Package packing packs the texts of the objects of a collection with zstd, and with a dictionary that it learns from
// them. The texts of a collection repeat each other much more than each repeats itself, so the dictionary is what makes
// them small.
package packing

import (
	"sync"
	"sync/atomic"

	"github.com/bowline-go/bowline/internal/packed"
)

// Packer packs the texts of one collection. Make it with [New].
//
// It first packs without a dictionary, and keeps copies of texts as samples. From these it learns a dictionary, in one
// of the calls of Pack. Later it measures how much smaller texts become. If they no longer become as small as at first,
// the collection has changed: the Packer takes new samples, learns from these, and keeps the new dictionary if that
// packs the samples better. A dictionary lives as long as a text that was packed with it.
type Packer struct {
	plain *coder                // without a dictionary
	best  atomic.Pointer[coder] // Pack uses it

	mu      sync.Mutex // guards the rest
	samples samples
	fit     fit
}

// New returns a Packer that has learnt nothing.
func New() *Packer {
	p := &Packer{plain: newCoder(nil)}
	p.best.Store(p.plain)
	p.samples.wanted = true
	return p
}

// Pack implements packed.Packer.
func (p *Packer) Pack(text []byte, mark byte) packed.Text {
	c := p.best.Load()
	t := c.pack(text, mark)
	p.learn(c, text, t.Size())
	return t
}

// learn notes how a text was packed, and learns a dictionary when it is time.
func (p *Packer) learn(by *coder, text []byte, size int) {
	taken := p.note(by, text, size)
	if taken == nil {
		return
	}
	// While this call learns, other calls of Pack go on with the current dictionary.
	better := learnt(taken, by)
	p.mu.Lock()
	defer p.mu.Unlock()
	if better != nil {
		p.best.Store(better)
	}
	p.fit.learnt(better != nil)
}

// note returns samples that are ready to be learnt from, or nil.
func (p *Packer) note(by *coder, text []byte, size int) [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.samples.wanted {
		return p.samples.add(text)
	}
	if by == p.best.Load() && p.fit.worse(len(text), size) {
		p.samples.wanted = true
	}
	return nil
}
