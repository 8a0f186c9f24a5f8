package clienttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
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
	b, err := c.payload(metaGroup+"/v1", "DeleteOptions")
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

// read reads the options from the body of a request.
func (o *deleteOptions) read(body []byte) error {
	is, err := object.TypeOf(body)
	if err != nil {
		return status.BadRequest("%v", err)
	}
	if is.Kind != "" && is.Kind != "DeleteOptions" {
		return status.BadRequest("%v", noKind(is.Kind, cmp.Or(is.APIVersion, metaGroup+"/v1")))
	}
	type DeleteOptions deleteOptions // encoding/json has the name in its errors
	if err := json.Unmarshal(body, (*DeleteOptions)(o)); err != nil {
		return status.BadRequest("%v", err)
	}
	return nil
}

// parameters reads the options from the query of a request.
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

// finalizers returns the finalizers of an object that is deleted with the options. Events are not garbage collected, so the
// options do not affect theirs.
func (o *deleteOptions) finalizers(r *resource, have []string) []string {
	if r.Kind == "Event" && r.Builtin {
		return have
	}
	var wanted string
	switch p := o.PropagationPolicy; {
	case o.OrphanDependents != nil && *o.OrphanDependents, p != nil && *p == "Orphan":
		wanted = object.FinalizerOrphan
	case p != nil && *p == "Foreground":
		wanted = object.FinalizerForeground
	case o.OrphanDependents == nil && p == nil:
		return have
	}
	kept := slices.DeleteFunc(slices.Clone(have), func(f string) bool {
		return (f == object.FinalizerOrphan || f == object.FinalizerForeground) && f != wanted
	})
	if wanted != "" && !slices.Contains(kept, wanted) {
		kept = append(kept, wanted)
	}
	return kept
}

// check compares the preconditions with the object. As on a real server, the error names the kind where others name the resource.
func (o *deleteOptions) check(r *resource, v *object.Revision) error {
	fail := func(format string, args ...any) error {
		return status.Failure(http.StatusConflict, "Conflict", "Operation cannot be fulfilled on %s %q: %s",
			r.groupKind(), v.Key.Name, fmt.Sprintf(format, args...)).
			With(meta.StatusDetails{Name: v.Key.Name, Group: r.Group, Kind: r.Kind})
	}
	if uid := o.Preconditions.UID; uid != nil && *uid != v.UID {
		return fail("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been "+
			"deleted and then recreated", *uid, v.UID)
	}
	if version := o.Preconditions.ResourceVersion; version != nil && *version != strconv.FormatUint(v.Version, 10) {
		return fail("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%d). "+
			"The object might have been modified", *version, v.Version)
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
		answer := meta.Status{Status: "Success", Details: &meta.StatusDetails{
			Name: v.Key.Name, Group: c.res.Group, Kind: c.res.Resource.Resource, UID: v.UID,
		}}
		if c.s.options.DeletionVersions && !o.dryRun {
			answer.ResourceVersion = strconv.FormatUint(v.Version, 10)
		}
		writeStatus(w, answer)
		return nil
	}
	return c.writeObject(w, f, http.StatusOK, v)
}

func (c *call) deleteOne(o *deleteOptions) (_ *object.Revision, gone bool, _ error) {
	st := c.s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	cur := c.res.objects.tree.Get(object.PathOf(c.Key))
	if cur == nil {
		return nil, false, status.NotFound(c.res, c.Key.Name)
	}
	if err := o.check(c.res, cur); err != nil {
		return nil, false, err
	}
	if c.res == st.namespaces {
		switch cur.Key.Name {
		case "default", "kube-system", "kube-public":
			return nil, false, status.Forbidden(c.res, cur.Key.Name, "this namespace may not be deleted")
		}
		return st.terminate(cur, o), false, nil
	}
	v, gone := st.delete(c.res, cur, o)
	if gone && !o.dryRun {
		st.finishNamespaces(cur.Key.Namespace)
	}
	return v, gone, nil
}

// delete removes an object, or marks it as deleted if it has finalizers or is a pod on a node. It returns the state to show to
// the client. The store is locked.
func (s *store) delete(r *resource, cur *object.Revision, o *deleteOptions) (_ *object.Revision, gone bool) {
	old := cur.Draft()
	d := old.Clone()
	graceful, pending := false, false
	if r.graceful {
		if graceful, pending = o.grace(old, d); pending {
			return cur, false
		}
	}
	d.Meta.Finalizers = o.finalizers(r, old.Meta.Finalizers)
	waits := len(d.Meta.Finalizers) > 0
	if waits && !graceful {
		endAt(d, now(), 0)
	}
	if !cur.Deleting && d.Meta.DeletionTimestamp != nil && d.Meta.Generation > 0 {
		d.Meta.Generation++
	}
	if !d.SameAs(old) {
		if o.dryRun {
			cur = d.Revision(&r.Type, cur.Version)
		} else {
			cur = s.put(r, cur, d)
		}
	}
	switch {
	case waits, graceful && *d.Meta.DeletionGracePeriodSeconds > 0:
		return cur, false
	case o.dryRun:
		return cur, true
	}
	return s.remove(r, cur), true
}

// endAt records in an object when it ends, and the grace period before that.
func endAt(d *object.Draft, at meta.Time, grace int64) {
	if was := d.Meta.DeletionTimestamp; was == nil || was.After(at.Time) {
		d.Meta.DeletionTimestamp = &at
	}
	d.Meta.DeletionGracePeriodSeconds = &grace
}

// defaultGrace is the grace period in seconds of a pod that has none of its own. A real server writes it into the pod.
const defaultGrace = 30

// grace records in d, a copy of the pod old, when the pod ends. A pod that no kubelet runs ends at once. pending means that the
// pod is already ending, no later than requested. graceful is false if the pod must be removed at once.
func (o *deleteOptions) grace(old, d *object.Draft) (graceful, pending bool) {
	asked := o.GracePeriodSeconds
	if asked != nil && *asked < 0 {
		asked = new(int64(1))
	}
	was := old.Meta.DeletionGracePeriodSeconds
	switch {
	case old.Meta.DeletionTimestamp == nil:
		seconds := gracePeriod(old, asked)
		endAt(d, meta.Time{Time: now().Add(time.Duration(seconds) * time.Second)}, seconds)
		return true, false
	case was == nil:
		return false, false
	case asked == nil || *asked >= *was:
		return true, true
	}
	told := old.Meta.DeletionTimestamp.Add(-time.Duration(*was) * time.Second)
	endAt(d, meta.Time{Time: told.Add(time.Duration(*asked) * time.Second)}, *asked)
	return true, false
}

// gracePeriod returns the remaining seconds of a pod.
func gracePeriod(d *object.Draft, asked *int64) int64 {
	phase := jsontree.Lookup(d.Content, "status.phase")
	if jsontree.Lookup(d.Content, "spec.nodeName") == "" || phase == "Succeeded" || phase == "Failed" {
		return 0
	}
	if asked != nil {
		return *asked
	}
	seconds, err := strconv.ParseInt(jsontree.Lookup(d.Content, "spec.terminationGracePeriodSeconds"), 10, 64)
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
	lo, err := c.listOptions(sel)
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

func (c *call) deleteAll(vs []*object.Revision, o *deleteOptions) {
	c.s.store.mu.Lock()
	defer c.s.store.mu.Unlock()
	for _, v := range vs {
		cur := c.res.objects.tree.Get(v.Path)
		if cur == nil || o.check(c.res, cur) != nil || o.dryRun {
			continue
		}
		if _, gone := c.s.store.delete(c.res, cur, o); gone {
			c.s.store.finishNamespaces(cur.Key.Namespace)
		}
	}
}

// warnFinalizers warns of new finalizers of a custom resource whose names are not qualified.
func (c *call) warnFinalizers(w http.ResponseWriter, finalizers, before []string) {
	if c.res.Builtin {
		return
	}
	for _, f := range slices.Compact(slices.Sorted(slices.Values(finalizers))) {
		if !object.Unqualified(f) || slices.Contains(before, f) {
			continue
		}
		path := ""
		if strings.Contains(f, ".") {
			path = "including a path (/) "
		}
		text := fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name %sto avoid accidental conflicts with "+
			"other finalizer writers", f, path)
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", text))
	}
}
