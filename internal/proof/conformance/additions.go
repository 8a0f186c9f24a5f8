package conformance

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// The name beside a generateName is the caller's, and the server takes it for one that it has made.
func testGeneratedNames(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	s.configMap(t, ns, "a", nil)
	const taken = `configmaps "a" already exists, the server was not able to generate a unique name for the object`
	for _, e := range []exchange{
		refused("a name beside a prefix", "POST {core}/configmaps", "", `{"metadata":{"name":"a","generateName":"a-"}}`, 409, apierrors.AlreadyExists, taken),
		refused("a dry run", "POST {core}/configmaps?dryRun=All", "", `{"metadata":{"name":"a","generateName":"a-"}}`, 409, apierrors.AlreadyExists, taken),
		refused("a name alone", "POST {core}/configmaps", "", `{"metadata":{"name":"a"}}`, 409, apierrors.AlreadyExists, `configmaps "a" already exists`),
	} {
		e.run(t, s, names)
	}
	_, err := s.client.Raw(t.Context(), client.RawRequest{
		Method: http.MethodPost, Path: "/api/v1/namespaces/" + ns + "/configmaps", Header: http.Header{"Content-Type": {"application/json"}},
		Body: []byte(`{"metadata":{"name":"a","generateName":"a-"}}`),
	})
	if _, asked := apierrors.RetryAfter(err); !asked {
		t.Errorf("no time to wait in %v", err)
	}
}

func testTimeout(t *testing.T, s suite) {
	ns := s.namespace(t)
	names := paths(ns)
	const invalid = `invalid timeout specified in the request URL - time: invalid duration "x"`
	for _, e := range []exchange{
		refused("no duration", "GET {core}/configmaps?timeout=x", "", "", 400, apierrors.BadRequest, invalid),
		refused("no duration of a write", "POST {core}/configmaps?timeout=x", "", `{"metadata":{"name":"a"}}`, 400, apierrors.BadRequest, invalid),
		refused("no duration of another path", "GET /version?timeout=x", "", "", 400, apierrors.BadRequest, invalid),
		applied("a duration", "GET {core}/configmaps?timeout=5s", "", "", "kind", `"ConfigMapList"`),
		applied("no limit", "GET {core}/configmaps?timeout=0s", "", "", "kind", `"ConfigMapList"`),
		applied("less than none", "GET {core}/configmaps?timeout=-1s", "", "", "kind", `"ConfigMapList"`),
		applied("a long time", "GET {core}/configmaps?timeout=100h", "", "", "kind", `"ConfigMapList"`),
		refused("a time that passes", "GET {core}/configmaps?timeout=1s&resourceVersion=99999999999", "", "", 504, apierrors.Timeout,
			`the answer is not a Status but text/plain; charset=utf-8: {"metadata":{}*"code":504}`),
	} {
		e.run(t, s, names)
	}
}

// Tables with whole objects and without, and their watches.
func testTables(t *testing.T, s suite) {
	ns := s.namespace(t)
	s.configMap(t, ns, "a", nil)
	r := s.configMaps.In(ns)
	for _, whole := range []bool{false, true} {
		o := client.TableOptions{WholeObjects: whole}
		check := func(t *testing.T, table client.Table) {
			t.Helper()
			if len(table.Rows) != 1 || table.Plain || len(table.Columns) != 3 || table.Rows[0].Cells[0] != "a" || table.ResourceVersion == "" {
				t.Fatalf("with whole objects (%t) the table is %+v", whole, table)
			}
			row := table.Rows[0]
			equal(t, "the object", row.Object.Name, "a")
			equal(t, "the whole object is there", strings.Contains(string(row.Raw), `"data":{"k":"v"}`), whole)
			equal(t, "managedFields are there", strings.Contains(string(row.Raw), "managedFields"), false)
		}
		check(t, must[client.Table](t)(r.Table(t.Context(), client.ListOptions{}, o)))
		check(t, must[client.Table](t)(r.TableOf(t.Context(), meta.Key{Name: "a"}, o)))
		for e, err := range r.WatchTable(t.Context(), client.WatchOptions{Bookmarks: true, InitialEvents: true}, o) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == client.Added {
				check(t, e.Table)
				continue
			}
			if e.Type != client.Bookmark || !e.InitialEventsEnd || len(e.Table.Rows) != 0 || len(e.Table.Columns) != 3 {
				t.Errorf("after the object comes %+v", e)
			}
			break
		}
	}
}

// No release up to Kubernetes 1.37 knows the parameter (KEP-5958), and none minds it.
func testDropIsIgnored(t *testing.T, s suite) {
	ns := s.namespace(t)
	s.configMap(t, ns, "a", nil)
	const drop = ";drop=metadata.managedFields"
	for _, accept := range []string{
		"application/json" + drop,
		"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" + drop,
		"application/json;as=Table;v=v1;g=meta.k8s.io" + drop + ",application/json" + drop,
		"application/vnd.kubernetes.protobuf" + drop + ", application/json" + drop,
		"application/json;drop=metadata.managedFields+metadata.annotations",
	} {
		for _, query := range []url.Values{{}, {"watch": {"1"}, "timeoutSeconds": {"1"}}} {
			if strings.Contains(accept, "List") && query.Has("watch") {
				continue
			}
			text := s.read(t, "/api/v1/namespaces/"+ns+"/configmaps", query, accept)
			if !strings.Contains(text, "f:data") {
				t.Errorf("with %s and %v there are no managedFields in %q", accept, query, text)
			}
		}
	}
}

// read returns the body of an answer.
func (s suite) read(t *testing.T, path string, query url.Values, accept string) string {
	t.Helper()
	resp := must[*http.Response](t)(s.client.Raw(t.Context(), client.RawRequest{Path: path, Query: query, Header: http.Header{"Accept": {accept}}}))
	defer func() { _ = resp.Body.Close() }()
	return string(must[[]byte](t)(io.ReadAll(resp.Body)))
}

func testOneAndCount(t *testing.T, s suite) {
	ns := s.namespace(t)
	r := s.configMaps.In(ns)
	count := func(r client.Resource[*ConfigMap], o client.ListOptions, n int, known bool) {
		t.Helper()
		if got, sure, err := r.Count(t.Context(), o); err != nil || got != n || sure != known {
			t.Errorf("the count with %+v is %d, %t, %v; want %d, %t", o, got, sure, err, n, known)
		}
	}
	count(r, client.ListOptions{}, 0, true)
	for _, name := range []string{"a", "b", "c"} {
		s.configMap(t, ns, name, map[string]string{"x": "y"})
	}
	count(r, client.ListOptions{}, 3, true)
	count(r, client.ListOptions{LabelSelector: "x=y"}, 0, false)
	count(r, client.ListOptions{LabelSelector: "x=z"}, 0, true)
	one := r.One(meta.Key{Name: "b"})
	list := must[meta.List[*ConfigMap]](t)(one.List(t.Context(), client.ListOptions{}))
	equal(t, "objects of the handle", len(list.Items), 1)
	for e, err := range one.Watch(t.Context(), client.WatchOptions{}) {
		if err != nil || e.Identity.Name != "b" {
			t.Fatalf("the watch brings %v, %v", e, err)
		}
		if e.Type == client.Deleted {
			break
		}
		if err := one.DeleteCollection(t.Context(), client.Selection{Everything: true}, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	count(r, client.ListOptions{}, 2, true)
}

func testReviewsOfSelectors(t *testing.T, s suite) {
	const path = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	review := func(more string) string {
		return `{"spec":{"resourceAttributes":{"verb":"list","resource":"pods",` + more + `}}}`
	}
	ask := func(name, more, at, is string) exchange {
		return exchange{name: name, path: path, body: review(more), code: 201, at: at, is: is}
	}
	const field = "spec.resourceAttributes.fieldSelector"
	for _, e := range []exchange{
		ask("both", `"fieldSelector":{"rawSelector":"spec.nodeName=a"},"labelSelector":{"rawSelector":"app in (a,b)"}`, "status", `{"allowed":true}`),
		ask("one that cannot be parsed", `"fieldSelector":{"rawSelector":"nonsense"}`, "status.evaluationError", `"`+field+` ignored due to parse error"`),
		ask("another", `"labelSelector":{"rawSelector":"app in web"}`, "status.evaluationError", `"spec.resourceAttributes.labelSelector ignored due to parse error"`),
		ask("what was asked", `"fieldSelector":{"rawSelector":"a=b"}`, field, `{"rawSelector":"a=b"}`),
		ask("terms", `"fieldSelector":{"requirements":[{"key":"a","operator":"In","values":["b"]}]}`, "status", `{"allowed":true}`),
		refused("an empty one", path, "", review(`"fieldSelector":{}`), 422, apierrors.Invalid,
			field+".requirements: Required value: when "+field+" is specified, requirements or rawSelector is required"),
		refused("text beside terms", path, "", review(`"fieldSelector":{"rawSelector":"a=b","requirements":[{"key":"a","operator":"In","values":["b"]}]}`),
			422, apierrors.Invalid, field+`.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements`),
	} {
		e.run(t, s, strings.NewReplacer())
	}
	d := must[client.Decision](t)(client.CanI(t.Context(), s.client, client.Access{
		Verb: "list", Resource: meta.GVR{Version: "v1", Resource: "pods"}, LabelSelector: "a=b", FieldSelector: "spec.nodeName=x",
	}))
	equal(t, "allowed", d, client.Decision{Allowed: true})
}
