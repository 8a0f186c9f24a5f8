package clienttest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/clienttest"
)

func TestDelete(t *testing.T) {
	t.Run("gives a Status for most kinds", func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		uid := at(h.create(t, "a"), "metadata", "uid")
		want := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"a","kind":"configmaps","uid":"` + uid + `"}}` + "\n"
		if got := h.must(t, http.MethodDelete, configMaps+"/a", ""); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if a := h.do(t, http.MethodDelete, configMaps+"/a", ""); a.code != 404 {
			t.Errorf("a second time: got %d %s", a.code, a.body)
		}
	})
	t.Run("gives the object for some kinds", func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		const services = "/api/v1/namespaces/default/services"
		h.must(t, http.MethodPost, services, `{"metadata":{"name":"s"},"spec":{"ports":[{"port":80}]}}`)
		if got := h.must(t, http.MethodDelete, services+"/s", ""); at(got, "kind") != "Service" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("of a pod sets its deletionTimestamp first", func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		const pods = "/api/v1/namespaces/default/pods"
		h.must(t, http.MethodPost, pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"b"}]}}`)
		w := h.watch(t, pods)
		w.next(t)
		got := h.must(t, http.MethodDelete, pods+"/p", `{"gracePeriodSeconds":30}`)
		if at(got, "metadata", "deletionTimestamp") == "" || at(got, "metadata", "generation") != "2" {
			t.Errorf("got %s", got)
		}
		marked, gone := w.next(t), w.next(t)
		if marked.brief() != "MODIFIED p" || gone.brief() != "DELETED p" ||
			at(string(marked.Object), "metadata", "deletionTimestamp") == "" || string(gone.Object)+"\n" != got {
			t.Errorf("got the events %s %s and %s %s", marked.Type, marked.Object, gone.Type, gone.Object)
		}
	})
	t.Run("waits for finalizers", func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
		const path = widgetPath + "/w"
		h.must(t, http.MethodPost, widgetPath,
			`{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"w","finalizers":["x.io/a","x.io/b"]}}`)
		w := h.watch(t, widgetPath)
		w.next(t)
		dry := h.must(t, http.MethodDelete, path+"?dryRun=All", "")
		if at(dry, "metadata", "deletionTimestamp") == "" || at(h.must(t, http.MethodGet, path, ""), "metadata", "deletionTimestamp") != "" {
			t.Errorf("a dry run gives %s", dry)
		}
		marked := h.must(t, http.MethodDelete, path, "")
		if at(marked, "metadata", "deletionTimestamp") == "" || at(marked, "metadata", "deletionGracePeriodSeconds") != "0" ||
			at(marked, "metadata", "generation") != "2" {
			t.Errorf("got %s", marked)
		}
		if again := h.must(t, http.MethodDelete, path, ""); again != marked {
			t.Errorf("a second time: got %s, want %s", again, marked)
		}
		one := h.must(t, http.MethodPatch, path, `{"metadata":{"finalizers":["x.io/b"],"deletionTimestamp":null}}`)
		if at(one, "metadata", "deletionTimestamp") != at(marked, "metadata", "deletionTimestamp") {
			t.Errorf("a patch took the deletionTimestamp away: %s", one)
		}
		last := h.must(t, http.MethodPatch, path, `{"metadata":{"finalizers":null,"labels":{"last":"words"}}}`)
		if at(last, "metadata", "labels", "last") != "words" || at(last, "metadata", "finalizers") != "" {
			t.Errorf("the last patch gives %s", last)
		}
		if a := h.do(t, http.MethodGet, path, ""); a.code != 404 {
			t.Errorf("it is still there: %s", a.body)
		}
		// Watchers see the state before the patch that let it go, as on a real server.
		for _, want := range []string{"MODIFIED w", "MODIFIED w", "DELETED w"} {
			e := w.next(t)
			if e.brief() != want || e.Type == "DELETED" && at(string(e.Object), "metadata", "finalizers") != `["x.io/b"]` {
				t.Errorf("got the event %s %s, want %s", e.Type, e.Object, want)
			}
		}
	})
	t.Run("in a dry run deletes nothing", func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		h.create(t, "a")
		for _, r := range []struct{ path, body string }{{"/a?dryRun=All", ""}, {"/a", `{"dryRun":["All"]}`}, {"?dryRun=All", ""}} {
			h.must(t, http.MethodDelete, configMaps+r.path, r.body)
		}
		h.must(t, http.MethodGet, configMaps+"/a", "")
	})
}

func TestInvalidDeletesAreRefused(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	created := h.create(t, "a")
	uid, version := at(created, "metadata", "uid"), at(created, "metadata", "resourceVersion")
	const method, path = http.MethodDelete, configMaps + "/a"
	for _, test := range []refusal{
		{
			name: "another uid", body: `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"1"}}`, code: 409, reason: "Conflict",
			message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (1) does not match the UID in record (` + uid +
				`). The object might have been deleted and then recreated`, kind: "ConfigMap",
		},
		{
			name: "another version", body: `{"preconditions":{"resourceVersion":"1"}}`, code: 409, reason: "Conflict",
			message: `Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) does not match the ` +
				`ResourceVersion in record (` + version + `). The object might have been modified`, kind: "ConfigMap",
		},
		{
			name: "an unknown policy", body: `{"propagationPolicy":"Bogus"}`, code: 422, reason: "Invalid", kind: "DeleteOptions", group: "meta.k8s.io",
			message: `DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Bogus": supported values: ` +
				`"Foreground", "Background", "Orphan", "nil"`, causes: []string{"propagationPolicy: FieldValueNotSupported"},
		},
		{
			name: "an unknown dryRun", body: `{"dryRun":["x"]}`, code: 422, reason: "Invalid", kind: "DeleteOptions", group: "meta.k8s.io",
			message: `DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"`,
			causes:  []string{"dryRun: FieldValueNotSupported"},
		},
		{name: "another kind", body: `{"kind":"Pod","apiVersion":"v1"}`, code: 400, reason: "BadRequest", message: `no kind "Pod" is registered ...`},
		{
			name: "no JSON", body: `x`, code: 400, reason: "BadRequest",
			message: "couldn't get version/kind; json parse error: invalid character 'x' looking for beginning of value",
		},
		{
			name: "a grace period that is no number", path: path + "?gracePeriodSeconds=x", code: 400, reason: "BadRequest",
			message: `strconv.ParseInt: parsing "x": invalid syntax`,
		},
		{
			name: "a namespace that must stay", path: "/api/v1/namespaces/default", code: 403, reason: "Forbidden", kind: "namespaces",
			message: `namespaces "default" is forbidden: this namespace may not be deleted`,
		},
		{
			name: "all namespaces", path: "/api/v1/namespaces", code: 405, reason: "MethodNotAllowed",
			message: "the server does not allow this method on the requested resource",
		},
	} {
		test.method = method
		if test.path == "" {
			test.path = path
		}
		t.Run(test.name, func(t *testing.T) { test.check(t, h) })
	}
	h.must(t, method, path, `{"propagationPolicy":"Foreground","preconditions":{"uid":"`+uid+`","resourceVersion":"`+version+`"}}`)
}

func TestDeleteCollection(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	for i := range 6 {
		h.create(t, fmt.Sprint("a", i), fmt.Sprintf(`"labels":{"half":"%d"}`, i%2))
	}
	h.create(t, "kept", `"labels":{"half":"1"},"finalizers":["x.io/a"]`)
	deleted := h.must(t, http.MethodDelete, configMaps+"?labelSelector=half%3D1", "")
	if got := fmt.Sprint(names(t, deleted)); got != "[a1 a3 a5 kept]" || at(deleted, "kind") != "ConfigMapList" {
		t.Errorf("got %s of a %s", got, at(deleted, "kind"))
	}
	left := h.must(t, http.MethodGet, configMaps, "")
	if got := fmt.Sprint(names(t, left)); got != "[a0 a2 a4 kept]" || strings.Count(left, "deletionTimestamp") != 1 {
		t.Errorf("left are %s: %s", got, left)
	}
	if got := names(t, h.must(t, http.MethodDelete, configMaps+"?limit=1", "")); fmt.Sprint(got) != "[a0]" {
		t.Errorf("a limit of one deletes %v", got)
	}
	if got := names(t, h.must(t, http.MethodDelete, configMaps+"?labelSelector=half%3D7", "")); len(got) != 0 {
		t.Errorf("nothing that is selected: got %v", got)
	}
}

func TestNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
		const all, web = "/api/v1/namespaces", "/api/v1/namespaces/web"
		created := h.must(t, http.MethodPost, all, `{"metadata":{"name":"web"}}`)
		if at(created, "metadata", "labels", "kubernetes.io/metadata.name") != "web" || at(created, "status", "phase") != "Active" {
			t.Errorf("got %s", created)
		}
		h.must(t, http.MethodPost, web+"/configmaps", `{"metadata":{"name":"a"}}`)
		h.must(t, http.MethodPost, web+"/configmaps", `{"metadata":{"name":"kept","finalizers":["x.io/a"]}}`)
		h.must(t, http.MethodPost, "/apis/example.dev/v1/namespaces/web/widgets",
			`{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"w"}}`)
		h.create(t, "elsewhere")
		spaces, maps, others := h.watch(t, all+"?resourceVersion="+h.version(t)), h.watch(t, "/api/v1/configmaps?resourceVersion="+h.version(t)),
			h.watch(t, "/apis/example.dev/v1/widgets?resourceVersion="+h.version(t))

		if dry := h.must(t, http.MethodDelete, web+"?dryRun=All", ""); at(dry, "status", "phase") != "Terminating" {
			t.Errorf("a dry run gives %s", dry)
		}
		deleted := h.must(t, http.MethodDelete, web, "")
		if at(deleted, "status", "phase") != "Terminating" || at(deleted, "metadata", "deletionTimestamp") == "" {
			t.Errorf("got %s", deleted)
		}
		if again := h.must(t, http.MethodDelete, web, ""); again != deleted {
			t.Errorf("a second time: got %s", again)
		}
		refusal{
			method: http.MethodPost, path: web + "/configmaps", body: `{"metadata":{"name":"late"}}`, code: 403, reason: "Forbidden",
			message: `configmaps "late" is forbidden: unable to create new content in namespace web because it is being terminated`,
			causes:  []string{"metadata.namespace: NamespaceTerminating"}, kind: "configmaps",
		}.check(t, h)
		if got := names(t, h.must(t, http.MethodGet, "/api/v1/configmaps", "")); fmt.Sprint(got) != "[elsewhere kept]" {
			t.Errorf("left are %v", got)
		}
		h.must(t, http.MethodPatch, web+"/configmaps/kept", `{"metadata":{"finalizers":[]}}`)
		if a := h.do(t, http.MethodGet, web, ""); a.code != 404 {
			t.Errorf("the namespace is still there: %s", a.body)
		}
		synctest.Wait()
		h.server.DropWatches()
		for name, s := range map[string]struct {
			stream *stream
			want   string
		}{
			"namespaces": {spaces, "[MODIFIED web DELETED web]"},
			"configmaps": {maps, "[DELETED a MODIFIED kept DELETED kept]"},
			"widgets":    {others, "[DELETED w]"},
		} {
			events, _ := s.stream.rest()
			if got := fmt.Sprint(briefs(events)); got != s.want {
				t.Errorf("%s: got %s, want %s", name, got, s.want)
			}
		}
		h.must(t, http.MethodPost, all, `{"metadata":{"name":"web"}}`)
	})
}
