package clienttest

import (
	"encoding/json"
	"maps"
	"net/http"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// has reports whether the resource has a subresource.
func (r *resource) has(subresource string) bool {
	if subresource == "status" {
		return r.Status
	}
	_, found := r.subresources[subresource]
	return found
}

// part says what of an object a subresource is that takes and returns the object itself: it returns old with that part of d.
type part func(old, d *draft) *draft

// The subresources of the built-in resources, by the verbs that they have. A part has get, update and patch.
type subresource struct {
	part part
	call func(c *call, w http.ResponseWriter) error // answers a create
	get  func(c *call, w http.ResponseWriter) error // and these the others, where it is no part
	put  func(c *call, w http.ResponseWriter) error
}

// serve answers a request for a subresource that is not status.
func (sub *subresource) serve(c *call, w http.ResponseWriter) error {
	switch {
	case c.Verb == "create" && sub.call != nil:
		return sub.call(c, w)
	case c.Verb == "get" && sub.part != nil:
		return c.get(w)
	case c.Verb == "update" && sub.part != nil:
		return c.update(w)
	case c.Verb == "patch" && sub.part != nil:
		return c.patch(w)
	case c.Verb == "get" && sub.get != nil:
		return sub.get(c, w)
	case (c.Verb == "update" || c.Verb == "patch") && sub.put != nil:
		return sub.put(c, w)
	}
	return methodNotAllowed()
}

// statusPart is the status subresource, and approvalPart what only it may write of one.
func statusPart(old, d *draft) *draft {
	status, found := d.content["status"]
	d = old.clone()
	delete(d.content, "status")
	if found {
		d.content["status"] = status
	}
	return d
}

func approvalPart(old, d *draft) *draft { return withMember(old, d, "status", "conditions") }

func ephemeralPart(old, d *draft) *draft { return withMember(old, d, "spec", "ephemeralContainers") }

func finalizePart(old, d *draft) *draft { return withMember(old, d, "spec", "finalizers") }

// resizePart is the resources of the containers, each found by its name.
func resizePart(old, d *draft) *draft {
	containers := func(d *draft) []any {
		spec, _ := d.content["spec"].(members)
		list, _ := spec["containers"].([]any)
		return list
	}
	wanted := map[any]any{}
	for _, v := range containers(d) {
		if m, ok := v.(members); ok {
			wanted[m["name"]] = m["resources"]
		}
	}
	var list []any
	for _, v := range containers(old) {
		m, _ := v.(members)
		m = maps.Clone(m)
		if resources := wanted[m["name"]]; resources != nil {
			m["resources"] = resources
		}
		list = append(list, m)
	}
	spec, _ := old.content["spec"].(members)
	spec = maps.Clone(spec)
	spec["containers"] = list
	d = old.clone()
	d.content["spec"] = spec
	return d
}

// withMember returns old with one member, below another one, of d.
func withMember(old, d *draft, outer, inner string) *draft {
	from, _ := d.content[outer].(members)
	d = old.clone()
	into, _ := d.content[outer].(members)
	if into = maps.Clone(into); into == nil {
		into = members{}
	}
	delete(into, inner)
	if v, found := from[inner]; found {
		into[inner] = v
	}
	d.content[outer] = into
	return d
}

// readCall reads the body of a subresource that does something. What leaves out its kind is of the only one that it can be.
func (c *call) readCall(into any, apiVersion, kind string) error {
	body, _, err := readBody(c.r, mediaJSON)
	if err != nil {
		return err
	}
	var is meta.TypeMeta
	if err = json.Unmarshal(body, &is); err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return badRequest("the object provided is unrecognized (must be of type %s): %v (%s)", kind, err, summary(body))
	}
	if is.Kind != "" && is.Kind != kind || is.APIVersion != "" && is.APIVersion != apiVersion {
		_, version := meta.SplitAPIVersion(is.APIVersion)
		return badRequest("%s in version %q cannot be handled as a %s: no kind %q is registered for version %q here",
			is.Kind, version, kind, is.Kind, is.APIVersion)
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

// evict deletes a pod. The server has no disruption budgets; see DisruptionBudget for one that does not allow it.
func (c *call) evict(w http.ResponseWriter) error {
	o, err := c.writeOptions("CreateOptions")
	if err != nil {
		return err
	}
	var e eviction
	if err := c.readCall(&e, "policy/v1", "Eviction"); err != nil {
		return err
	}
	if e.Name != c.Key.Name {
		return badRequest("name in URL does not match name in Eviction object")
	}
	if e.Namespace != "" && e.Namespace != c.Key.Namespace {
		return badRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	if e.DeleteOptions == nil {
		e.DeleteOptions = &deleteOptions{}
	}
	d := e.DeleteOptions
	if d.dryRun, err = dryRun("DeleteOptions", d.DryRun); err != nil {
		return err
	}
	d.dryRun = d.dryRun || o.dryRun
	if _, _, err := c.deleteOne(d); err != nil {
		return err
	}
	accepted(w)
	return nil
}

// DisruptionBudget returns a handler that answers an eviction as a real server does while the PodDisruptionBudget of that
// name allows none, because it needs so many healthy pods and there are no more. It is for handlers of Intercept.
func DisruptionBudget(name string, healthy int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeStatus(w, failure(http.StatusTooManyRequests, "TooManyRequests",
			"Cannot evict pod as it would violate the pod's disruption budget.").with(meta.StatusDetails{
			Causes: []meta.StatusCause{{
				Reason:  "DisruptionBudget",
				Message: failure(0, "", "The disruption budget %s needs %d healthy pods and has %d currently", name, healthy, healthy).status.Message,
			}},
		}).status)
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
	if err := c.readCall(&b, "v1", "Binding"); err != nil {
		return err
	}
	if b.Name != c.Key.Name {
		return badRequest("name in URL does not match name in Binding object")
	}
	if b.Target.Name == "" {
		return failure(http.StatusInternalServerError, "", "target.name: Required value")
	}
	st := c.s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	cur := c.res.objects.tree.get(pathOf(c.Key))
	if cur == nil {
		return notFound(c.res, c.Key.Name)
	}
	refuse := func(format string, args ...any) error {
		return failure(http.StatusConflict, "Conflict", "Operation cannot be fulfilled on pods/binding %q: %s", c.Key.Name,
			failure(0, "", format, args...).status.Message).with(meta.StatusDetails{Name: c.Key.Name, Kind: "pods/binding"})
	}
	d := cur.draft()
	spec, _ := d.content["spec"].(members)
	switch node, _ := spec["nodeName"].(string); {
	case b.UID != "" && b.UID != cur.uid:
		return refuse("Precondition failed: UID in precondition: %s, UID in object meta: %s", b.UID, cur.uid)
	case cur.deleting:
		return refuse("pod %s is being deleted, cannot be assigned to a host", c.Key.Name)
	case node != "":
		return refuse("pod %s is already assigned to node %q", c.Key.Name, node)
	}
	if spec = maps.Clone(spec); spec == nil {
		spec = members{}
	}
	spec["nodeName"] = b.Target.Name
	status, _ := d.content["status"].(members)
	scheduled := members{
		"type": "PodScheduled", "status": "True", "lastProbeTime": nil, "lastTransitionTime": now().UTC().Format("2006-01-02T15:04:05Z"),
	}
	d.content["spec"] = spec
	d.content["status"] = patch.MergeValue(status, members{"conditions": []any{scheduled}})
	if !o.dryRun {
		st.put(c.res, cur, d)
	}
	accepted(w)
	return nil
}
