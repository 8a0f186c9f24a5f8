package clienttest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/admission"
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// Admission decides about an operation before it takes effect. The server first asks the functions and webhooks that
// may change the object. When the object is as it will be stored, the server asks those that may only refuse it. They
// may take their time and call the server, so they run without the lock of the store, and an update begins again if the
// object has changed in the meantime.

// Admission is an operation that [Options.Admit] and [Options.Validate] decide about.
type Admission struct {
	// Operation is CREATE, UPDATE, DELETE or CONNECT. CONNECT is a request for a container of a pod.
	Operation string
	// Request is the request. A deletecollection asks about each object, with its key.
	Request
	// Kind is the kind of Object. For some subresources, such as scale and eviction, it is not the kind of the
	// resource.
	Kind meta.GVK
	// User has sent the request.
	User User
	// Object is the object as it would be after the operation; nil for DELETE. OldObject is the object before an UPDATE
	// or a DELETE. Both are JSON.
	Object, OldObject json.RawMessage
	// Parameters are the CreateOptions, UpdateOptions or DeleteOptions of the request, as JSON; nil for CONNECT.
	Parameters json.RawMessage
	// DryRun says that the operation will have no effect.
	DryRun bool
}

// question is an operation on its way through admission.
type question struct {
	Admission
	c         *call
	stored    bool   // Object is one of the resource's
	checked   func() // turns the objects into those that validation sees; may be nil
	hooks     []*hook
	namespace admission.Labels // nil if the object has no namespace
	home      []byte           // the object of its namespace

	bound []bound // the policies that apply
}

const create, update, remove, connect = "CREATE", "UPDATE", "DELETE", "CONNECT"

// errMoved says that the object has changed while admission was asked, so the write must begin again.
var errMoved = errors.New("the object has changed")

// write calls do in a transaction, and again each time that it returns errMoved.
func (c *call) write(do func(tx store.Tx) error) error {
	tx := c.store.Begin()
	defer tx.End()
	before := slices.Clone(c.w.Header()["Warning"])
	for range 100 {
		if err := do(tx); err != errMoved {
			return err
		}
		c.w.Header()["Warning"] = slices.Clone(before)
	}
	return status.Failure(http.StatusGatewayTimeout, "Timeout", "Timeout: request did not complete within requested timeout - "+
		"the object has changed each time while admission was asked").With(meta.StatusDetails{})
}

// asks reports whether admission has anything that decides about the request.
func (c *call) asks(tx store.Tx) bool {
	return !c.internal && (c.options.Admit != nil || c.options.Validate != nil ||
		tx.Count(c.mutatingHooks.objects)+tx.Count(c.validatingHooks.objects)+tx.Count(c.policyBindings.objects) > 0)
}

// outside calls f without the lock of the store. It returns errMoved if cur, which may be nil, is not the present state
// of the object afterwards.
func (c *call) outside(tx store.Tx, cur *object.Revision, f func() error) error {
	var err error
	tx.Outside(func() { err = f() })
	if err != nil {
		return err
	}
	select {
	case <-c.res.objects.Gone():
		return errMoved
	default:
	}
	if cur != nil && tx.Get(c.res.objects, cur.Key) != cur {
		return errMoved
	}
	return nil
}

// admit returns the object that a create, or an update of cur, writes after functions and webhooks have changed it.
// Nobody owns the fields that they change.
func (c *call) admit(tx store.Tx, cur *object.Revision, old, d *object.Draft, o *writeOptions) (*object.Draft, error) {
	if o.admitted || !c.asks(tx) {
		return d, nil
	}
	d = d.Clone()
	d.Content, _ = jsontree.Clone(d.Content).(jsontree.Object)
	if old == nil {
		m := &d.Meta
		o.name = m.Name
		m.UID, m.CreationTimestamp, m.DeletionTimestamp, m.DeletionGracePeriodSeconds = "", meta.Time{}, nil, nil
	}
	if c.res.prepare != nil && c.Subresource == "" {
		c.res.prepare(d, old == nil)
	}
	if !o.owned {
		meant := d.Clone()
		if old != nil {
			meant = c.next(old, meant)
		}
		c.res.Fill(meant)
		c.own(meant, meant, old, o.manager)
		d.Meta.ManagedFields, o.owned = meant.Meta.ManagedFields, true
	}
	if c.res.admit != nil {
		if err := c.res.admit(c, tx, old, d, o.dryRun); err != nil {
			return nil, err
		}
	}
	q := c.askAbout(tx, cur, d, *o, c.mutatingHooks)
	if err := c.outside(tx, cur, q.mutate); err != nil {
		return nil, err
	}
	next, err := object.Parse(q.Object)
	if err == nil {
		err = next.Normalize(&c.res.Type)
	}
	if err == nil {
		c.uniteOwners(next, "duplicate entries after mutating admission happens")
		err = c.settle(next)
	}
	if err == nil && cur != nil {
		err = c.checkName(next.Meta.Name)
	}
	return next, err
}

// validate asks about an object as it will be stored.
func (c *call) validate(tx store.Tx, cur *object.Revision, d *object.Draft, o writeOptions) error {
	if o.admitted || !c.asks(tx) {
		return nil
	}
	q := c.askAbout(tx, cur, d, o, c.validatingHooks)
	q.bound = q.policiesFor(tx)
	if err := c.outside(tx, cur, q.validate); err != nil {
		return err
	}
	if c.res.allocates && !o.dryRun { // another object may have been given the same in the meantime
		var old *object.Draft
		if cur != nil {
			old = cur.Draft()
		}
		if c.res.settle(c, tx, old, d, o.dryRun) != nil {
			return errMoved
		}
	}
	return nil
}

// askAbout returns the question about a create, or an update of cur, that results in d.
func (c *call) askAbout(tx store.Tx, cur *object.Revision, d *object.Draft, o writeOptions, hooks *resource) *question {
	q := c.question(tx, hooks)
	q.stored, q.DryRun, q.Key.Name = true, o.dryRun, cmp.Or(o.name, d.Meta.Name)
	if cur != nil {
		q.Operation, q.OldObject = update, cur.Raw
	}
	q.Object = c.res.shown(d)
	q.Parameters = c.writeParameters(q.Operation)
	q.inNamespace(tx)
	return q
}

// shown returns a draft as admission sees it.
func (r *resource) shown(d *object.Draft) json.RawMessage {
	d = d.Clone()
	r.Fill(d)
	version, _ := strconv.ParseUint(d.Meta.ResourceVersion, 10, 64) // 0, which means no version, if it is not a number
	return d.Revision(&r.Type, version).Raw
}

// question returns a question about the request, without objects. Its operation is a create until the caller sets
// another one.
func (c *call) question(tx store.Tx, hooks *resource) *question {
	q := &question{c: c, Admission: Admission{
		Operation: create, Request: c.Request, Kind: c.res.kindOf(c.Subresource), User: c.user,
	}}
	if !c.exempt() {
		q.hooks = c.hooksOf(tx, hooks)
	}
	return q
}

// inNamespace reads the labels of the namespace that the object is in. A Namespace object counts as an object in
// itself.
func (q *question) inNamespace(tx store.Tx) {
	name := q.Key.Namespace
	if q.c.res == q.c.namespaces {
		name = q.Key.Name
	}
	if name == "" {
		return
	}
	q.namespace = &map[string]string{}
	if v := tx.Get(q.c.namespaces.objects, meta.Key{Name: name}); v != nil {
		q.namespace = &v.Labels
		if q.c.res != q.c.namespaces {
			q.home = v.Raw
		}
	}
}

// exempt reports whether webhooks are never asked about the resource: on a real server they could lock everybody out.
func (c *call) exempt() bool {
	return c.res.Group == "admissionregistration.k8s.io" || c.virtual()
}

// virtual reports whether the resource is one of questions about users, which admission is never asked about.
func (c *call) virtual() bool {
	return c.res.Group == "authentication.k8s.io" || c.res.Group == "authorization.k8s.io"
}

// mutate asks the function and the webhooks that may change the object.
func (q *question) mutate() error {
	if admit := q.c.options.Admit; admit != nil {
		was := string(q.Object)
		if err := admit(q.c.r.Context(), &q.Admission); err != nil {
			return q.refused(err)
		}
		if err := q.normalize(); err != nil {
			return fmt.Errorf("the object that Options.Admit has changed from %s: %w", was, err)
		}
	}
	return q.mutateByHooks()
}

// validate asks the function, the policies and the webhooks that may only refuse the operation.
func (q *question) validate() error {
	if validate := q.c.options.Validate; validate != nil {
		a := q.Admission
		if err := validate(q.c.r.Context(), &a); err != nil {
			return q.refused(err)
		}
	}
	if err := q.validateByPolicies(); err != nil {
		return err
	}
	return q.validateByHooks()
}

// refused returns the error of an operation that a function refuses.
func (q *question) refused(why error) error {
	return status.Forbidden(q.c.res, q.Key.Name, "%v", why)
}

// normalize completes an object that admission has changed, as the server completes one from a client. In a built-in
// kind it also drops unknown members.
func (q *question) normalize() error {
	if !q.stored || len(q.Object) == 0 {
		return nil
	}
	d, err := object.Parse(q.Object)
	if err != nil {
		return err
	}
	if q.c.res.Builtin {
		q.c.res.fields().Prune(d.Content)
	}
	if err := d.Normalize(&q.c.res.Type); err != nil {
		return err
	}
	q.Object = q.c.res.shown(d)
	return nil
}

// both asks both halves of admission about an operation whose object is not stored as it is. It returns the object as
// the first half has changed it.
func (c *call) both(tx store.Tx, cur *object.Revision, fill func(q *question)) (json.RawMessage, error) {
	if !c.asks(tx) {
		return nil, nil
	}
	mutating := c.question(tx, c.mutatingHooks)
	fill(mutating)
	mutating.inNamespace(tx)
	if err := c.outside(tx, cur, mutating.mutate); err != nil {
		return nil, err
	}
	validating := c.question(tx, c.validatingHooks)
	fill(validating)
	if validating.Object = mutating.Object; validating.checked != nil {
		validating.checked()
	}
	validating.inNamespace(tx)
	validating.bound = validating.policiesFor(tx)
	return mutating.Object, c.outside(tx, cur, validating.validate)
}
