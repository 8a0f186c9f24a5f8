package pipeline

import (
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/bowline-go/bowline/client/meta"
)

// maxIdlePages is how many pages in a row may bring nothing new. A server that leaves out most of what it stores may
// send some that are empty, each with a continue token; an API server fills its pages.
const maxIdlePages = 100

// Pages watches over a list with continue tokens, which a server can go on with for ever. It keeps 16 bytes for each
// page.
type Pages struct {
	seed   maphash.Seed
	tokens map[uint64]bool // that lead to the pages so far
	firsts map[uint64]bool // objects that the pages so far began with
	idle   int             // pages in a row that brought nothing, up to the last one that has ended
}

func NewPages() *Pages {
	return &Pages{seed: maphash.MakeSeed(), tokens: make(map[uint64]bool), firsts: make(map[uint64]bool)}
}

// Follow notes that a token leads to the next page, and returns an error if that one has been read.
func (p *Pages) Follow(token string) error {
	hash := maphash.String(p.seed, token)
	if p.tokens[hash] {
		return errors.New("server sent a continue token that leads back to a page that has been read")
	}
	p.tokens[hash] = true
	return nil
}

// End notes that a page has ended that has another one behind it, and began with the object of a key; empty says that
// it had none. It returns an error if too many in a row have brought nothing new.
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
