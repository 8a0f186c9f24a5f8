package clienttest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// part returns old with the part of d that a subresource writes, which takes and returns the object itself.
type part func(old, d *object.Draft) *object.Draft

// subresource describes a path below an object's path.
type subresource struct {
	kind   meta.GVK // of its objects; empty fields are as in the resource's kind
	verbs  []string // in the order in which discovery lists them
	part   part     // if its objects are the resource's, and otherwise
	answer func(c *call, w http.ResponseWriter) error
}

// partOf is a subresource that reads the whole object and writes a part of it.
func partOf(p part) *subresource {
	return &subresource{verbs: []string{"get", "patch", "update"}, part: p}
}

// callOf is a subresource that performs an action on the object.
func callOf(group, version, kind string, do func(*call, http.ResponseWriter) error) *subresource {
	return &subresource{verbs: []string{"create"}, kind: meta.GVK{Group: group, Version: version, Kind: kind}, answer: do}
}

// serve answers a request for the subresource.
func (sub *subresource) serve(c *call, w http.ResponseWriter) error {
	switch {
	case !slices.Contains(sub.verbs, c.Verb):
		return c.notAllowed()
	case sub.answer != nil:
		return sub.answer(c, w)
	case c.Verb == "get":
		return c.get(w)
	case c.Verb == "patch":
		return c.patch(w)
	}
	return c.update(w)
}

func statusPart(old, d *object.Draft) *object.Draft {
	status, found := d.Content["status"]
	d = old.Clone()
	delete(d.Content, "status")
	if found {
		d.Content["status"] = status
	}
	return d
}

func ephemeralPart(old, d *object.Draft) *object.Draft {
	return withMember(old, d, "spec", "ephemeralContainers")
}

func finalizePart(old, d *object.Draft) *object.Draft {
	return withMember(old, d, "spec", "finalizers")
}

// resizePart is the resources of the containers, which are matched by name.
func resizePart(old, d *object.Draft) *object.Draft {
	containers := func(d *object.Draft) []any {
		spec, _ := d.Content["spec"].(jsontree.Object)
		list, _ := spec["containers"].([]any)
		return list
	}
	wanted := map[any]any{}
	for _, v := range containers(d) {
		if m, ok := v.(jsontree.Object); ok {
			wanted[m["name"]] = m["resources"]
		}
	}
	list := slices.Clone(containers(old))
	for i, v := range list {
		m, _ := v.(jsontree.Object)
		if resources := wanted[m["name"]]; m != nil && resources != nil {
			m = maps.Clone(m)
			m["resources"] = resources
			list[i] = m
		}
	}
	if len(list) == 0 {
		return old.Clone()
	}
	spec := maps.Clone(old.Content["spec"].(jsontree.Object))
	spec["containers"] = list
	d = old.Clone()
	d.Content["spec"] = spec
	return d
}

// withMember returns old with one member, below another one, of d.
func withMember(old, d *object.Draft, outer, inner string) *object.Draft {
	from, _ := d.Content[outer].(jsontree.Object)
	d = old.Clone()
	into, _ := d.Content[outer].(jsontree.Object)
	if into = maps.Clone(into); into == nil {
		into = jsontree.Object{}
	}
	delete(into, inner)
	if v, found := from[inner]; found {
		into[inner] = v
	}
	d.Content[outer] = into
	return d
}

// readCall reads the body of a subresource that performs an action. A body without a kind has the only possible one.
func (c *call) readCall(w http.ResponseWriter, into any, apiVersion, kind string) error {
	b, err := c.payload(apiVersion, kind)
	if err != nil {
		return err
	}
	if b.wrong != nil {
		return unrecognized(kind, b.wrong, b.sent)
	}
	return c.decodeCall(w, b, into, apiVersion, kind)
}

// decodeCall is readCall for a body that has already been read.
func (c *call) decodeCall(w http.ResponseWriter, b *payload, into any, apiVersion, kind string) error {
	is, err := object.TypeOf(b.json)
	if err != nil {
		return unrecognized(kind, err, b.sent)
	}
	is.Kind, is.APIVersion = cmp.Or(is.Kind, kind), cmp.Or(is.APIVersion, apiVersion)
	if is.Kind != kind || is.APIVersion != apiVersion {
		err = noKind(is.Kind, is.APIVersion)
	} else if err = schema.Builtin().Of(is.GVK()).Fits(b.json); err == nil {
		if err = json.Unmarshal(b.json, into); err == nil {
			err = c.reportPayload(w, b, schema.FieldErrors(b.json, schema.Builtin().Of(is.GVK())))
		}
	}
	if err != nil {
		_, version := meta.SplitAPIVersion(is.APIVersion)
		return status.BadRequest("%s in version %q cannot be handled as a %s: %v", is.Kind, version, kind, err)
	}
	return nil
}

// accepted answers a call that has been carried out.
func accepted(w http.ResponseWriter) {
	writeStatus(w, meta.Status{Status: "Success", Code: http.StatusCreated})
}

type eviction struct {
	meta.ObjectMeta `json:"metadata"`
	DeleteOptions   *deleteOptions `json:"deleteOptions"`
}

// evict deletes a pod. The server has no disruption budgets; DisruptionBudget makes the answer of one that refuses.
func (c *call) evict(w http.ResponseWriter) error {
	o, err := c.writeOptions("CreateOptions")
	if err != nil {
		return err
	}
	var e eviction
	if err := c.readCall(w, &e, "policy/v1", "Eviction"); err != nil {
		return err
	}
	if e.Name != c.Key.Name {
		return status.BadRequest("name in URL does not match name in Eviction object")
	}
	if e.Namespace != "" && e.Namespace != c.Key.Namespace {
		return status.BadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	if e.DeleteOptions == nil {
		e.DeleteOptions = &deleteOptions{}
	}
	d := e.DeleteOptions
	if err := d.validate(); err != nil {
		return err
	}
	d.dryRun = d.dryRun || o.dryRun
	if _, _, err := c.deleteOne(d); err != nil {
		return err
	}
	accepted(w)
	return nil
}

// DisruptionBudget returns a handler that answers an eviction like a real server while the PodDisruptionBudget of that name
// allows none, because it needs so many healthy pods and there are no more. Return it from the function of Intercept.
func DisruptionBudget(name string, healthy int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeStatus(w, status.Failure(http.StatusTooManyRequests, "TooManyRequests",
			"Cannot evict pod as it would violate the pod's disruption budget.").With(meta.StatusDetails{
			Causes: []meta.StatusCause{{
				Reason:  "DisruptionBudget",
				Message: status.Failure(0, "", "The disruption budget %s needs %d healthy pods and has %d currently", name, healthy, healthy).Status.Message,
			}},
		}).Status)
	}
}

type binding struct {
	meta.ObjectMeta `json:"metadata"`
	Target          struct {
		Kind string `json:"kind"`
		Name string `json:"name"`
	} `json:"target"`
}

// bind assigns a pod to a node.
func (c *call) bind(w http.ResponseWriter) error {
	o, err := c.writeOptions("CreateOptions")
	if err != nil {
		return err
	}
	var b binding
	if err := c.readCall(w, &b, "v1", "Binding"); err != nil {
		return err
	}
	if b.Name != c.Key.Name {
		return status.BadRequest("name in URL does not match name in Binding object")
	}
	if b.Target.Name == "" {
		return status.Failure(http.StatusInternalServerError, "", "target.name: Required value")
	}
	st := c.s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	cur := c.res.objects.tree.Get(object.PathOf(c.Key))
	if cur == nil {
		return status.NotFound(c.res, c.Key.Name)
	}
	refuse := func(format string, args ...any) error {
		return status.Failure(http.StatusConflict, "Conflict", "Operation cannot be fulfilled on pods/binding %q: %s", c.Key.Name,
			status.Failure(0, "", format, args...).Status.Message).With(meta.StatusDetails{Name: c.Key.Name, Kind: "pods/binding"})
	}
	d := cur.Draft()
	spec, _ := d.Content["spec"].(jsontree.Object)
	switch node, _ := spec["nodeName"].(string); {
	case b.UID != "" && b.UID != cur.UID:
		return refuse("Precondition failed: UID in precondition: %s, UID in object meta: %s", b.UID, cur.UID)
	case cur.Deleting:
		return refuse("pod %s is being deleted, cannot be assigned to a host", c.Key.Name)
	case node != "":
		return refuse("pod %s is already assigned to node %q", c.Key.Name, node)
	}
	if spec = maps.Clone(spec); spec == nil {
		spec = jsontree.Object{}
	}
	spec["nodeName"] = b.Target.Name
	status, _ := d.Content["status"].(jsontree.Object)
	scheduled := jsontree.Object{
		"type": "PodScheduled", "status": "True", "lastProbeTime": nil, "lastTransitionTime": now().UTC().Format("2006-01-02T15:04:05Z"),
	}
	d.Content["spec"] = spec
	d.Content["status"] = jsontree.Merge(status, jsontree.Object{"conditions": []any{scheduled}})
	if !o.dryRun {
		st.put(c.res, cur, d)
	}
	accepted(w)
	return nil
}

// metadataPart says which members of the metadata a write of a subresource changes besides its own part of the object.
type metadataPart struct{ labels, annotations, finalizers, owners bool }

// metadataPart returns the metadataPart of a subresource. On a real server it is in each kind's strategy: the older compiled-in
// kinds let a write change every member that an update may change, the newer ones and custom resources none. internal/e2e tests
// for every kind that this server does the same.
func (r *resource) metadataPart(subresource string) metadataPart {
	all := metadataPart{labels: true, annotations: true, finalizers: true, owners: true}
	switch {
	case !r.Builtin:
		return metadataPart{}
	case subresource == "approval", subresource == "finalize":
		return all
	case subresource != "status":
		return metadataPart{}
	}
	switch r.groupResource() {
	case "apiservices.apiregistration.k8s.io", "csinodes.storage.k8s.io", "devicetaintrules.resource.k8s.io",
		"flowschemas.flowcontrol.apiserver.k8s.io", "podcertificaterequests.certificates.k8s.io",
		"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", "resourceclaims.resource.k8s.io",
		"servicecidrs.networking.k8s.io", "storageversionmigrations.storagemigration.k8s.io",
		"validatingadmissionpolicies.admissionregistration.k8s.io", "volumeattachments.storage.k8s.io":
		return metadataPart{}
	case "deployments.apps":
		all.labels = false
	case "pods":
		all.owners = false
	}
	return all
}

// copy replaces these members of the metadata in d by those in from.
func (p metadataPart) copy(d, from *object.Draft) {
	if p.labels {
		d.Meta.Labels = maps.Clone(from.Meta.Labels)
	}
	if p.annotations {
		d.Meta.Annotations = maps.Clone(from.Meta.Annotations)
	}
	if p.finalizers {
		d.Meta.Finalizers = from.Meta.Finalizers
	}
	if p.owners {
		d.Meta.OwnerReferences = from.Meta.OwnerReferences
	}
}
