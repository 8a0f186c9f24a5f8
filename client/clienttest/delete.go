package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

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
	body, media, err := readBody(c.r, mediaJSON, mediaProtobuf)
	if err == nil && media == mediaProtobuf && len(body) > 0 {
		if body, err = protobufToJSON(body, protoDeleteOptions()); err != nil {
			err = badRequest("%v", err)
		}
	}
	if err != nil {
		return nil, err
	}
	o := &deleteOptions{}
	if len(body) > 0 {
		if err := json.Unmarshal(body, o); err != nil {
			return nil, badRequest("couldn't get version/kind; json parse error: %v", err)
		}
		if o.Kind != "" && o.Kind != "DeleteOptions" {
			return nil, badRequest("no kind %q is registered for version %q here", o.Kind, o.APIVersion)
		}
	} else {
		if s := c.query.Get("gracePeriodSeconds"); s != "" {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				return nil, badRequest("%v", err)
			}
			o.GracePeriodSeconds = &n
		}
		if s := c.query.Get("propagationPolicy"); s != "" {
			o.PropagationPolicy = &s
		}
		o.DryRun = c.query["dryRun"]
	}
	if p := o.PropagationPolicy; p != nil {
		switch *p {
		case "Foreground", "Background", "Orphan":
		default:
			return nil, invalidOptions("DeleteOptions",
				unsupportedValue("propagationPolicy", *p, "Foreground", "Background", "Orphan", "nil"))
		}
	}
	o.dryRun, err = dryRun("DeleteOptions", o.DryRun)
	return o, err
}

// check compares the preconditions with the object. The error names the kind where others name the resource, as it
// does on a real server.
func (o *deleteOptions) check(r *resource, v *revision) error {
	fail := func(format string, args ...any) error {
		return failure(http.StatusConflict, "Conflict", "Operation cannot be fulfilled on %s %q: %s",
			r.groupKind(), v.key.Name, fmt.Sprintf(format, args...)).
			with(meta.StatusDetails{Name: v.key.Name, Group: r.Group, Kind: r.Kind})
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
	f, err := formOf(c.r, false)
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
	if gone && !c.res.returnDeleted {
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
		return nil, false, notFound(c.res, c.Key.Name)
	}
	if err := o.check(c.res, cur); err != nil {
		return nil, false, err
	}
	if c.res == st.namespaces {
		switch cur.key.Name {
		case "default", "kube-system", "kube-public":
			return nil, false, forbidden(c.res, cur.key.Name, "this namespace may not be deleted")
		}
		v := st.terminate(cur, o.dryRun)
		return v, false, nil
	}
	v, gone := st.delete(c.res, cur, o.dryRun)
	if gone && !o.dryRun {
		st.finishNamespaces(cur.key.Namespace)
	}
	return v, gone, nil
}

// delete removes an object, or marks it where finalizers keep it. It returns the state that the client is shown.
func (s *store) delete(r *resource, cur *revision, dryRun bool) (_ *revision, gone bool) {
	old := cur.draft()
	waits := len(old.meta.Finalizers) > 0
	if waits && cur.deleting {
		return cur, false
	}
	if waits || r.graceful {
		d := old.clone()
		deleted, grace := now(), int64(0)
		d.meta.DeletionTimestamp, d.meta.DeletionGracePeriodSeconds = &deleted, &grace
		if d.meta.Generation > 0 {
			d.meta.Generation++
		}
		if dryRun {
			return d.revision(r, cur.version), !waits
		}
		cur = s.put(r, cur, d)
	}
	if waits {
		return cur, false
	}
	if dryRun {
		return cur, true
	}
	return s.remove(r, cur), true
}

func (c *call) deleteCollection(w http.ResponseWriter) error {
	f, err := formOf(c.r, true)
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
		if _, gone := c.s.store.delete(c.res, cur, false); gone {
			c.s.store.finishNamespaces(cur.key.Namespace)
		}
	}
}
