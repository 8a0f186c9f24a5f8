package explore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client/meta"
)

// The writers of a run.
const (
	byProgram    = "the program"
	byUser       = "a user"
	byController = "a controller of the cluster"
	byOther      = "another controller"
)

// record is what the ledger knows about one object, from its creation on, even after the object has gone.
type record struct {
	of   meta.GVR
	raw  json.RawMessage // the object as last seen
	meta meta.ObjectMeta // the metadata of raw

	made, deleted string // the writers that made and deleted it; deleted is empty while nobody has deleted it
	present       bool
	handled       bool // the program has made it, or written to it
}

// name returns the object's name in reports. Objects with the same generateName have the same name.
func (r *record) name() string { return r.of.Resource + " " + r.key().String() }

// key returns the object's key. Instead of a generated name it has the generateName and "*".
func (r *record) key() meta.Key {
	if r.meta.GenerateName != "" {
		return meta.Key{Namespace: r.meta.Namespace, Name: r.meta.GenerateName + "*"}
	}
	return meta.KeyOf(&r.meta)
}

// owns reports whether the object is an owner of the other.
func (r *record) owns(other *record) bool {
	return slices.ContainsFunc(other.meta.OwnerReferences, func(o meta.OwnerReference) bool { return o.UID == r.meta.UID })
}

// ledger records which objects exist, and who made and deleted them. The scheduler reads it while everything else
// waits.
type ledger struct {
	mu      sync.Mutex // held by look, because a controller of the cluster may write at the same time as another writer
	known   map[meta.GVR]bool
	records []*record // in the order in which they were made
	// harm is what the program did to objects of others, one sentence each.
	harm []string
	// owners reports whether a garbage collector would have work: an object has had an owner, or a finalizer for the
	// deletion of its dependents (foregroundDeletion or orphan).
	owners bool
}

// look compares the objects of some resources with the records. It attributes every change to the writer.
func (w *world) look(writer string, of ...meta.GVR) {
	w.ledger.mu.Lock()
	defer w.ledger.mu.Unlock()
	for _, of := range of {
		if slices.Contains(ignored(), of.Resource) || slices.Contains(w.plan.Ignore, of) {
			continue
		}
		w.ledger.known[of] = true
		items, err := w.list(of)
		if err != nil {
			w.found("%v", err)
			continue
		}
		seen := map[string]bool{}
		for _, raw := range items {
			var is struct {
				Metadata meta.ObjectMeta `json:"metadata"`
			}
			if err := json.Unmarshal(raw, &is); err != nil {
				w.found("read an object of %s: %v", of.Resource, err)
				continue
			}
			seen[is.Metadata.UID] = true
			w.ledger.put(writer, of, raw, is.Metadata)
		}
		for _, r := range w.ledger.records {
			if r.of == of && r.present && !seen[r.meta.UID] {
				r.present = false
				w.ledger.gone(writer, r)
			}
		}
	}
}

// know records the objects of a resource that existed before anybody wrote to the resource in this run.
func (w *world) know(of meta.GVR) {
	w.ledger.mu.Lock()
	known := w.ledger.known[of]
	w.ledger.mu.Unlock()
	if !known {
		w.look(byUser, of)
	}
}

// offer records the edits and claims that are possible right before a request.
func (w *world) offer(p *point) {
	of := p.request.Resource
	if !p.counted() || of.Resource == "" {
		return
	}
	if p.writes() {
		w.know(of)
	}
	p.offers = w.ledger.offers(p)
	p.populated = slices.ContainsFunc(w.ledger.records, func(r *record) bool { return r.present && r.of == of })
}

// lookEverywhere calls look with all resources that somebody has written to.
func (w *world) lookEverywhere(writer string) {
	w.look(writer, w.resources()...)
}

// put records the present version of an object.
func (l *ledger) put(writer string, of meta.GVR, raw json.RawMessage, is meta.ObjectMeta) {
	at := slices.IndexFunc(l.records, func(r *record) bool { return r.present && r.of == of && r.meta.UID == is.UID })
	l.owners = l.owners || len(is.OwnerReferences) > 0 ||
		slices.Contains(is.Finalizers, "foregroundDeletion") || slices.Contains(is.Finalizers, "orphan")
	if at < 0 {
		l.records = append(l.records, &record{of: of, raw: raw, meta: is, made: writer, present: true, handled: writer == byProgram})
		return
	}
	r := l.records[at]
	was := r.meta
	r.handled = r.handled || writer == byProgram && is.ResourceVersion != was.ResourceVersion
	r.raw, r.meta = raw, is
	if is.DeletionTimestamp != nil && was.DeletionTimestamp == nil {
		l.gone(writer, r)
	}
	if writer != byProgram || r.made == byProgram {
		return
	}
	for _, o := range is.OwnerReferences {
		if !slices.ContainsFunc(was.OwnerReferences, func(old meta.OwnerReference) bool { return old.UID == o.UID }) {
			l.harm = append(l.harm, fmt.Sprintf("%s, which %s had made, was adopted: the program made %s %s its owner",
				r.name(), r.made, strings.ToLower(o.Kind), o.Name))
		}
	}
}

// gone records that an object has gone, or is being deleted.
func (l *ledger) gone(writer string, r *record) {
	if r.deleted != "" {
		return
	}
	r.deleted = writer
	if writer != byProgram || r.made == byProgram {
		return
	}
	text := fmt.Sprintf("the program deleted %s, which %s had made", r.name(), r.made)
	for _, before := range l.records {
		if before != r && before.of == r.of && before.meta.Namespace == r.meta.Namespace && before.meta.Name == r.meta.Name {
			text = fmt.Sprintf("the program deleted %s, which it had seen with another uid: %s had made it again", r.name(), r.made)
		}
	}
	l.harm = append(l.harm, text)
}

// find returns the object with a key; nil if there is none.
func (l *ledger) find(of meta.GVR, key meta.Key) *record {
	for _, r := range l.records {
		if r.present && r.of == of && r.meta.Namespace == key.Namespace && r.meta.Name == key.Name {
			return r
		}
	}
	return nil
}

// get returns the record with a uid; nil if there is none.
func (l *ledger) get(uid string) *record {
	for _, r := range l.records {
		if r.meta.UID == uid {
			return r
		}
	}
	return nil
}
