package clienttest

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/ownership"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// writeOptions are the parameters of a create, an update and a patch.
type writeOptions struct {
	dryRun  bool
	force   bool // of an apply
	manager string
	owned   bool // managedFields are already right
}

// writeOptions reads the parameters. wrong are the errors of the kind's own parameters.
func (c *call) writeOptions(kind string, wrong ...meta.StatusCause) (o writeOptions, _ error) {
	manager := c.query.Get("fieldManager")
	if len(manager) > managerMax {
		wrong = append(wrong, meta.StatusCause{
			Reason: "FieldValueTooLong", Field: "fieldManager",
			Message: fmt.Sprintf("Too long: may not be more than %d bytes", managerMax),
		})
	}
	for i, r := range manager {
		if !unicode.IsPrint(r) {
			wrong = append(wrong, status.InvalidValue("fieldManager", manager, fmt.Sprintf("invalid character %#U (at position %d)", r, i)))
		}
	}
	values := c.query["dryRun"]
	var bad bool
	if o.dryRun, bad = readDryRun(values); bad {
		wrong = append(wrong, status.UnsupportedValue("dryRun", values, "All"))
	}
	switch v := c.query.Get("fieldValidation"); v {
	case "", "Ignore", "Warn", "Strict":
	default:
		wrong = append(wrong, status.UnsupportedValue("fieldValidation", v, "", "Ignore", "Strict", "Warn"))
	}
	if len(wrong) > 0 {
		return o, status.InvalidOptions(kind, wrong...)
	}
	o.force, o.manager = isTrue(c.query, "force"), managerOf(manager, c.r.UserAgent())
	return o, nil
}

// patchOptions is writeOptions for a patch, which must be well-formed too.
func (c *call) patchOptions(media string, body []byte) (writeOptions, error) {
	var wrong []meta.StatusCause
	switch {
	case media == mediaApply && c.query.Get("fieldManager") == "":
		wrong = append(wrong, status.RequiredValue("fieldManager", "is required for apply patch"))
	case media != mediaApply && c.query.Has("force"):
		wrong = append(wrong, status.ForbiddenValue("force", "may not be specified for non-apply patch"))
	}
	o, err := c.writeOptions("PatchOptions", wrong...)
	if err != nil {
		return o, err
	}
	return o, checkSyntax(media, body)
}

func readDryRun(values []string) (dry, bad bool) {
	return len(values) > 0, slices.ContainsFunc(values, func(v string) bool { return v != "All" })
}

// readDraft reads the object in the body of a create or an update.
func (c *call) readDraft(w http.ResponseWriter) (*object.Draft, error) {
	b, err := c.payload(c.res.GVK().APIVersion(), c.res.Kind)
	if err != nil {
		return nil, err
	}
	if b.wrong != nil {
		return nil, unrecognized(c.res.Kind, b.wrong, b.sent)
	}
	d, err := object.Parse(b.json)
	if err == nil {
		err = c.checkKind(d, b.sent)
	}
	if err == nil {
		err = d.Normalize(&c.res.Type)
	}
	if err == nil && b.media != mediaProtobuf {
		if wrong := c.reportPayload(w, b, c.fields(b.json, d)); wrong != nil {
			err = &object.DecodeError{APIVersion: d.APIVersion, Kind: d.Kind, Err: wrong}
		}
	}
	var bad *object.DecodeError
	if errors.As(err, &bad) {
		return nil, c.cannotRead(bad, b)
	}
	if err == nil {
		uniteOwners(d, w, "duplicate entries")
	}
	return d, err
}

// cannotRead returns the error for a body that cannot be read as an object of the resource's kind.
func (c *call) cannotRead(bad *object.DecodeError, b *payload) error {
	apiVersion, kind, err := bad.APIVersion, bad.Kind, bad.Err
	if c.res.Builtin && bad.InMetadata {
		// A compiled-in type is read as a whole, and the error says where it failed.
		apiVersion, kind = cmp.Or(apiVersion, c.res.GVK().APIVersion()), cmp.Or(kind, c.res.Kind)
		if misfit := c.res.Shape().Fits(b.json); misfit != nil {
			err = misfit
		}
	}
	if kind == "" {
		return unrecognized(c.res.Kind, err, b.sent)
	}
	_, version := meta.SplitAPIVersion(apiVersion)
	return status.BadRequest("%s in version %q cannot be handled as a %s: %v", kind, version, c.res.Kind, err)
}

// unrecognized returns the error for a body that does not name its kind.
func unrecognized(kind string, why error, body []byte) error {
	return status.BadRequest("the object provided is unrecognized (must be of type %s): %v (%s)", kind, why, summary(body))
}

// uniteOwners drops duplicate owners, with a warning that names them.
func uniteOwners(d *object.Draft, w http.ResponseWriter, what string) {
	var twice []string
	kept := []meta.OwnerReference{}
	for _, o := range d.Meta.OwnerReferences {
		if slices.ContainsFunc(kept, func(k meta.OwnerReference) bool { return reflect.DeepEqual(k, o) }) {
			twice = append(twice, o.UID)
		} else {
			kept = append(kept, o)
		}
	}
	if len(twice) > 0 {
		d.Meta.OwnerReferences = kept
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", ".metadata.ownerReferences contains "+what+
			"; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "+
			"duplicate UID(s) observed: "+strings.Join(twice, ", ")))
	}
}

// checkKind compares the kind of a body with the resource. A body of a compiled-in type may leave it out.
func (c *call) checkKind(d *object.Draft, body []byte) error {
	want := c.res.GVK()
	if strings.Count(d.APIVersion, "/") > 1 {
		return &object.DecodeError{Err: fmt.Errorf("unexpected GroupVersion string: %s", d.APIVersion)}
	}
	if c.res.Builtin {
		if d.Kind == "" {
			d.Kind = want.Kind
		}
		if d.APIVersion == "" {
			d.APIVersion = want.APIVersion()
		}
		if d.Kind != want.Kind || d.APIVersion != want.APIVersion() {
			return &object.DecodeError{Kind: d.Kind, APIVersion: d.APIVersion, Err: noKind(d.Kind, d.APIVersion)}
		}
		return nil
	}
	switch {
	case d.Kind == "":
		//lint:ignore ST1005 these are the real server's words
		return &object.DecodeError{Err: fmt.Errorf("Object 'Kind' is missing in '%s'", body)}
	case d.APIVersion != want.APIVersion() && c.Verb == "patch":
		return status.Invalid(want.Group, d.Kind, d.Meta.Name, []meta.StatusCause{
			status.InvalidValue("apiVersion", d.APIVersion, "must be "+want.APIVersion()),
		})
	case d.APIVersion != want.APIVersion():
		return status.BadRequest("the API version in the data (%s) does not match the expected API version (%s)",
			d.APIVersion, want.APIVersion())
	case d.Kind != want.Kind:
		return status.Invalid(want.Group, d.Kind, d.Meta.Name, []meta.StatusCause{status.InvalidValue("kind", d.Kind, "must be "+want.Kind)})
	}
	return nil
}

// noKind returns the error for an object with an impossible kind.
func noKind(kind, apiVersion string) error {
	return fmt.Errorf("no kind %q is registered for version %q in scheme %q", kind, apiVersion, "pkg/runtime/scheme.go:111")
}

// summary is the start of a body, for an error.
func summary(body []byte) string {
	const limit = 30
	if len(body) == 0 {
		return "<empty>"
	}
	show := func(b []byte) string { return string(b) }
	if body[0] != '{' {
		show = hex.EncodeToString
	}
	if len(body) > limit {
		return show(body[:limit]) + " ..."
	}
	return show(body)
}

// checkNamespace sets an object's namespace to that of the request, unless the object names another.
func (c *call) checkNamespace(d *object.Draft) error {
	switch {
	case c.res.Scope == meta.Cluster:
		d.Meta.Namespace = ""
	case d.Meta.Namespace == "":
		d.Meta.Namespace = c.Key.Namespace
	case d.Meta.Namespace != c.Key.Namespace:
		return status.BadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// checkName compares an object's name with that in the path.
func (c *call) checkName(name string) error {
	switch name {
	case c.Key.Name:
		return nil
	case "":
		return status.BadRequest("the name of the object (%s based on URL) was undeterminable: name must be provided", c.Key.Name)
	}
	return status.BadRequest("the name of the object (%s) does not match the name on the URL (%s)", name, c.Key.Name)
}

// now is the present time in the resolution of metadata.
func now() meta.Time { return meta.Time{Time: time.Now().Truncate(time.Second)} }

func (c *call) create(w http.ResponseWriter) error {
	f, err := c.formOf(false)
	if err != nil {
		return err
	}
	d, err := c.readDraft(w)
	if err != nil {
		return err
	}
	o, err := c.writeOptions("CreateOptions")
	if err != nil {
		return err
	}
	if err := c.checkNamespace(d); err != nil {
		return err
	}
	v, err := c.post(d, o)
	if err != nil {
		return err
	}
	c.warnFinalizers(w, d.Meta.Finalizers, nil)
	return c.writeObject(w, f, http.StatusCreated, v)
}

func (c *call) post(d *object.Draft, o writeOptions) (*object.Revision, error) {
	c.s.store.mu.Lock()
	defer c.s.store.mu.Unlock()
	return c.insert(d, o)
}

// insert puts a new object into the store, which is locked.
func (c *call) insert(d *object.Draft, o writeOptions) (*object.Revision, error) {
	st := c.s.store
	select {
	case <-c.res.gone:
		return nil, status.NoSuchResource()
	default:
	}
	if c.res.Scope == meta.Namespaced {
		ns := st.namespaces.objects.tree.Get(d.Meta.Namespace)
		switch {
		case ns == nil:
			return nil, status.NotFound(st.namespaces, d.Meta.Namespace)
		case ns.Deleting:
			err := status.Forbidden(c.res, d.Meta.Name,
				"unable to create new content in namespace %s because it is being terminated", ns.Key.Name)
			err.Status.Details.Causes = []meta.StatusCause{{
				Reason: "NamespaceTerminating", Field: "metadata.namespace",
				Message: fmt.Sprintf("namespace %s is being terminated", ns.Key.Name),
			}}
			return nil, err
		}
	}
	c.complete(d)
	causes := c.s.validator.Object(&c.res.Type, &d.Meta)
	if c.res.checkNew != nil {
		causes = c.res.checkNew(d, causes)
	}
	if len(causes) > 0 {
		return nil, c.res.Invalid(d.Meta.Name, causes)
	}
	// The storage refuses a version, and a dry run does not reach the storage.
	if n, err := strconv.ParseUint(d.Meta.ResourceVersion, 10, 64); err == nil && n != 0 && !o.dryRun {
		return nil, status.Failure(http.StatusInternalServerError, "", "resourceVersion should not be set on objects to be created")
	}
	if cur := c.res.objects.tree.Get(object.PathOf(d.Key())); cur != nil {
		err := status.AlreadyExists(c.res, d.Meta.Name)
		if d.Meta.GenerateName != "" { // a real server does not ask whether it has made the name
			err.Status.Message += ", the server was not able to generate a unique name for the object"
			err.Status.Details.RetryAfterSeconds = 1
		}
		if cur.Deleting {
			err.Status.Message = "object is being deleted: " + err.Status.Message
		}
		return nil, err
	}
	c.res.Fill(d)
	if !o.owned {
		c.manage(d, nil, o.manager)
	}
	if o.dryRun {
		n, _ := strconv.ParseUint(d.Meta.ResourceVersion, 10, 64)
		return d.Revision(&c.res.Type, n), nil
	}
	return st.put(c.res, nil, d), nil
}

// complete sets the fields of a new object that the server decides, and its name if it wants one.
func (c *call) complete(d *object.Draft) {
	m := &d.Meta
	m.UID, m.CreationTimestamp = newUID(), now()
	m.DeletionTimestamp, m.DeletionGracePeriodSeconds = nil, nil
	if c.res.Generation {
		m.Generation = 1
	}
	if m.Name == "" && m.GenerateName != "" {
		m.Name = c.freeName(d)
	}
	if c.res.Status {
		wanted := d.Content["status"]
		delete(d.Content, "status")
		if c.res.initial != nil {
			d.Content["status"] = c.res.firstStatus(wanted)
		}
	}
	if c.res.prepare != nil {
		c.res.prepare(d, true)
	}
	if c.res.complete != nil {
		c.res.complete(d, c.user)
	}
}

// freeName returns a name that starts with the wanted prefix and is not taken.
func (c *call) freeName(d *object.Draft) string {
	const (
		letters = "bcdfghjklmnpqrstvwxz2456789" // no vowels: no words
		length  = 5
		limit   = 63 - length
	)
	prefix := d.Meta.GenerateName[:min(len(d.Meta.GenerateName), limit)]
	for {
		suffix := make([]byte, length)
		for i := range suffix {
			suffix[i] = letters[mathrand.IntN(len(letters))]
		}
		key := meta.Key{Namespace: d.Meta.Namespace, Name: prefix + string(suffix)}
		if c.res.objects.tree.Get(object.PathOf(key)) == nil {
			return key.Name
		}
	}
}

// newUID returns a random UUID (RFC 9562, version 4).
func newUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // cannot fail
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (c *call) update(w http.ResponseWriter) error {
	f, err := c.formOf(false)
	if err != nil {
		return err
	}
	d, err := c.readDraft(w)
	if err != nil {
		return err
	}
	o, err := c.writeOptions("UpdateOptions")
	if err != nil {
		return err
	}
	if err := c.checkNamespace(d); err != nil {
		return err
	}
	if err := c.checkName(d.Meta.Name); err != nil {
		return err
	}
	v, code, err := c.put(w, d, o)
	if err != nil {
		return err
	}
	return c.writeObject(w, f, code, v)
}

// put stores the result of an update, or creates the object if the resource allows that.
func (c *call) put(w http.ResponseWriter, d *object.Draft, o writeOptions) (*object.Revision, int, error) {
	c.s.store.mu.Lock()
	defer c.s.store.mu.Unlock()
	cur := c.res.objects.tree.Get(object.PathOf(c.Key))
	if cur == nil {
		if !c.res.CreateOnUpdate || c.Subresource != "" {
			return nil, 0, status.NotFound(c.res, c.Key.Name)
		}
		if d.Meta.UID != "" {
			return nil, 0, c.otherUID(d.Meta.UID, "")
		}
		d.Meta.ResourceVersion = ""
		v, err := c.insert(d, o)
		return v, http.StatusCreated, err
	}
	if uid := d.Meta.UID; uid != "" && uid != cur.UID {
		return nil, 0, c.otherUID(uid, cur.UID)
	}
	old := cur.Draft()
	v, err := c.replace(cur, old, d, o)
	if err == nil && c.Subresource == "" {
		c.warnFinalizers(w, d.Meta.Finalizers, old.Meta.Finalizers)
	}
	return v, http.StatusOK, err
}

// otherUID returns the error for an update of an object whose name now belongs to another. A real server names the storage key in
// it.
func (c *call) otherUID(wanted, present string) error {
	at := c.res.Resource.Resource
	switch {
	case !c.res.Builtin:
		at = c.res.Group + "/" + at
	case at == "services":
		at = "services/specs"
	case at == "nodes":
		at = "minions"
	}
	return status.Conflict(c.res, c.Key.Name, fmt.Sprintf("StorageError: invalid object, Code: 4, Key: /registry/%s/%s, ResourceVersion: 0, "+
		"AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s", at, object.PathOf(c.Key), wanted, present))
}

// replace makes d the object's next state. old is the decoded cur. The store is locked.
func (c *call) replace(cur *object.Revision, old, d *object.Draft, o writeOptions) (*object.Revision, error) {
	if err := c.checkVersion(cur, d.Meta.ResourceVersion); err != nil {
		return nil, err
	}
	entries := d.Meta.ManagedFields
	if sub := c.res.subresources[c.Subresource]; sub != nil && sub.part != nil {
		whole := d
		d = sub.part(old, whole)
		d.Meta.ManagedFields = entries
		c.res.metadataPart(c.Subresource).copy(d, whole)
	} else {
		c.keep(old, d)
	}
	d.Meta.ResourceVersion = old.Meta.ResourceVersion
	if c.res.prepare != nil {
		c.res.prepare(d, false)
	}
	if c.res.check != nil {
		if causes := c.res.check(old, d, c.Subresource); len(causes) > 0 {
			return nil, c.res.Invalid(c.Key.Name, causes)
		}
	}
	if err := c.s.validator.Update(&c.res.Type, &d.Meta, &old.Meta); err != nil {
		return nil, err
	}
	c.res.Fill(d)
	if !o.owned {
		c.manage(d, old, o.manager)
	}
	if d.SameAs(old) && ownership.Same(d.Meta.ManagedFields, old.Meta.ManagedFields) {
		return cur, nil // no new version, and no event
	}
	if c.res.Generation && !d.SameSpec(old, &c.res.Type) {
		d.Meta.Generation++
	}
	if o.dryRun {
		return d.Revision(&c.res.Type, cur.Version), nil
	}
	if c.mayGo(d) {
		v := d.Revision(&c.res.Type, cur.Version)
		c.s.store.remove(c.res, cur)
		c.s.store.finishNamespaces(cur.Key.Namespace)
		return v, nil
	}
	v := c.s.store.put(c.res, cur, d)
	if c.res == c.s.store.namespaces {
		c.s.store.finishNamespaces(v.Key.Name)
	}
	return v, nil
}

// checkVersion compares the client's version of an object with the present one.
func (c *call) checkVersion(cur *object.Revision, version string) error {
	seen := uint64(0)
	if version != "" {
		var err error
		if seen, err = strconv.ParseUint(version, 10, 64); err != nil {
			return status.Failure(http.StatusInternalServerError, "", "%v", err)
		}
	}
	switch {
	case seen == cur.Version, seen == 0 && c.res.Unconditional:
		return nil
	case seen == 0:
		// As on a real server, the kind is the resource's name here.
		return status.Invalid(c.res.Group, c.res.Resource.Resource, c.Key.Name, []meta.StatusCause{
			status.InvalidValue("metadata.resourceVersion", 0, "must be specified for an update"),
		})
	}
	return status.Conflict(c.res, c.Key.Name, status.Modified)
}

// keep copies the fields from old that an update cannot change.
func (c *call) keep(old, d *object.Draft) {
	m := &d.Meta
	if m.UID == "" {
		m.UID = old.Meta.UID
	}
	m.CreationTimestamp, m.Generation = old.Meta.CreationTimestamp, old.Meta.Generation
	if old.Meta.DeletionTimestamp != nil {
		m.DeletionTimestamp = old.Meta.DeletionTimestamp
	}
	if m.DeletionGracePeriodSeconds == nil {
		m.DeletionGracePeriodSeconds = old.Meta.DeletionGracePeriodSeconds
	}
	retain := func(member string) {
		delete(d.Content, member)
		if v, found := old.Content[member]; found {
			d.Content[member] = v
		}
	}
	if c.res.Status {
		retain("status")
	}
	if c.res.fixed {
		retain("spec")
	}
}

// mayGo reports whether an object that is being deleted can be removed now. A namespace is removed by finishNamespaces.
func (c *call) mayGo(d *object.Draft) bool {
	grace := d.Meta.DeletionGracePeriodSeconds
	return d.Meta.DeletionTimestamp != nil && len(d.Meta.Finalizers) == 0 && (grace == nil || *grace == 0) &&
		c.res != c.s.store.namespaces
}
