package conformance

import (
	"testing"

	apierrors "github.com/bowline-go/bowline/errors"
)

// A deletion that handles dependents waits for a garbage collector, which removes the finalizer. No garbage collector
// runs here.
func testPropagation(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	for _, name := range []string{"a", "b", "c", "d"} {
		s.configMap(t, ns, name, nil)
	}
	s.widget(t, ns, "a", `{}`)
	const a, finalizers, nothing = "{core}/configmaps/a", "metadata.finalizers", "null"
	deletion := func(name, path, body, at, is string) exchange {
		e := applied(name, "DELETE "+path, "", body, at, is)
		return e
	}
	both := func(name, path, body string) exchange {
		return refused(name, "DELETE "+path, "", body, 422, apierrors.Invalid, `DeleteOptions.meta.k8s.io "" is invalid: `+
			`propagationPolicy: Invalid value: "Background": orphanDependents and deletionPropagation cannot be both set`).
			caused("propagationPolicy")
	}
	for _, e := range []exchange{
		both("both options", a, `{"orphanDependents":false,"propagationPolicy":"Background"}`),
		both("both parameters", a+"?orphanDependents=true&propagationPolicy=Background", ""),
		both("both options of many", "{core}/configmaps", `{"orphanDependents":true,"propagationPolicy":"Background"}`),
		refused("a policy that is none, and both", "DELETE "+a, "", `{"orphanDependents":true,"propagationPolicy":"No"}`, 422, apierrors.Invalid,
			`supported values: "Foreground", "Background", "Orphan", "nil"]`).caused("propagationPolicy propagationPolicy"),

		deletion("foreground, dry", a+"?propagationPolicy=Foreground&dryRun=All", "", finalizers, `["foregroundDeletion"]`),
		applied("nothing has happened", "GET "+a, "", "", finalizers, nothing),
		deletion("foreground", a, `{"propagationPolicy":"Foreground"}`, finalizers, `["foregroundDeletion"]`),
		applied("it is still there", "GET "+a, "", "", "metadata.deletionGracePeriodSeconds", "0"),
		refused("and cannot be created", "POST {core}/configmaps", "", `{"metadata":{"name":"a"}}`, 409, apierrors.AlreadyExists,
			`object is being deleted: configmaps "a" already exists`),
		deletion("no policy leaves it as it is", a, ``, finalizers, `["foregroundDeletion"]`),
		deletion("another policy", a+"?propagationPolicy=Orphan", "", finalizers, `["orphan"]`),
		deletion("no policy", a, "{}", finalizers, `["orphan"]`),
		deletion("background", a+"?propagationPolicy=Background", "", "status", `"Success"`),
		refused("it has gone", "GET "+a, "", "", 404, apierrors.NotFound, `configmaps "a" not found`),

		deletion("orphan", "{core}/configmaps/b", `{"orphanDependents":true}`, finalizers, `["orphan"]`),
		applied("what the garbage collector does", "{core}/configmaps/b", asMerge, `{"metadata":{"finalizers":null}}`, finalizers, nothing),
		refused("b has gone", "GET {core}/configmaps/b", "", "", 404, apierrors.NotFound, `configmaps "b" not found`),
		deletion("not orphan", "{core}/configmaps/c?orphanDependents=false", "", "status", `"Success"`),

		applied("a finalizer of another", "{core}/configmaps/d", asMerge, `{"metadata":{"finalizers":["orphan","bowline.dev/x"]}}`, "", ""),
		deletion("foreground and another", "{core}/configmaps/d?propagationPolicy=Foreground", "", finalizers, `["bowline.dev/x","foregroundDeletion"]`),
		deletion("background and another", "{core}/configmaps/d?propagationPolicy=Background", "", finalizers, `["bowline.dev/x"]`),

		deletion("a custom resource", "{widgets}/a?propagationPolicy=Foreground", "", "metadata.generation", "2"),
		applied("stays as well", "GET {widgets}/a", "", "", finalizers, `["foregroundDeletion"]`),
		deletion("many", "{widgets}?propagationPolicy=Background", "", "kind", `"WidgetList"`),
		refused("the custom resource has gone", "GET {widgets}/a", "", "", 404, apierrors.NotFound, `"a" not found`),

		{name: "an event", path: "POST {core}/events", body: `{"metadata":{"name":"a"},"involvedObject":{"namespace":"{ns}"}}`, code: 201},
		deletion("has no dependents", "{core}/events/a?propagationPolicy=Foreground", "", "status", `"Success"`),
	} {
		e.run(t, s, names)
	}
}

// A pod on a node stays until its kubelet deletes it with a grace period of 0. No kubelet runs here.
func testGracePeriod(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	const grace, generation, nothing = "metadata.deletionGracePeriodSeconds", "metadata.generation", "null"
	pod := func(name, metadata, spec string) exchange {
		return exchange{name: "make " + name, path: "POST {core}/pods", code: 201, body: `{"metadata":{"name":"` + name + `"` + metadata +
			`},"spec":{` + spec + `"containers":[{"name":"a","image":"b"}]}}`}
	}
	deletion := func(name, path, is string) exchange {
		return applied(name, "DELETE {core}/pods/"+path, "", "", grace, is)
	}
	read := func(name, pod, at, is string) exchange { return applied(name, "GET {core}/pods/"+pod, "", "", at, is) }
	gone := func(pod string) exchange {
		return refused(pod+" has gone", "GET {core}/pods/"+pod, "", "", 404, apierrors.NotFound, `pods "`+pod+`" not found`)
	}
	const node, finalizer = `"nodeName":"n",`, `,"finalizers":["bowline.dev/x"]`
	for _, e := range []exchange{
		pod("a", "", node),
		deletion("dry", "a?dryRun=All", "30"),
		read("nothing has happened", "a", grace, nothing),
		deletion("on a node", "a", "30"),
		read("it is still there", "a", generation, "2"),
		deletion("again", "a", "30"),
		deletion("sooner", "a?gracePeriodSeconds=5", "5"),
		deletion("later", "a?gracePeriodSeconds=60", "5"),
		read("counts no more", "a", generation, "2"),
		applied("its status", "{core}/pods/a/status", asMerge, `{"status":{"phase":"Succeeded"}}`, grace, "5"),
		deletion("a negative time", "a?gracePeriodSeconds=-3", "1"),
		deletion("what a kubelet does", "a?gracePeriodSeconds=0", "0"),
		gone("a"),

		pod("b", "", ""),
		deletion("on no node", "b?gracePeriodSeconds=20", "0"),
		gone("b"),

		pod("c", "", node+`"terminationGracePeriodSeconds":7,`),
		deletion("its own time", "c", "7"),

		pod("d", "", node),
		applied("it ends", "{core}/pods/d/status", asMerge, `{"status":{"phase":"Failed"}}`, "status.phase", `"Failed"`),
		deletion("after its end", "d", "0"),
		gone("d"),

		pod("e", finalizer, node),
		deletion("with a finalizer", "e", "30"),
		applied("without one", "{core}/pods/e", asMerge, `{"metadata":{"finalizers":null}}`, grace, "30"),
		read("the node keeps it", "e", grace, "30"),
		deletion("no finalizer is added any more", "e?propagationPolicy=Foreground", "30"),
		read("as it was", "e", "metadata.finalizers", nothing),

		pod("f", finalizer, node),
		deletion("at once", "f?gracePeriodSeconds=0", "0"),
		read("the finalizer keeps it", "f", "metadata.finalizers", `["bowline.dev/x"]`),
		applied("let it go", "{core}/pods/f", asMerge, `{"metadata":{"finalizers":null}}`, "", ""),
		gone("f"),

		pod("g", "", node),
		{name: "evict", path: "POST {core}/pods/g/eviction", body: `{"metadata":{"name":"g"}}`, code: 201},
		read("evicted", "g", grace, "30"),

		applied("many", "DELETE {core}/pods", "", "", "kind", `"PodList"`),
		read("stay", "g", grace, "30"),
		applied("many at once", "DELETE {core}/pods?gracePeriodSeconds=0", "", "", "kind", `"PodList"`),
		gone("c"),
		gone("g"),
	} {
		e.run(t, s, names)
	}
}
