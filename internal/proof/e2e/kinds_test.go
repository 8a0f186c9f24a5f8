package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/controlplane/build"
)

// kindsFile is what clienttest serves without being told: the resources, and what they do where one differs from another.
const kindsFile = "../../../client/clienttest/internal/kinds/kinds.json"

// freshFile is the objects of a fresh server that clienttest has too.
const freshFile = "../../../client/clienttest/internal/kinds/fresh.json"

// rolesFile is the roles and bindings of a fresh server that clienttest has too, with RBAC.
const rolesFile = "../../../client/clienttest/internal/kinds/roles.json"

// freshRoles are where those are: the ones that users bind to, and those that every user has.
var freshRoles = func() (paths []string) {
	for _, name := range []string{
		"admin", "cluster-admin", "edit", "system:aggregate-to-admin", "system:aggregate-to-edit", "system:aggregate-to-view", "system:basic-user",
		"system:discovery", "system:public-info-viewer", "view",
	} {
		paths = append(paths, "/apis/rbac.authorization.k8s.io/v1/clusterroles/"+name)
	}
	for _, name := range []string{"cluster-admin", "system:basic-user", "system:discovery", "system:public-info-viewer"} {
		paths = append(paths, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/"+name)
	}
	return paths
}()

// fresh is where the other objects are. Not among them are those that say how this server in particular is set up, which other servers make
// for their own use: roles, flow control, API services, the lease and the configuration of the server itself.
var fresh = []string{
	"/api/v1/namespaces/default", "/api/v1/namespaces/kube-node-lease", "/api/v1/namespaces/kube-public", "/api/v1/namespaces/kube-system",
	"/api/v1/namespaces/default/services/kubernetes", "/apis/networking.k8s.io/v1/ipaddresses/10.0.0.1",
	"/apis/networking.k8s.io/v1/servicecidrs/kubernetes", "/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical",
	"/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
}

// The objects that the server in the process starts with are those that kube-apiserver makes, but for what is random, the time, and the
// port of the server behind the service. After a change of its version, run this test with -update.
func TestFreshObjectsOfClienttestAreThoseOfTheServer(t *testing.T) {
	if newest := build.Minors()[0]; plane.Kubernetes != newest {
		t.Skipf("the objects of clienttest are those of Kubernetes %s", newest)
	}
	compareFresh(t, freshFile, fresh)
	compareFresh(t, rolesFile, freshRoles)
}

// compareFresh compares a file with objects of the server.
func compareFresh(t *testing.T, file string, paths []string) {
	t.Helper()
	c := open(t, adminConfig())
	var b bytes.Buffer
	for i, path := range paths {
		var got reply
		eventually(t, func() error { // the server makes them a little later than it is ready
			if got = ask(t, c, http.MethodGet, path, nil, ""); got.code != http.StatusOK {
				return errors.New(got.message)
			}
			return nil
		})
		text := with(t, string(must(json.Marshal(got.object))(t)), map[string]any{
			"metadata.uid": nil, "metadata.resourceVersion": nil, "metadata.creationTimestamp": nil, "metadata.generation": nil, "metadata.managedFields": nil,
		})
		b.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		b.Write(timestamp.ReplaceAll(targetPort.ReplaceAll([]byte(text), []byte(`"targetPort":6443`)), []byte(`"now"`)))
	}
	b.WriteString("\n]\n")
	compareFile(t, file, b.Bytes())
}

var targetPort = regexp.MustCompile(`"targetPort":\d+`)

// compareFile compares a file, or writes it with -update.
func compareFile(t *testing.T, name string, text []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, want := bytes.Split(must(os.ReadFile(name))(t), []byte("\n")), bytes.Split(text, []byte("\n"))
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !bytes.Equal(got[i], want[i]) {
			t.Fatalf("%s differs from the server in line %d; write it with: go test -run %s . -update\nit has  %s\nthe server %s",
				name, i+1, t.Name(), lineOf(got, i), lineOf(want, i))
		}
	}
}

// notServed are the resources and subresources that the server has and clienttest has not.
var notServed = map[string]string{
	"horizontalpodautoscalers.autoscaling/v1": "only one version of a resource is served",
	"nodes/proxy":      "it is a connection",
	"pods/attach":      "it is a connection",
	"pods/exec":        "it is a connection",
	"pods/log":         "there is no kubelet",
	"pods/portforward": "it is a connection",
	"pods/proxy":       "it is a connection",
	"services/proxy":   "it is a connection",
}

// kindRow is a resource as the file has it. The fields are explained at the type of the same name in clienttest.
type kindRow struct {
	Group        string          `json:"group,omitempty"`
	Version      string          `json:"version"`
	Resource     string          `json:"resource"`
	Kind         string          `json:"kind"`
	Singular     string          `json:"singular"`
	ShortNames   []string        `json:"shortNames,omitempty"`
	Categories   []string        `json:"categories,omitempty"`
	Cluster      bool            `json:"cluster,omitempty"`
	Subresources []string        `json:"subresources,omitempty"`
	Fields       []string        `json:"fields,omitempty"`
	Traits       []string        `json:"traits,omitempty"`
	Blank        json.RawMessage `json:"blank,omitempty"`
	Status       json.RawMessage `json:"status,omitempty"`
	Columns      [][]any         `json:"columns,omitempty"`

	reviews bool       // nothing is stored that a client can write
	kinds   []meta.GVK // of its objects, and of those of its subresources
}

// path returns where the resource is, in a namespace if it has any.
func (k kindRow) path(ns string) string {
	path := "/apis/" + k.Group + "/" + k.Version
	if k.Group == "" {
		path = "/api/" + k.Version
	}
	if !k.Cluster {
		path += "/namespaces/" + ns
	}
	return path + "/" + k.Resource
}

// servedBy returns the resources of aggregated discovery, in its order, without those of other servers and definitions.
func servedBy(t *testing.T, c *client.Client) []kindRow {
	t.Helper()
	var rows []kindRow
	header := http.Header{"Accept": {"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}}
	for _, root := range []string{"/api", "/apis"} {
		var groups struct {
			Items []struct {
				Metadata meta.ObjectMeta
				Versions []struct {
					Version   string
					Resources []struct {
						Resource, Scope, SingularResource string
						ResponseKind                      meta.GVK
						Verbs, ShortNames, Categories     []string
						Subresources                      []struct {
							Subresource  string
							ResponseKind meta.GVK
						}
					}
				}
			}
		}
		fetch(t, c, root, header, &groups)
		for _, g := range groups.Items {
			for _, v := range g.Versions {
				for _, r := range v.Resources {
					name := r.Resource
					if g.Metadata.Name != "" {
						name += "." + g.Metadata.Name
					}
					if r.ResponseKind.Group != "" || notServed[name] != "" || notServed[name+"/"+v.Version] != "" {
						continue // the built-in kinds name no group where it is that of the list
					}
					k := kindRow{
						Group: g.Metadata.Name, Version: v.Version, Resource: r.Resource, Kind: r.ResponseKind.Kind, Singular: r.SingularResource,
						ShortNames: r.ShortNames, Categories: r.Categories, Cluster: r.Scope == "Cluster",
						reviews: !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "create"),
						kinds:   []meta.GVK{{Group: g.Metadata.Name, Version: v.Version, Kind: r.ResponseKind.Kind}},
					}
					for _, s := range r.Subresources {
						if notServed[r.Resource+"/"+s.Subresource] != "" {
							continue
						}
						k.Subresources = append(k.Subresources, s.Subresource)
						is := s.ResponseKind
						if is.Version == "" { // what names no group is of this one
							is.Group, is.Version = g.Metadata.Name, v.Version
						}
						k.kinds = append(k.kinds, is)
					}
					if !k.reviews && !slices.Contains(r.Verbs, "deletecollection") {
						k.Traits = append(k.Traits, "single")
					}
					rows = append(rows, k)
				}
			}
		}
	}
	return rows
}

// reply is what the server says to a request.
type reply struct {
	code    int
	message string
	object  map[string]json.RawMessage
}

// ask sends a request, and takes every reply.
func ask(t *testing.T, c *client.Client, method, path string, query url.Values, body string) reply {
	t.Helper()
	r := client.RawRequest{Method: method, Path: path, Query: query, Header: http.Header{}}
	if body != "" {
		media := "application/json"
		if method == http.MethodPatch {
			media = "application/merge-patch+json"
		}
		r.Body, r.Header = []byte(body), http.Header{"Content-Type": {media}}
	}
	resp, err := c.Raw(t.Context(), r)
	if err != nil {
		var status *apierrors.StatusError
		if !errors.As(err, &status) {
			t.Fatal(err)
		}
		return reply{code: int(status.Status.Code), message: status.Status.Message}
	}
	defer resp.Body.Close()
	a := reply{code: resp.StatusCode}
	if err := json.Unmarshal(must(io.ReadAll(resp.Body))(t), &a.object); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return a
}

// with returns a JSON object with some of its members replaced, or without those that are to be null.
func with(t *testing.T, text string, change map[string]any) string {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for path, v := range change {
		names := strings.Split(path, ".")
		at := object
		for _, name := range names[:len(names)-1] {
			inner, _ := at[name].(map[string]any)
			if inner == nil {
				inner = map[string]any{}
				at[name] = inner
			}
			at = inner
		}
		if at[names[len(names)-1]] = v; v == nil {
			delete(at, names[len(names)-1])
		}
	}
	return string(must(json.Marshal(object))(t))
}

// rareKinds are the manifests of the kinds that are not ensured.
func rareKinds() []manifest {
	kind := func(group, kind, resource string, scope meta.Scope, minimal string) manifest {
		return manifest{gvk: meta.GVK{Group: group, Version: "v1", Kind: kind}, resource: resource, scope: scope, minimal: minimal}
	}
	return []manifest{
		kind("certificates.k8s.io", "ClusterTrustBundle", "clustertrustbundles", meta.Cluster, `{"spec":{"trustBundle":`+string(quoted(plane.CA))+`}}`),
		kind("certificates.k8s.io", "PodCertificateRequest", "podcertificaterequests", meta.Namespaced, `{"spec":{"signerName":"example.com/s","podName":"p","podUID":"u",
			"serviceAccountName":"s","serviceAccountUID":"v","nodeName":"n","nodeUID":"w","stubPKCS10Request":"`+stubRequest()+`"}}`),
		kind("resource.k8s.io", "DeviceTaintRule", "devicetaintrules", meta.Cluster, `{"spec":{"taint":{"key":"k","effect":"NoSchedule","timeAdded":"2026-01-02T03:04:05Z"}}}`),
		kind("storagemigration.k8s.io", "StorageVersionMigration", "storageversionmigrations", meta.Cluster, `{"spec":{"resource":{"group":"e2e.example.com","resource":"knots"}}}`),
	}
}

func quoted(b []byte) []byte {
	b, err := json.Marshal(string(b))
	if err != nil {
		panic(err) // it is a string
	}
	return b
}

// selectable are the fields that some server may select by, of any kind: more than any release has.
var selectable = func() (paths []string) {
	for of, names := range map[string]string{
		"":                "type reason source reportingComponent reportingController action note regarding related count series",
		"involvedObject.": "kind namespace name uid apiVersion resourceVersion fieldPath",
		"regarding.":      "kind namespace name uid apiVersion resourceVersion fieldPath",
		"spec.": "nodeName restartPolicy schedulerName serviceAccountName hostNetwork unschedulable clusterIP type replicas signerName podName driver " +
			"allNodes attacher storageClassName parentRef policyName holderIdentity selector suspend completions group version names.kind " +
			"providerID externalID volumeName claimRef.name claimRef.namespace completionMode trustBundle service.name",
		"status.": "phase podIP podIPs nominatedNodeName successful succeeded active failed replicas conditions hostIP state loadBalancer",
	} {
		for name := range strings.FieldsSeq(names) {
			paths = append(paths, of+name)
		}
	}
	slices.Sort(paths)
	return paths
}()

// The resources of the server in the process, and what each does, are those of kube-apiserver. After a change of its version, run this
// test with -update, and then that of the schemas.
func TestKindsOfClienttestAreThoseOfTheServer(t *testing.T) {
	if newest := build.Minors()[0]; plane.Kubernetes != newest {
		t.Skipf("the kinds of clienttest are those of Kubernetes %s", newest)
	}
	c, ns := admin(t)
	all := slices.Concat(manifests, moreManifests, rareKinds())
	var b bytes.Buffer
	for i, k := range servedBy(t, c) {
		if !k.reviews {
			at := slices.IndexFunc(all, func(m manifest) bool {
				return m.gvk == meta.GVK{Group: k.Group, Version: k.Version, Kind: k.Kind} && m.resource == k.Resource
			})
			if at < 0 {
				t.Fatalf("there is no manifest of %s of %s", k.Resource, k.Group)
			}
			probe(t, c, ns, &k, all[at])
		}
		b.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0])
		b.Write(must(json.Marshal(k))(t))
	}
	b.WriteString("\n]\n")
	compareFile(t, kindsFile, b.Bytes())
}

func lineOf(lines [][]byte, i int) []byte {
	if i < len(lines) {
		return lines[i]
	}
	return nil
}

// probe finds out what the server does with the objects of a resource.
func probe(t *testing.T, c *client.Client, ns string, k *kindRow, m manifest) {
	t.Helper()
	trait := func(is bool, name string) {
		if is {
			k.Traits = append(k.Traits, name)
		}
	}
	path, named := k.path(ns), func(name string) string {
		if other := namesOf[k.Kind]; other != nil {
			return other(name)
		}
		return name
	}
	of := func(name string) string {
		change := map[string]any{"apiVersion": meta.GVR{Group: k.Group, Version: k.Version}.APIVersion(), "kind": k.Kind, "metadata.name": named(name)}
		return with(t, strings.NewReplacer("NAME", name, "NSPACE", ns).Replace(m.minimal), change)
	}
	dry := url.Values{"dryRun": {"All"}}
	want := func(a reply, what string, codes ...int) reply {
		t.Helper()
		if !slices.Contains(codes, a.code) {
			t.Fatalf("%s of %s: %d %s", what, path, a.code, a.message)
		}
		return a
	}

	// An update of what is not there.
	a := want(ask(t, c, http.MethodPut, path+"/"+named("probe"), dry, of("probe")), "an update", 200, 201, 404, 409)
	trait(a.code == http.StatusCreated, "createOnUpdate")

	made := want(ask(t, c, http.MethodPost, path, nil, of("probe")), "a create", http.StatusCreated)
	// Controllers inside the server write some kinds meanwhile.
	update := func(what string, change map[string]any, codes ...int) (was, is reply) {
		t.Helper()
		at := path + "/" + named("probe")
		eventually(t, func() error {
			was = want(ask(t, c, http.MethodGet, at, nil, ""), "a get", 200)
			whole := with(t, string(must(json.Marshal(was.object))(t)), change)
			if is = ask(t, c, http.MethodPut, at, dry, whole); is.code == http.StatusConflict {
				return errors.New(is.message)
			}
			return nil
		})
		return was, want(is, what, codes...)
	}
	var metadata meta.ObjectMeta
	if err := json.Unmarshal(made.object["metadata"], &metadata); err != nil {
		t.Fatal(err)
	}
	trait(metadata.Generation > 0, "generation")
	if slices.Contains(k.Subresources, "status") {
		k.Status = initial(k.Kind, made.object["status"])
		if status := statusOf[k.Kind]; status != "" {
			a = want(ask(t, c, http.MethodPost, path, dry, with(t, of("probe2"), map[string]any{"status": json.RawMessage(status)})), "a create with status", 201)
			trait(!same(a.object["status"], made.object["status"]), "statusOnCreate")
			was, is := update("an update with status", map[string]any{"status": json.RawMessage(status)}, 200)
			trait(!same(was.object["status"], is.object["status"]), "statusOnUpdate")
		} else {
			t.Errorf("%s has a status, and there is none in statusOf", k.Kind)
		}
	}
	// An update of any version, or of one only.
	_, a = update("an update without a version", map[string]any{"metadata.resourceVersion": nil}, 200, 422)
	trait(a.code == http.StatusOK, "unconditional")

	// The names.
	name := func(name string) bool {
		return ask(t, c, http.MethodPost, path, dry, with(t, of("probe3"), map[string]any{"metadata.name": name})).code == http.StatusCreated
	}
	switch {
	case name("a:b") || name("2001:db8::1"):
		trait(true, "nameSegment")
	case namesOf[k.Kind] == nil && !name("a.b"):
		trait(true, "nameLabel")
	}

	// The fields to select by.
	a = want(ask(t, c, http.MethodGet, path, url.Values{"fieldSelector": {"no.such=x"}}, ""), "an unknown field", 400)
	trait(strings.Contains(a.message, "is not a known field selector"), "anyField")
	for _, field := range selectable {
		if ask(t, c, http.MethodGet, path, url.Values{"fieldSelector": {field + "=x"}}, "").code == http.StatusOK {
			k.Fields = append(k.Fields, field)
		}
	}

	k.Blank = bookmark(t, c, path)
	k.Columns = columns(t, c, path)

	a = want(ask(t, c, http.MethodDelete, path+"/"+named("probe"), url.Values{"gracePeriodSeconds": {"0"}}, ""), "a delete", 200)
	trait(string(a.object["kind"]) != `"Status"`, "returnDeleted")
}

// initial returns the status that a kind starts with. The time at which it starts is the text "now"; a status that depends on the
// spec is not told.
func initial(kind string, status json.RawMessage) json.RawMessage {
	if slices.Contains([]string{"APIService", "CustomResourceDefinition"}, kind) {
		return nil
	}
	return timestamp.ReplaceAll(compact1(status), []byte(`"now"`))
}

var timestamp = regexp.MustCompile(`"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ"`)

func same(a, b json.RawMessage) bool { return bytes.Equal(compact1(a), compact1(b)) }

// compact1 returns a value in its one form, with sorted members.
func compact1(b json.RawMessage) json.RawMessage {
	if len(b) == 0 {
		return nil
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		panic(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// bookmark returns what a bookmark has of an object but the metadata, as the members of an object in the server's order.
func bookmark(t *testing.T, c *client.Client, path string) json.RawMessage {
	t.Helper()
	resp := must(c.Raw(t.Context(), client.RawRequest{Path: path, Query: url.Values{
		"watch": {"true"}, "allowWatchBookmarks": {"true"}, "sendInitialEvents": {"true"}, "resourceVersionMatch": {"NotOlderThan"}, "timeoutSeconds": {"60"},
	}}))(t)
	defer resp.Body.Close()
	d := json.NewDecoder(resp.Body)
	for {
		var e struct {
			Type   string
			Object json.RawMessage
		}
		if err := d.Decode(&e); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if e.Type != "BOOKMARK" {
			continue
		}
		// The members after the metadata, as they are written.
		od, end := json.NewDecoder(bytes.NewReader(e.Object)), 0
		_, _ = od.Token()
		for od.More() {
			name := must(od.Token())(t)
			var v json.RawMessage
			if err := od.Decode(&v); err != nil {
				t.Fatal(err)
			}
			if name == "metadata" {
				end = int(od.InputOffset())
			}
		}
		rest := bytes.TrimPrefix(e.Object[end:], []byte(","))
		if len(rest) <= 1 {
			return nil
		}
		return append([]byte("{"), rest...)
	}
}

// columns returns what a Table of the resource has: for each column the name, the type, the format and the priority.
func columns(t *testing.T, c *client.Client, path string) (out [][]any) {
	t.Helper()
	var table struct {
		ColumnDefinitions []struct {
			Name, Type, Format string
			Priority           int
		}
	}
	fetch(t, c, path, http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}}, &table)
	for _, d := range table.ColumnDefinitions {
		row := []any{d.Name, d.Type, d.Format, d.Priority}
		for len(row) > 1 && (row[len(row)-1] == 0 || row[len(row)-1] == "" || len(row) == 2 && row[1] == "string") {
			row = row[:len(row)-1]
		}
		out = append(out, row)
	}
	return out
}
