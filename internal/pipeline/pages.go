package pipeline

import (
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/bowline-go/bowline/client/meta"
)

// maxIdlePages is how many pages in a row may bring nothing new. A server that leaves out most of its objects may send
// some empty pages, each with a continue token; an API server fills its pages.
const maxIdlePages = 100

// Pages detects a list that a server continues for ever. It keeps two hashes for each page.
type Pages struct {
	seed   maphash.Seed
	tokens map[uint64]bool // the hashes of the tokens that led to the pages so far
	firsts map[uint64]bool // the hashes of the keys of the first objects of the pages so far
	idle   int             // how many pages in a row, up to the last complete one, brought nothing new
}

func NewPages() *Pages {
	return &Pages{seed: maphash.MakeSeed(), tokens: make(map[uint64]bool), firsts: make(map[uint64]bool)}
}

// Follow notes that a token leads to the next page, and returns an error if a page with that token has been read.
func (p *Pages) Follow(token string) error {
	hash := maphash.String(p.seed, token)
	if p.tokens[hash] {
		return errors.New("server sent a continue token that leads back to a page that has been read")
	}
	p.tokens[hash] = true
	return nil
}

// End notes the end of a page that another page follows. first is the key of its first object, and empty says that it
// had none. End returns an error if too many pages in a row have brought nothing new.
func (p *Pages) End(first meta.Key, empty bool) error {
	hash := maphash.Comparable(p.seed, first)
	if empty || p.firsts[hash] {
		p.idle++
	} else {
		p.firsts[hash] = true
		p.idle = 0
	}
	if p.idle >= maxIdlePages {
		return fmt.Errorf("server sent %d pages in a row without a new object, each with another continue token", p.idle)
	}
	return nil
}
