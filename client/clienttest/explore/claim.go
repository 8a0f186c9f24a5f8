package explore

import (
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// The kinds of changes that other programs make and undo after a while. The state at rest must be as if the change had
// never been made.
const (
	finalized kind = "finalized" // another program holds an object with a finalizer
	coowned   kind = "co-owned"  // another object becomes an owner as well
)

// claim is a change that another program makes to an object and later undoes.
type claim struct {
	kind  kind
	roles []string
	on    func(r *record) bool
	do    func(w *world, r *record) (undo func(), err error)
}

func claims() []claim {
	return []claim{
		{finalized, roles(), func(r *record) bool {
			return r.meta.DeletionTimestamp == nil && !slices.Contains(r.meta.Finalizers, foreignFinalizer)
		}, addFinalizer},
		{coowned, []string{theObject, itsDependent}, func(r *record) bool {
			return r.made == byProgram && r.meta.DeletionTimestamp == nil && len(r.meta.OwnerReferences) > 0
		}, addOwner},
	}
}

func claimed() (all []effect) {
	for _, c := range claims() {
		all = append(all, effect{kind: c.kind, argued: true, at: c.at, prepare: c.before, stepAt: c.stepAt, begin: c.begin})
	}
	return append(all, effect{kind: stranger, argued: true, rested: introduce})
}

func (c claim) at(p *point, _ *result) []string { return p.offers[c.kind] }

// before makes the change right before a request.
func (c claim) before(w *world, p *point, d disturbance) {
	c.carryOut(w, w.ledger.target(p, d.argument))
}

// stepAt returns the addresses of the objects that can be changed right before a step of the history.
func (c claim) stepAt(number int, want *result) []string {
	return want.claims[place{step, number}][c.kind]
}

// begin makes the change right before a step of the history.
func (c claim) begin(w *world, d disturbance) { c.carryOut(w, w.ledger.at(d.argument)) }

// maxClaims bounds, for each kind, how many objects other programs may claim right before a step.
const maxClaims = 4

// claimsAt returns the addresses of the objects that other programs may claim at this moment.
func (l *ledger) claimsAt() map[kind][]string {
	all := map[kind][]string{}
	for _, c := range claims() {
		for _, r := range l.records {
			if r.present && c.on(r) && len(all[c.kind]) < maxClaims {
				all[c.kind] = append(all[c.kind], l.address(r))
			}
		}
	}
	return all
}

func (c claim) carryOut(w *world, r *record) {
	if r == nil || !r.present || !c.on(r) {
		return
	}
	undo, err := c.do(w, r)
	w.tell("another program: %s is %s%s", r.name(), c.kind, failed(err))
	w.lookEverywhere(byUser)
	if err == nil {
		w.last(func() {
			undo()
			w.lookEverywhere(byUser)
		})
	}
}

const (
	foreignFinalizer = "explore.bowline.dev/finalizer"
	foreignName      = "explore-other" // the name of the other program's objects
)

// addFinalizer adds a finalizer to an object. undo removes it.
func addFinalizer(w *world, r *record) (undo func(), err error) {
	err = w.merge(r, map[string]any{"metadata": map[string]any{
		"resourceVersion": r.meta.ResourceVersion, "finalizers": append(slices.Clone(r.meta.Finalizers), foreignFinalizer),
	}})
	return func() {
		w.look(byProgram, r.of)
		if !r.present || !slices.Contains(r.meta.Finalizers, foreignFinalizer) {
			w.found("the finalizer that another program added to %s is lost", r.name())
			return
		}
		left := slices.DeleteFunc(slices.Clone(r.meta.Finalizers), func(f string) bool { return f == foreignFinalizer })
		err := w.merge(r, map[string]any{"metadata": map[string]any{"finalizers": left}})
		w.tell("another program: its finalizer is taken from %s%s", r.name(), failed(err))
	}, err
}

// addOwner makes an object of another program an owner of the object. undo deletes the owner.
func addOwner(w *world, r *record) (undo func(), err error) {
	owner, err := w.foreign(r.meta.Namespace)
	if err == nil {
		err = w.person(http.MethodPatch, pathOf(r.of, meta.KeyOf(&r.meta)), patch.JSONType, []map[string]any{
			{"op": "add", "path": "/metadata/ownerReferences/-", "value": referenceTo(owner, false)},
		}, nil)
	}
	return func() {
		w.look(byProgram, r.of)
		if r.present && !owner.owns(r) {
			w.found("the owner reference that another program added to %s is lost", r.name())
		}
		err := w.remove(owner)
		w.tell("another program: its owner of %s is deleted%s", r.name(), failed(err))
	}, err
}

// foreign makes an object of another program.
func (w *world) foreign(namespace string) (*record, error) {
	r := &record{of: meta.GVR{Version: "v1", Resource: "configmaps"}, made: byUser, present: true}
	w.mu.Lock()
	w.kinds[r.of] = true
	w.mu.Unlock()
	w.know(r.of)
	if namespace == "" {
		namespace = "default"
	}
	body := map[string]any{"metadata": map[string]any{"namespace": namespace, "generateName": foreignName + "-"}}
	var answer struct {
		Metadata meta.ObjectMeta `json:"metadata"`
	}
	err := w.person(http.MethodPost, pathOf(r.of, meta.Key{Namespace: namespace}), "application/json", body, &answer)
	r.meta = answer.Metadata
	return r, err
}

func referenceTo(owner *record, controller bool) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "name": owner.meta.Name, "uid": owner.meta.UID, "controller": controller,
	}
}
