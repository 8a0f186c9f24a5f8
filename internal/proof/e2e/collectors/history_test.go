package collectors

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// place is where an object of a history may be.
type place struct {
	kind  string
	space string // "a" or "b", the namespaces of the history; empty for a cluster-scoped kind
	name  string
}

func (p place) String() string { return strings.ReplaceAll(p.kind+"/"+p.space+"/"+p.name, "//", "/") }

// full is the place among those of all histories.
func (p place) full(h int) string { return fmt.Sprint(h, " ", p) }

// in returns the key of the object of a history.
func (p place) in(h int) meta.Key {
	if p.space == "" {
		return meta.Key{Name: fmt.Sprintf("h%d-%s", h, p.name)}
	}
	return meta.Key{Namespace: fmt.Sprintf("h%d-%s", h, p.space), Name: p.name}
}

// placeOf is the inverse of in; h is the history that the object belongs to. It is false for objects of the server.
func placeOf(kind string, key meta.Key) (p place, h int, ours bool) {
	p = place{kind: kind, name: key.Name}
	first, rest, found := strings.Cut(key.Namespace, "-")
	if p.space = rest; key.Namespace == "" {
		first, p.name, found = strings.Cut(key.Name, "-")
	}
	h, err := strconv.Atoi(strings.TrimPrefix(first, "h"))
	return p, h, found && err == nil && key.Name != "kube-root-ca.crt"
}

type verb string

const (
	create          verb = "create"
	remove          verb = "delete"
	removeOrphaning verb = "delete with orphanDependents"
	addFinalizer    verb = "add the finalizer"
	removeFinalizer verb = "remove the finalizer"
	setOwners       verb = "set the owners of"
)

// wrong is what is wrong with a reference to an owner.
type wrong string

const (
	nothing     wrong = ""
	wrongUID    wrong = "another uid"
	wrongName   wrong = "another name"
	wrongKind   wrong = "another kind"
	unknownKind wrong = "an unknown kind"
)

type owner struct {
	at    place
	block bool
	wrong wrong
}

type step struct {
	verb      verb
	at        place
	owners    []owner
	finalizer string
	policy    client.Propagation
	orphan    bool
}

func (s step) String() string {
	return fmt.Sprintf("%s %s owners %+v finalizer %q policy %q orphan %t", s.verb, s.at, s.owners, s.finalizer, s.policy, s.orphan)
}

const hold = "example.com/hold"

var names = []string{"p", "q", "r", "s"}

func anyPlace(r *rand.Rand) place {
	kind := kinds[r.IntN(len(kinds))]
	p := place{kind: kind.Kind, name: names[r.IntN(len(names))]}
	if kind.Scope == meta.Namespaced {
		p.space = "a"
		if r.IntN(6) == 0 {
			p.space = "b"
		}
	}
	return p
}

// next chooses a step of a history whose objects are at the given places.
func next(r *rand.Rand, has []place) step {
	one := func() place {
		if len(has) == 0 || r.IntN(25) == 0 {
			return anyPlace(r)
		}
		return has[r.IntN(len(has))]
	}
	switch n := r.IntN(100); {
	case len(has) < 4 || n < 25:
		s := step{verb: create, at: anyPlace(r), owners: anyOwners(r, has)}
		if r.IntN(4) == 0 {
			s.finalizer = hold
		}
		return s
	case n < 62:
		return step{verb: remove, at: one(), policy: []client.Propagation{"", client.Background, client.Foreground, client.Foreground, client.Orphan}[r.IntN(5)]}
	case n < 68:
		return step{verb: removeOrphaning, at: one(), orphan: r.IntN(2) == 0}
	case n < 75:
		return step{verb: addFinalizer, at: one(), finalizer: hold}
	case n < 77:
		return step{verb: addFinalizer, at: one(), finalizer: []string{"orphan", "foregroundDeletion"}[r.IntN(2)]}
	case n < 87:
		return step{verb: removeFinalizer, at: one(), finalizer: hold}
	case n < 89:
		return step{verb: removeFinalizer, at: one(), finalizer: []string{"orphan", "foregroundDeletion"}[r.IntN(2)]}
	default:
		return step{verb: setOwners, at: one(), owners: anyOwners(r, has)}
	}
}

func anyOwners(r *rand.Rand, has []place) (all []owner) {
	for range r.IntN(4) {
		o := owner{at: anyPlace(r), block: r.IntN(2) == 0}
		if len(has) > 0 && r.IntN(20) > 0 {
			o.at = has[r.IntN(len(has))]
		}
		if r.IntN(14) == 0 {
			o.wrong = []wrong{wrongUID, wrongName, wrongKind, unknownKind}[r.IntN(4)]
		}
		all = append(all, o)
	}
	return all
}
