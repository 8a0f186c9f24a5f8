package externaldns

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// Policy says what the plan may do.
type Policy string

// The policies.
const (
	UpsertOnly Policy = ""     // nothing is deleted
	Sync       Policy = "sync" // records that no object wants any more are deleted
)

// Changes are the changes that a provider has to make. Old[i] becomes New[i].
type Changes struct {
	Create, Old, New, Delete []*Endpoint
}

func (c *Changes) empty() bool { return len(c.Create)+len(c.Old)+len(c.Delete) == 0 }

// plan compares the records that objects want with those that the provider has.
type plan struct {
	owner    string
	policy   Policy
	domains  []string
	complete func(source string) bool // whether all of a source is known
}

// changes returns the changes that have to be made. Records of other owners stay as they are.
func (p *plan) changes(wanted iter.Seq[*Endpoint], current []*Endpoint) (c Changes) {
	have := make(map[id]*Endpoint)
	for _, e := range current {
		have[e.id()] = e
	}
	chosen := p.choose(wanted, have)
	for _, key := range slices.SortedFunc(maps.Keys(chosen), func(a, b id) int { return compare(chosen[a], chosen[b]) }) {
		want, had := chosen[key], have[key]
		switch {
		case had == nil && !p.taken(want, current):
			c.Create = append(c.Create, want)
		case had != nil && had.Owner == p.owner && !had.same(want):
			if want.TTL == 0 {
				want.TTL = had.TTL
			}
			c.Old, c.New = append(c.Old, had), append(c.New, want)
		}
	}
	if p.policy != Sync {
		return c
	}
	for _, had := range slices.SortedFunc(maps.Values(have), compare) {
		if chosen[had.id()] == nil && had.Owner == p.owner && p.allowed(had.Name) && p.complete(had.source()) {
			c.Delete = append(c.Delete, had)
		}
	}
	return c
}

// choose picks one of the objects that want a record: the one that has it, or else the first in order. A name with an
// address has no CNAME.
func (p *plan) choose(wanted iter.Seq[*Endpoint], have map[id]*Endpoint) map[id]*Endpoint {
	chosen := make(map[id]*Endpoint)
	for e := range wanted {
		if !p.allowed(e.Name) {
			continue
		}
		e.Owner = p.owner
		best, had := chosen[e.id()], have[e.id()]
		switch {
		case best == nil:
			chosen[e.id()] = e
		case had != nil && (best.Resource == had.Resource) != (e.Resource == had.Resource):
			if e.Resource == had.Resource {
				chosen[e.id()] = e
			}
		case compare(e, best) < 0:
			chosen[e.id()] = e
		}
	}
	maps.DeleteFunc(chosen, func(key id, e *Endpoint) bool {
		return key.kind == CNAME && (chosen[id{key.name, A}] != nil || chosen[id{key.name, AAAA}] != nil)
	})
	return chosen
}

// taken reports whether a record that is not ours prevents this one: both have the same name, and exactly one of them
// is a CNAME. No other record may have the name of a CNAME.
func (p *plan) taken(want *Endpoint, current []*Endpoint) bool {
	return slices.ContainsFunc(current, func(e *Endpoint) bool {
		return e.Name == want.Name && e.Type != TXT && e.Owner != p.owner && (e.Type == CNAME) != (want.Type == CNAME)
	})
}

// allowed reports whether a name is in one of the domains.
func (p *plan) allowed(name string) bool {
	return len(p.domains) == 0 || slices.ContainsFunc(p.domains, func(domain string) bool {
		return name == domain || strings.HasSuffix(name, "."+strings.TrimPrefix(domain, "."))
	})
}
