package strategies

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/cel"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/controlplane/build"

	"sigs.k8s.io/yaml"
)

var (
	all    = flag.Bool("all", false, "try all changes")
	update = flag.Bool("update", false, "write the list of what clienttest does not check; needs -all")
	some   = flag.Int("changes", 15, "how many changes of each object to try, without -all")
	first  = flag.Uint64("first", 1, "which changes are tried, without -all")
)

const (
	// uncheckedFile lists the fields that clienttest does not check, or not in full.
	uncheckedFile = "../../../../client/clienttest/internal/strategy/unchecked.txt"
	// ownersFile lists the fields with the right values, and owners that differ in managedFields.
	ownersFile = "testdata/owners.txt"

	namespace = "strategies"
)

// fields are the fields of kinds that clienttest does not check in full, such as "Pod spec.resourceClaims".
type fields map[string]bool

// covers reports whether a field, or one that it is in, is in the list.
func (f fields) covers(kind, field string) bool {
	for at := field; ; {
		if f[strings.TrimSpace(kind+" "+at)] {
			return true
		}
		if at == "" {
			return false
		}
		at = at[:max(0, strings.LastIndex(at, "."))]
	}
}

// write writes the list into a file.
func (f fields) write(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(strings.Join(slices.Sorted(maps.Keys(f)), "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// keep adds the fields of the kinds that were not tried, because -run chose others.
func (f fields) keep(listed, tried fields) fields {
	for field := range listed {
		if kind, _, _ := strings.Cut(field, " "); !tried[kind] {
			f[field] = true
		}
	}
	return f
}

// book has the lists of what may differ, and what has been found to differ: the rules of fields, and their owners alone.
type book struct{ listed, owners, found, foundOwners, tried fields }

// sides are the two servers.
type sides struct{ real, inside *client.Client }

// The server in the process has the defaults and the rules of kube-apiserver: what one takes the other takes too, with
// the same result, and what one refuses the other refuses, for the same reasons at the same fields.
func TestWrites(t *testing.T) {
	plane, err := controlplane.Start(t.Context(), controlplane.Options{Kubernetes: build.Minors()[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	}()
	both := sides{open(t, client.Config{
		Server: plane.Server, TLS: client.TLS{CAData: client.Secret(plane.CA)}, BearerToken: client.Secret(plane.Token),
	}), open(t, clienttest.Start(t, clienttest.Options{Rules: cel.Rules()}).Config())}
	for _, c := range []*client.Client{both.real, both.inside} {
		if a := send(t, c, http.MethodPost, "/api/v1/namespaces", object{"metadata": object{"name": namespace}}); a.code != http.StatusCreated {
			t.Fatal(a)
		}
	}
	schemas, kinds := schemasOf(t, both.real), kindsOf(t, both.real)
	b := &book{listed: readFields(t, uncheckedFile), owners: readFields(t, ownersFile), found: fields{}, foundOwners: fields{}, tried: fields{}}
	for _, obj := range objects(t) {
		name := fmt.Sprintf("%s/%s", obj["kind"], obj["metadata"].(object)["name"])
		t.Run(name, func(t *testing.T) { both.compare(t, schemas, obj, b) })
	}
	for kind := range kinds {
		if !slices.ContainsFunc(objects(t), func(o object) bool { return o["kind"] == kind }) {
			b.found[kind] = true
			if !*update && !b.listed[kind] {
				t.Errorf("there is no object of the kind %s in testdata, and %s does not list it", kind, uncheckedFile)
			}
		}
	}
	if *all && *update {
		b.found.keep(b.listed, b.tried).write(t, uncheckedFile)
		b.foundOwners.keep(b.owners, b.tried).write(t, ownersFile)
	}
}

// compare makes changes of an object, and sends them to both servers: to create them, and as updates of the object.
func (s sides) compare(t *testing.T, schemas map[string]*schema, obj object, b *book) {
	kind, _ := obj["kind"].(string)
	b.tried[kind] = true
	collection := path(t, s.real, obj)
	want, got := send(t, s.real, http.MethodPost, collection, obj), send(t, s.inside, http.MethodPost, collection, obj)
	s.differ(t, change{what: "the object itself", to: obj}, "create", want, got, b)
	if want.code != http.StatusCreated || got.code != http.StatusCreated {
		t.Fatalf("the object itself must be valid: %s and %s", want, got)
	}
	name, _ := obj["metadata"].(object)["name"].(string)
	both := func(path string, obj object) (want, got answer) {
		return put(t, s.real, path, obj), put(t, s.inside, path, obj)
	}
	if obj["status"] != nil {
		at := collection + "/" + name + "/status"
		want, got := both(at, obj)
		s.differ(t, change{what: "the object's status", to: obj}, "status of", want, got, b)
	}
	c := &changer{schemas: schemas, whole: clone(obj).(object)}
	c.walk(place{}, c.whole, schemas[schemaName(t, schemas, obj)])
	random := rand.New(rand.NewPCG(*first, 0))
	random.Shuffle(len(c.changes), func(i, j int) { c.changes[i], c.changes[j] = c.changes[j], c.changes[i] })
	if !*all {
		c.changes = c.changes[:min(*some, len(c.changes))]
	}
	refused := 0
	for _, one := range c.changes {
		if strings.HasPrefix(one.path, "status") {
			want, got := both(collection+"/"+name+"/status?dryRun=All", one.to)
			s.differ(t, one, "status of", want, got, b)
			continue
		}
		other := clone(one.to).(object)
		other["metadata"].(object)["name"] = otherName(kind, name)
		want, got := send(t, s.real, http.MethodPost, collection+"?dryRun=All", other), send(t, s.inside, http.MethodPost, collection+"?dryRun=All", other)
		s.differ(t, one, "create", want, got, b)
		if want.code >= 300 {
			refused++
		}
		want, got = both(collection+"/"+name+"?dryRun=All", one.to)
		s.differ(t, one, "update", want, got, b)
	}
	if kind == "ResourceQuota" { // it would refuse other objects, on the servers that know how many there are
		for _, c := range []*client.Client{s.real, s.inside} {
			send(t, c, http.MethodDelete, collection+"/"+name, object{})
		}
	}
	t.Logf("%s: %d changes, of which the server refuses %d", kind, len(c.changes), refused)
}

// put sends an update. Some kinds must name the version that they replace. A controller of the server may write another
// one meanwhile, so put tries again after a conflict.
func put(t *testing.T, c *client.Client, path string, obj object) (last answer) {
	t.Helper()
	if last = send(t, c, http.MethodPut, path, obj); !last.needsVersion() {
		return last
	}
	object, _, _ := strings.Cut(path, "?")
	for range 5 {
		var is struct {
			Metadata struct{ ResourceVersion string }
		}
		fetch(t, c, strings.TrimSuffix(object, "/status"), &is)
		obj = clone(obj).(map[string]any)
		obj["metadata"].(map[string]any)["resourceVersion"] = is.Metadata.ResourceVersion
		if last = send(t, c, http.MethodPut, path, obj); last.code != http.StatusConflict {
			break
		}
	}
	return last
}

// otherName returns the name of another object of a kind.
func otherName(kind, name string) string {
	switch kind {
	case "APIService": // its name is that of what it serves; both servers check it before they find that it exists
		return name
	case "IPAddress":
		return name + "1"
	}
	return name + "-other"
}

// differ fails the test if two answers differ, unless the list says that the field is not checked.
func (s sides) differ(t *testing.T, c change, verb string, want, got answer, b *book) {
	t.Helper()
	is, as := want.String(), got.String()
	if is == as || want.code == 0 && got.code != 0 {
		return
	}
	kind, _ := c.to["kind"].(string)
	listed, found := b.listed, b.found
	if want.code < 300 && got.code < 300 && want.withoutOwners() == got.withoutOwners() {
		listed, found = b.owners, b.foundOwners
	}
	if *update {
		found[strings.TrimSpace(kind+" "+c.field())] = true
		return
	}
	if listed.covers(kind, c.field()) {
		return
	}
	if want.status == nil && got.status == nil {
		is, as = differences(want.body, got.body)
	}
	t.Errorf("%s %s %s %s:\nkube-apiserver %.2000s\nclienttest     %.2000s", verb, kind, c.path, c.what, is, as)
}

// differences returns two objects without what they have in common.
func differences(a, b object) (string, string) {
	x, y := object{}, object{}
	for name := range maps.Keys(a) {
		is, isObject := a[name].(object)
		as, asObject := b[name].(object)
		switch {
		case isObject && asObject:
			if text(is) != text(as) {
				l, r := differences(is, as)
				x[name], y[name] = json.RawMessage(l), json.RawMessage(r)
			}
		case text(a[name]) != text(b[name]):
			x[name] = a[name]
		}
	}
	for name, e := range b {
		if _, done := y[name]; !done && text(e) != text(a[name]) {
			y[name] = e
		}
	}
	return text(x), text(y)
}

// answer is what a server answers.
type answer struct {
	code   int
	status *apierrors.StatusError
	body   object
}

// needsVersion reports whether the server wants the version that an update replaces.
func (a answer) needsVersion() bool {
	if a.status == nil || a.status.Status.Details == nil {
		return false
	}
	return slices.ContainsFunc(a.status.Status.Details.Causes, func(c meta.StatusCause) bool {
		return c.Field == "metadata.resourceVersion" && strings.Contains(c.Message, "must be specified for an update")
	})
}

// String returns what both servers must say alike.
func (a answer) String() string {
	if a.status == nil {
		return fmt.Sprint(a.code, " ", text(a.body))
	}
	s := a.status.Status
	lines := []string{}
	if s.Details != nil {
		for _, c := range s.Details.Causes {
			lines = append(lines, c.Reason+" "+hideOrder(s.Details.Kind, c.Field))
		}
	}
	slices.Sort(lines)
	return fmt.Sprintf("%d %s %s", a.code, s.Reason, strings.Join(slices.Compact(lines), ", "))
}

// withoutOwners returns the object of an answer without managedFields.
func (a answer) withoutOwners() string {
	body := clone(a.body).(object)
	if metadata, ok := body["metadata"].(object); ok {
		delete(metadata, "managedFields")
	}
	return text(body)
}

// send sends a request, and returns the answer without what differs from server to server.
func send(t *testing.T, c *client.Client, method, path string, body object) answer {
	t.Helper()
	u, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Raw(t.Context(), client.RawRequest{
		Method: method, Path: u.Path, Query: u.Query(), Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(text(body)),
	})
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return answer{code: status.Status.Code, status: status}
	}
	if err != nil {
		t.Logf("no answer to %s of %s: %v", method, path, err) // kube-apiserver 1.37 panics at some jobs without a template
		return answer{}
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{code: resp.StatusCode}
	if err := json.Unmarshal(raw, &a.body); err != nil {
		t.Fatal(err)
	}
	if metadata, ok := a.body["metadata"].(object); ok { // a job has its UID in labels too
		uid, _ := metadata["uid"].(string)
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(raw), uid, "uid")), &a.body); uid != "" && err != nil {
			t.Fatal(err)
		}
	}
	if status, ok := a.body["status"].(object); ok {
		delete(status, "lastPhaseTransitionTime")
	}
	hideChosen(a.body, text(body))
	hideControlled(a.body)
	hideQuotaStatus(a.body)
	a.body, _ = hideNow(a.body).(object)
	if metadata, ok := a.body["metadata"].(object); ok {
		for _, name := range []string{"uid", "creationTimestamp", "resourceVersion"} {
			delete(metadata, name)
		}
		owners, _ := metadata["managedFields"].([]any)
		for _, o := range owners {
			delete(o.(object), "time")
		}
		slices.SortFunc(owners, func(a, b any) int { return strings.Compare(text(a), text(b)) }) // they are in the order of their times
	}
	return a
}

func open(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// objects reads the objects of testdata.
func objects(t *testing.T) []object {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no objects: ", err)
	}
	var found []object
	for _, file := range files {
		doc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(doc), "\n---\n") {
			var obj object
			if err := yaml.Unmarshal([]byte(part), &obj); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			found = append(found, obj)
		}
	}
	return found
}

// path returns the path of the collection of an object.
func path(t *testing.T, c *client.Client, obj object) string {
	t.Helper()
	version, _ := obj["apiVersion"].(string)
	root := "/apis/" + version
	if !strings.Contains(version, "/") {
		root = "/api/" + version
	}
	var list struct {
		Resources []struct {
			Name, Kind string
			Namespaced bool
		}
	}
	fetch(t, c, root, &list)
	for _, r := range list.Resources {
		switch {
		case r.Kind != obj["kind"] || strings.Contains(r.Name, "/"):
		case r.Namespaced:
			return root + "/namespaces/" + namespace + "/" + r.Name
		default:
			return root + "/" + r.Name
		}
	}
	t.Fatalf("the server has no %s of %s", obj["kind"], version)
	return ""
}

func fetch(t *testing.T, c *client.Client, path string, into any) {
	t.Helper()
	resp, err := c.Raw(context.WithoutCancel(t.Context()), client.RawRequest{Method: http.MethodGet, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// schemasOf returns the server's schemas of all groups, by name.
func schemasOf(t *testing.T, c *client.Client) map[string]*schema {
	t.Helper()
	var root struct{ Paths map[string]any }
	fetch(t, c, "/openapi/v3", &root)
	found := map[string]*schema{}
	for path := range root.Paths {
		var doc struct {
			Components struct{ Schemas map[string]*schema }
		}
		fetch(t, c, "/openapi/v3/"+path, &doc)
		maps.Copy(found, doc.Components.Schemas)
	}
	return found
}

// schemaName returns the name of the schema of an object.
func schemaName(t *testing.T, schemas map[string]*schema, obj object) string {
	t.Helper()
	version, _ := obj["apiVersion"].(string)
	group, v, found := strings.Cut(version, "/")
	if !found {
		group, v = "core", version
	}
	group, _, _ = strings.Cut(group, ".")
	for name := range schemas {
		if strings.HasPrefix(name, "io.k8s.") && strings.HasSuffix(name, fmt.Sprintf(".%s.%s.%s", group, v, obj["kind"])) {
			return name
		}
	}
	t.Fatalf("no schema of %s %s", version, obj["kind"])
	return ""
}

// readFields reads a list of fields.
func readFields(t *testing.T, file string) fields {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	found := fields{}
	for line := range strings.Lines(string(doc)) {
		if line = strings.TrimSpace(line); line != "" {
			found[line] = true
		}
	}
	return found
}

// kindsOf returns the kinds that can be created and have a stable version.
func kindsOf(t *testing.T, c *client.Client) map[string]bool {
	t.Helper()
	var groups struct {
		Groups []struct {
			Versions []struct{ GroupVersion string }
		}
	}
	fetch(t, c, "/apis", &groups)
	paths := []string{"/api/v1"}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			if !strings.Contains(v.GroupVersion, "alpha") && !strings.Contains(v.GroupVersion, "beta") {
				paths = append(paths, "/apis/"+v.GroupVersion)
			}
		}
	}
	kinds := map[string]bool{}
	for _, path := range paths {
		var list struct {
			Resources []struct {
				Name, Kind string
				Verbs      []string
			}
		}
		fetch(t, c, path, &list)
		for _, r := range list.Resources {
			if !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "update") && r.Kind != "Event" && r.Kind != "CustomResourceDefinition" {
				kinds[r.Kind] = true
			}
		}
	}
	return kinds
}
