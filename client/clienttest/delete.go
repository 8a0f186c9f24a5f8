package clienttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/protobuf"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// deleteOptions are the DeleteOptions of the API, in the body or as parameters.
type deleteOptions struct {
	meta.TypeMeta      `json:",inline"`
	GracePeriodSeconds *int64   `json:"gracePeriodSeconds"`
	OrphanDependents   *bool    `json:"orphanDependents"`
	PropagationPolicy  *string  `json:"propagationPolicy"`
	DryRun             []string `json:"dryRun"`
	Preconditions      struct {
		UID             *string `json:"uid"`
		ResourceVersion *string `json:"resourceVersion"`
	} `json:"preconditions"`

	dryRun bool
}

func (c *call) deleteOptions() (*deleteOptions, error) {
	b, err := c.payload(protobuf.DeleteOptions())
	if err != nil {
		return nil, err
	}
	if b.wrong != nil {
		return nil, status.BadRequest("%v", b.wrong)
	}
	o := &deleteOptions{}
	if len(b.sent) > 0 {
		err = o.read(b.json)
	} else {
		err = o.parameters(c.query)
	}
	if err != nil {
		return nil, err
	}
	return o, o.validate()
}

// read takes the options from the body of a request.
func (o *deleteOptions) read(body []byte) error {
	is, err := typeOf(body)
	if err != nil {
		return status.BadRequest("%v", err)
	}
	if is.Kind != "" && is.Kind != "DeleteOptions" {
		return status.BadRequest("%v", noKind(is.Kind, cmp.Or(is.APIVersion, metaGroup+"/v1")))
	}
	type DeleteOptions deleteOptions // the name is in the errors of encoding/json
	if err := json.Unmarshal(body, (*DeleteOptions)(o)); err != nil {
		return status.BadRequest("%v", err)
	}
	return nil
}

// parameters takes the options from the query of a request.
func (o *deleteOptions) parameters(query url.Values) error {
	if s := query.Get("gracePeriodSeconds"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return status.BadRequest("%v", err)
		}
		o.GracePeriodSeconds = &n
	}
	if s := query.Get("propagationPolicy"); s != "" {
		o.PropagationPolicy = &s
	}
	if query.Get("orphanDependents") != "" {
		orphan := isTrue(query, "orphanDependents")
		o.OrphanDependents = &orphan
	}
	o.DryRun = query["dryRun"]
	return nil
}

// validate returns everything that is wrong with the options.
func (o *deleteOptions) validate() error {
	var causes []meta.StatusCause
	if p := o.PropagationPolicy; p != nil {
		if o.OrphanDependents != nil {
			causes = append(causes, status.InvalidValue("propagationPolicy", *p, "orphanDependents and deletionPropagation cannot be both set"))
		}
		switch *p {
		case "Foreground", "Background", "Orphan":
		default:
			causes = append(causes, status.UnsupportedValue("propagationPolicy", *p, "Foreground", "Background", "Orphan", "nil"))
		}
	}
	var bad bool
	if o.dryRun, bad = readDryRun(o.DryRun); bad {
		causes = append(causes, status.UnsupportedValue("dryRun", o.DryRun, "All"))
	}
	if len(causes) > 0 {
		return status.InvalidOptions("DeleteOptions", causes...)
	}
	return nil
}

// The finalizers with which a real server asks its garbage collector to look after the dependents of an object.
const (
	finalizerOrphan     = "orphan"
	finalizerForeground = "foregroundDeletion"
)

// finalizers returns what the options make of the finalizers of an object that they delete. Nobody collects garbage behind an
// event, so the options say nothing about those.
func (o *deleteOptions) finalizers(r *resource, have []string) []string {
	if r.Kind == "Event" && r.builtin {
		return have
	}
	var wanted string
	switch p := o.PropagationPolicy; {
	case o.OrphanDependents != nil && *o.OrphanDependents, p != nil && *p == "Orphan":
		wanted = finalizerOrphan
	case p != nil && *p == "Foreground":
		wanted = finalizerForeground
	case o.OrphanDependents == nil && p == nil:
		return have
	}
	kept := slices.DeleteFunc(slices.Clone(have), func(f string) bool {
		return (f == finalizerOrphan || f == finalizerForeground) && f != wanted
	})
	if wanted != "" && !slices.Contains(kept, wanted) {
		kept = append(kept, wanted)
	}
	return kept
}

// check compares the preconditions with the object. The error names the kind where others name the resource, as it
// does on a real server.
func (o *deleteOptions) check(r *resource, v *revision) error {
	fail := func(format string, args ...any) error {
		return status.Failure(http.StatusConflict, "Conflict", "Operation cannot be fulfilled on %s %q: %s",
			r.groupKind(), v.key.Name, fmt.Sprintf(format, args...)).
			With(meta.StatusDetails{Name: v.key.Name, Group: r.Group, Kind: r.Kind})
	}
	if uid := o.Preconditions.UID; uid != nil && *uid != v.uid {
		return fail("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been "+
			"deleted and then recreated", *uid, v.uid)
	}
	if version := o.Preconditions.ResourceVersion; version != nil && *version != strconv.FormatUint(v.version, 10) {
		return fail("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%d). "+
			"The object might have been modified", *version, v.version)
	}
	return nil
}

func (c *call) delete(w http.ResponseWriter) error {
	f, err := c.formOf(false)
	if err != nil {
		return err
	}
	o, err := c.deleteOptions()
	if err != nil {
		return err
	}
	v, gone, err := c.deleteOne(o)
	if err != nil {
		return err
	}
	if gone && !c.res.ReturnDeleted {
		writeStatus(w, meta.Status{Status: "Success", Details: &meta.StatusDetails{
			Name: v.key.Name, Group: c.res.Group, Kind: c.res.Resource.Resource, UID: v.uid,
		}})
		return nil
	}
	return c.writeObject(w, f, http.StatusOK, v)
}

func (c *call) deleteOne(o *deleteOptions) (_ *revision, gone bool, _ error) {
	st := c.s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	cur := c.res.objects.tree.get(pathOf(c.Key))
	if cur == nil {
		return nil, false, status.NotFound(c.res, c.Key.Name)
	}
	if err := o.check(c.res, cur); err != nil {
		return nil, false, err
	}
	if c.res == st.namespaces {
		switch cur.key.Name {
		case "default", "kube-system", "kube-public":
			return nil, false, status.Forbidden(c.res, cur.key.Name, "this namespace may not be deleted")
		}
		return st.terminate(cur, o), false, nil
	}
	v, gone := st.delete(c.res, cur, o)
	if gone && !o.dryRun {
		st.finishNamespaces(cur.key.Namespace)
	}
	return v, gone, nil
}

// delete removes an object, or marks it where something keeps it: finalizers, or the time that a pod has on its node. It
// returns the state that the client is shown. The store is locked.
func (s *store) delete(r *resource, cur *revision, o *deleteOptions) (_ *revision, gone bool) {
	old := cur.draft()
	d := old.clone()
	graceful, pending := false, false
	if r.graceful {
		if graceful, pending = o.grace(old, d); pending {
			return cur, false
		}
	}
	d.meta.Finalizers = o.finalizers(r, old.meta.Finalizers)
	waits := len(d.meta.Finalizers) > 0
	if waits && !graceful {
		d.end(now(), 0)
	}
	if !cur.deleting && d.meta.DeletionTimestamp != nil && d.meta.Generation > 0 {
		d.meta.Generation++
	}
	if !d.sameAs(old) {
		if o.dryRun {
			cur = d.revision(r, cur.version)
		} else {
			cur = s.put(r, cur, d)
		}
	}
	switch {
	case waits, graceful && *d.meta.DeletionGracePeriodSeconds > 0:
		return cur, false
	case o.dryRun:
		return cur, true
	}
	return s.remove(r, cur), true
}

// end notes in an object when it ends, and how long before that it was told so.
func (d *draft) end(at meta.Time, grace int64) {
	if was := d.meta.DeletionTimestamp; was == nil || was.After(at.Time) {
		d.meta.DeletionTimestamp = &at
	}
	d.meta.DeletionGracePeriodSeconds = &grace
}

// defaultGrace is how many seconds a pod has to end that does not say it. A real server writes them into the pod.
const defaultGrace = 30

// grace notes in d, a copy of the pod old, when it ends. A pod that no kubelet runs ends at once. pending means that it ends
// already, and not later than is asked for; graceful is false where it has to go whatever it says.
func (o *deleteOptions) grace(old, d *draft) (graceful, pending bool) {
	asked := o.GracePeriodSeconds
	if asked != nil && *asked < 0 {
		asked = new(int64(1))
	}
	was := old.meta.DeletionGracePeriodSeconds
	switch {
	case old.meta.DeletionTimestamp == nil:
		seconds := old.gracePeriod(asked)
		d.end(meta.Time{Time: now().Add(time.Duration(seconds) * time.Second)}, seconds)
		return true, false
	case was == nil:
		return false, false
	case asked == nil || *asked >= *was:
		return true, true
	}
	told := old.meta.DeletionTimestamp.Add(-time.Duration(*was) * time.Second)
	d.end(meta.Time{Time: told.Add(time.Duration(*asked) * time.Second)}, *asked)
	return true, false
}

// gracePeriod returns how many seconds a pod has from now.
func (d *draft) gracePeriod(asked *int64) int64 {
	phase := jsontree.Lookup(d.content, "status.phase")
	if jsontree.Lookup(d.content, "spec.nodeName") == "" || phase == "Succeeded" || phase == "Failed" {
		return 0
	}
	if asked != nil {
		return *asked
	}
	seconds, err := strconv.ParseInt(jsontree.Lookup(d.content, "spec.terminationGracePeriodSeconds"), 10, 64)
	if err != nil {
		return defaultGrace
	}
	return max(seconds, 0)
}

func (c *call) deleteCollection(w http.ResponseWriter) error {
	f, err := c.formOf(true)
	if err != nil {
		return err
	}
	sel, err := c.selection()
	if err != nil {
		return err
	}
	lo, err := c.listOptions()
	if err != nil {
		return err
	}
	o, err := c.deleteOptions()
	if err != nil {
		return err
	}
	p, err := c.page(sel, lo)
	if err != nil {
		return err
	}
	c.deleteAll(p.items, o)
	return c.writeList(w, f, p)
}

func (c *call) deleteAll(vs []*revision, o *deleteOptions) {
	c.s.store.mu.Lock()
	defer c.s.store.mu.Unlock()
	for _, v := range vs {
		cur := c.res.objects.tree.get(v.path)
		if cur == nil || o.check(c.res, cur) != nil || o.dryRun {
			continue
		}
		if _, gone := c.s.store.delete(c.res, cur, o); gone {
			c.s.store.finishNamespaces(cur.key.Namespace)
		}
	}
}
