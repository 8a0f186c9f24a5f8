package clienttest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/admission"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/patching"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// hooksOf returns the webhooks of all objects of a resource, which are configurations, in the order of their names.
func (a *api) hooksOf(tx store.Tx, configurations *resource) (all []*hook) {
	read := make(map[*object.Revision][]*hook)
	for v := range tx.Objects(configurations.objects, "") {
		hooks, known := configurations.hooks[v]
		if !known {
			hooks = a.readHooks(v)
		}
		read[v] = hooks
		all = append(all, hooks...)
	}
	configurations.hooks = read
	return all
}

// hook is a webhook with its compiled matchConditions, which are nil if it has none.
type hook struct {
	*admission.Hook
	conditions CompiledPolicy
}

// readHooks reads the webhooks of a configuration.
func (a *api) readHooks(configuration *object.Revision) (all []*hook) {
	hooks, _ := admission.Read(configuration.Raw) // it was checked when it was written
	for _, h := range hooks {
		is := &hook{Hook: h}
		if len(h.MatchConditions) > 0 && a.options.Rules != nil {
			is.conditions, _ = a.options.Rules.CompilePolicy(policyOfConditions(h.MatchConditions, h.FailurePolicy))
		}
		all = append(all, is)
	}
	return all
}

// shows returns the version in which a webhook sees the operation; false if it does not see it.
func (q *question) shows(h *hook) (v admission.Version, shown bool, _ error) {
	namespace, in, is, was := q.labels()
	if h.Selects(in, is, was) {
		v, shown = h.Matches(q.Operation, q.Subresource, namespace, q.versions())
	}
	if !shown || h.conditions == nil {
		return v, shown, nil
	}
	input, err := q.input(v, nil)
	if err != nil {
		return v, false, err
	}
	if shown, err = h.conditions.Matches(q.c.r.Context(), input); err != nil {
		err = status.Forbidden(q.c.res, q.Key.Name, "%v", err)
	}
	return v, shown, err
}

// constrained returns what shows returns, for a policy or its binding.
func (q *question) constrained(by *admission.Constraint) (admission.Version, bool) {
	namespace, in, is, was := q.labels()
	if by == nil || !by.Selects(in, is, was) {
		return admission.Version{}, false
	}
	return by.Matches(q.Operation, q.Subresource, namespace, q.Key.Name, q.versions())
}

// labels returns the labels that selectors match, and the name of the namespace: in are the labels of the namespace, is
// and was those of the object after and before the operation.
func (q *question) labels() (namespace string, in, is, was admission.Labels) {
	namespace, in, is, was = q.Key.Namespace, q.namespace, labelsOf(q.Object), labelsOf(q.OldObject)
	if q.c.res == q.c.namespaces {
		namespace = q.Key.Name
		if q.Subresource == "" && q.Operation != remove {
			in = is
		}
	}
	return namespace, in, is, was
}

// labelsOf returns the labels of an object; nil if there is none.
func labelsOf(raw []byte) admission.Labels {
	d, err := object.Parse(raw)
	if err != nil || d.Meta.Name == "" && d.Meta.GenerateName == "" {
		return nil
	}
	return &d.Meta.Labels
}

// versions returns the versions of the resource; that of the request is the first.
func (q *question) versions() []admission.Version {
	all := []admission.Version{{Resource: q.c.res.GVR(), Kind: q.Kind}}
	for _, r := range q.c.registry.registered() {
		if r != q.c.res && r.definedBy != "" && r.definedBy == q.c.res.definedBy {
			all = append(all, admission.Version{Resource: r.GVR(), Kind: r.kindOf(q.Subresource)})
		}
	}
	return all
}

// as returns an object in the version that a webhook sees.
func (q *question) as(v admission.Version, raw []byte) ([]byte, error) {
	r := q.c.registry.named(v.Resource)
	if v.Kind == q.Kind || len(raw) == 0 || r == nil {
		return raw, nil
	}
	return q.in(r, raw)
}

// in returns an object of any version of a custom resource in another.
func (q *question) in(r *resource, raw []byte) ([]byte, error) {
	d, err := object.Parse(raw)
	if err != nil {
		return nil, err
	}
	all, err := q.c.convert(q.c.r.Context(), r, []*object.Draft{d})
	if err != nil {
		return nil, err
	}
	return r.shown(all[0]), nil
}

// request returns the request that a webhook gets.
func (q *question) request(v admission.Version) (*admission.Request, error) {
	r := &admission.Request{
		UID: newUID(), Name: q.Key.Name, Namespace: q.Key.Namespace, Operation: q.Operation, User: q.User,
		DryRun: q.DryRun, Options: q.Parameters,
	}
	if q.c.res == q.c.namespaces {
		r.Namespace = q.Key.Name
	}
	if q.Verb == "deletecollection" {
		r.Name = "" // as on a real server
	}
	r.As(v, admission.Version{Resource: q.c.res.GVR(), Kind: q.Kind}, q.Subresource)
	var err, also error
	r.Object, err = q.as(v, q.Object)
	r.OldObject, also = q.as(v, q.OldObject)
	return r, errors.Join(err, also)
}

// ask asks one webhook. The answer is nil if the webhook could not be asked and its failure policy ignores that.
func (q *question) ask(h *hook, v admission.Version, mutating bool) (*admission.Answer, error) {
	r, err := q.request(v)
	if err != nil {
		return nil, internalError(err)
	}
	a, err := q.c.caller.Ask(q.c.r.Context(), h.Hook, r, mutating)
	if failed, ok := errors.AsType[*admission.Failed](err); ok {
		if h.FailurePolicy == "Ignore" {
			return nil, nil
		}
		return nil, internalError(failed)
	}
	return a, err
}

// internalError returns the error for a failure of the server itself. The error names the reason twice.
func internalError(why error) error {
	return status.Failure(http.StatusInternalServerError, "InternalError", "Internal error occurred: %v", why).
		With(meta.StatusDetails{Causes: []meta.StatusCause{{Message: why.Error()}}})
}

// mutateByHooks asks the webhooks one after the other. If one changes the object, those before it whose policy of
// reinvocation is IfNeeded are asked a second time.
func (q *question) mutateByHooks() error {
	var asked, again []*hook
	for round := range 2 {
		for _, h := range q.hooks {
			v, shown, err := q.shows(h)
			if err != nil {
				return err
			}
			if !shown || round == 1 && !slices.Contains(again, h) {
				continue
			}
			changed, err := q.mutateBy(h, v)
			if err != nil {
				return err
			}
			if changed {
				again, asked = append(again, asked...), nil
			}
			if h.ReinvocationPolicy == "IfNeeded" {
				asked = append(asked, h)
			}
		}
		if len(again) == 0 {
			break
		}
	}
	return nil
}

// mutateBy asks one webhook, and changes the object as it says.
func (q *question) mutateBy(h *hook, v admission.Version) (changed bool, _ error) {
	a, err := q.ask(h, v, true)
	if a != nil {
		q.warn(a)
	}
	if err != nil || a == nil || len(a.Patch) == 0 || string(a.Patch) == "[]" {
		return false, err
	}
	if len(q.Object) == 0 {
		return false, internalError(fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", h.Name))
	}
	shown, err := q.as(v, q.Object)
	if err != nil {
		return false, internalError(err)
	}
	patched, err := patching.Patched(shown, a.Patch)
	if err != nil {
		return false, internalError(err)
	}
	was := string(q.Object)
	if q.Object = patched; v.Kind != q.Kind {
		q.Object, err = q.in(q.c.res, patched)
	}
	if err == nil {
		err = q.normalize()
	}
	if err != nil {
		return false, internalError(err)
	}
	return string(q.Object) != was, nil
}

// validateByHooks asks all webhooks at once.
func (q *question) validateByHooks() error {
	var group sync.WaitGroup
	errs, answers := make([]error, len(q.hooks)), make([]*admission.Answer, len(q.hooks))
	for i, h := range q.hooks {
		v, shown, err := q.shows(h)
		if errs[i] = err; shown && err == nil {
			group.Go(func() { answers[i], errs[i] = q.ask(h, v, false) })
		}
	}
	group.Wait()
	for _, a := range answers {
		if a != nil {
			q.warn(a)
		}
	}
	for _, err := range errs {
		if err != nil {
			return err // a real server returns the first one that comes
		}
	}
	return nil
}

// warn passes on the warnings of a webhook.
func (q *question) warn(a *admission.Answer) {
	for _, text := range a.Warnings {
		q.c.warn("%s", text)
	}
}
