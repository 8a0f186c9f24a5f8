package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// site is an object whose type has a status without omitempty, and a zero that means something.
type site struct {
	meta.Identity `json:"metadata"`
	Spec          siteSpec `json:"spec"`
	Status        struct {
		URL string `json:"url"`
	} `json:"status"`
}

type siteSpec struct {
	N int `json:"n"`
}

var sites = client.Type[*site]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"}

func siteText(version, rest string) string {
	return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Site","metadata":{"namespace":"web","name":"a","uid":"u","resourceVersion":"%s"},%s}`, version, rest)
}

// With a field alone in its struct, live 3 and wanted 0, Ensure said Unchanged; beside another field it wrote.
func TestEnsureWritesAZero(t *testing.T) {
	srv := says(siteText("1", `"spec":{"n":3},"status":{"url":"x"}`), siteText("2", `"spec":{"n":0},"status":{"url":"x"}`))
	_, done, err := client.For(connect(t, srv), sites).Ensure(t.Context(), &site{Identity: at(web)}, client.EnsureOptions{})
	if err != nil || done.String() != "Updated" {
		t.Fatalf("got %v, %v", done, err)
	}
	if body := srv.all()[1].body; !strings.Contains(body, `"spec":{"n":0}`) || !strings.Contains(body, `"status":{"url":"x"}`) {
		t.Errorf("sent %s", body)
	}
}

// An empty status of a type without omitempty is not wanted, and not sent with a creation either.
func TestEnsureSendsNoStatus(t *testing.T) {
	srv := answers(answer{code: 404, body: status(404, "NotFound", "no")}, answer{code: 201, body: siteText("1", `"spec":{"n":0}`)})
	_, done, err := client.For(connect(t, srv), sites).Ensure(t.Context(), &site{Identity: at(web)}, client.EnsureOptions{})
	if err != nil || done.Outcome != client.Created || !done.New {
		t.Fatalf("got %v, %v", done, err)
	}
	if body := srv.all()[1].body; strings.Contains(body, "status") || !strings.Contains(body, `"n":0`) || !strings.Contains(body, `"kind":"Site"`) {
		t.Errorf("sent %s", body)
	}
}

// The status of an object that was cloned from a cache is that of the past, and a status that the program has set would be lost. So it is
// an error at once, whatever the server has, and says what to do.
func TestEnsureOfACloneSaysWhatToDo(t *testing.T) {
	srv := says(siteText("1", `"spec":{"n":3},"status":{"url":"x"}`))
	sites := client.For(connect(t, srv), sites)
	read := must[*site](t)(sites.Get(t.Context(), web))
	want := meta.Clone(read)
	want.Spec.N = 4
	for _, o := range []client.EnsureOptions{{}, {Known: read}} {
		_, _, err := sites.Ensure(t.Context(), want, o)
		is[*client.UsageError](t, err)
		wantErr(t, err, `ensure sites.example.com "web/a": status must be empty, because Ensure does not write it: use Status().Modify or Status().Apply; to change an object that was read, or cloned from a cache, use Modify`)
	}
	if n := len(srv.all()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// A default, an admission plugin or an immutable field that has the last word was Updated each time, or Unchanged.
func TestEnsureSaysWhatTheServerDoesNotKeep(t *testing.T) {
	absent := answer{code: 404, body: status(404, "NotFound", "no")}
	for _, test := range []struct {
		name    string
		answers []answer
		want    string
		isNew   bool
	}{
		{"another value", []answer{{body: siteText("1", `"spec":{"n":1}`)}, {body: siteText("2", `"spec":{"n":5}`)}}, "NotKept: /spec/n", false},
		{"the same value", []answer{{body: siteText("1", `"spec":{"n":1}`)}, {body: siteText("1", `"spec":{"n":1}`)}}, "NotKept: /spec/n", false},
		{"no value", []answer{{body: siteText("1", `"spec":{"n":1}`)}, {body: siteText("2", `"spec":{}`)}}, "NotKept: /spec/n", false},
		{"another value of a new object", []answer{absent, {code: 201, body: siteText("1", `"spec":{"n":5}`)}}, "NotKept: /spec/n", true},
		{"all of a new object", []answer{absent, {code: 201, body: siteText("1", `"spec":{"n":7,"more":1}`)}}, "Created", true},
		{"all", []answer{{body: siteText("1", `"spec":{"n":1}`)}, {body: siteText("2", `"spec":{"n":7}`)}}, "Updated", false},
		{"all, which is no change to the server", []answer{{body: siteText("1", `"spec":{"n":1}`)}, {body: siteText("1", `"spec":{"n":7}`)}}, "Unchanged", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := answers(test.answers...)
			_, done, err := client.For(connect(t, srv), sites).Ensure(t.Context(), &site{Identity: at(web), Spec: siteSpec{N: 7}}, client.EnsureOptions{})
			if err != nil || done.String() != test.want || done.New != test.isNew || len(srv.all()) != 2 {
				t.Errorf("got %v, new %v, %v, want %s", done, done.New, err, test.want)
			}
		})
	}
}

// An object is adopted by a write after which the server says that it is controlled, if the caller wanted that.
func TestEnsureSaysWhetherItAdopted(t *testing.T) {
	const controlled = `{"ownerReferences":[{"apiVersion":"v1","kind":"Boss","name":"b1","uid":"1","controller":true}],`
	text := func(metadata, version, value string) string {
		return `{"kind":"ConfigMap","apiVersion":"v1","metadata":` + metadata +
			`"namespace":"web","name":"a","uid":"u","resourceVersion":"` + version + `"},"data":{"k":"` + value + `"}}`
	}
	for _, test := range []struct {
		name   string
		wanted []meta.OwnerReference
		after  string // the metadata
		want   string
		adopts bool
	}{
		{"it did", owner("1"), controlled, "Updated, adopted", true},
		{"the server left the owner out", owner("1"), "{", "NotKept: /metadata/ownerReferences", false},
		{"the server put one in that nobody wanted", nil, controlled, "Updated", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := answers(answer{body: text("{", "1", "v")}, answer{body: text(test.after, "2", "w")})
			_, done, err := client.For(connect(t, srv), configMaps).Ensure(t.Context(), &ConfigMap{
				ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "a", OwnerReferences: test.wanted}, Data: map[string]string{"k": "w"},
			}, client.EnsureOptions{})
			if err != nil || done.String() != test.want || done.Adopted != test.adopts {
				t.Errorf("got %v, adopted %t, %v; want %s", done, done.Adopted, err, test.want)
			}
		})
	}
}

func owner(uid string) []meta.OwnerReference {
	yes := true
	return []meta.OwnerReference{{APIVersion: "v1", Kind: "Boss", Name: "b" + uid, UID: uid, Controller: &yes}}
}

// An object that a user had made was adopted, and deleted with its owner later.
func TestEnsureOfOwnedObjectsAdoptsNothing(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{})
	maps, ctx, owned := client.For(dial(t, server.Config()), configMaps), t.Context(), client.EnsureOptions{Owned: true}
	object := func(name, value string, owners []meta.OwnerReference) *ConfigMap {
		return &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: owners}, Data: map[string]string{"k": value}}
	}
	// Without an object Ensure creates it, and later changes it.
	for _, step := range []struct{ value, want string }{{"v", "Created"}, {"w", "Updated"}, {"w", "Unchanged"}} {
		if _, done, err := maps.Ensure(ctx, object("own", step.value, owner("1")), owned); err != nil || done.String() != step.want {
			t.Errorf("%v, %v, want %s", done, err, step.want)
		}
	}

	made := must[*ConfigMap](t)(maps.Create(ctx, object("users", "v", nil)))
	for _, o := range []client.EnsureOptions{owned, {Owned: true, Known: made}, {Owned: true, Known: object("users", "v", owner("1"))}} {
		for _, value := range []string{"v", "w"} {
			_, done, err := maps.Ensure(ctx, object("users", value, owner("1")), o)
			refused := is[*client.ControllerError](t, err)
			if refused.Present.UID != "" || !strings.Contains(refused.Error(), `(uid "1") from adopting it`) || done.Outcome != client.Unchanged {
				t.Errorf("got %v and %+v", done, refused)
			}
			wantErr(t, err, `ensure configmaps "default/users": "default/users" exists without a controller, and EnsureOptions.Owned keeps Boss "b1" (uid "1") from adopting it`)
		}
	}
	if live := must[*ConfigMap](t)(maps.Get(ctx, meta.KeyOf(made))); live.ResourceVersion != made.ResourceVersion {
		t.Errorf("the object has changed: %+v", live)
	}
	_, _, err := maps.Ensure(ctx, object("own", "w", owner("2")), owned)
	if refused := is[*client.ControllerError](t, err); refused.Present.UID != "1" {
		t.Errorf("got %+v", refused)
	}
	_, _, err = maps.Ensure(ctx, object("own", "w", nil), owned)
	is[*client.UsageError](t, err)
	wantErr(t, err, "client.EnsureOptions: Owned must be false for an object that names no controller; see SetController")
}

// Two controllers that want one object each made it their own, or one wrote into what was the other's.
func TestEnsureRefusesAnObjectOfAnotherController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		maps := client.For(dial(t, server.Config()), configMaps)
		object := func(owners []meta.OwnerReference) *ConfigMap {
			return &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a", OwnerReferences: owners}, Data: map[string]string{"k": "v"}}
		}
		made := must[*ConfigMap](t)(maps.Create(t.Context(), object(nil)))
		_, done, err := maps.Ensure(t.Context(), object(owner("1")), client.EnsureOptions{})
		if err != nil || done.String() != "Updated, adopted" || !done.Adopted {
			t.Fatalf("an object without an owner: %v, %v", done, err)
		}
		if _, done, err = maps.Ensure(t.Context(), object(owner("1")), client.EnsureOptions{}); err != nil || done.Outcome != client.Unchanged || done.Adopted {
			t.Errorf("again: %v, %v", done, err)
		}
		other := object(owner("2"))
		other.Data["k"] = "other"
		for _, o := range []client.EnsureOptions{{}, {Known: made}, {Known: other}} {
			_, done, err = maps.Ensure(t.Context(), other, o)
			var refused *client.ControllerError
			if !errors.As(err, &refused) || refused.Present.UID != "1" || !strings.HasSuffix(refused.Error(), `(uid "2")`) || done.Outcome != client.Unchanged {
				t.Errorf("of another's: %v, %v", done, err)
			}
		}
		wantErr(t, err, `ensure configmaps "default/a": "default/a" is controlled by Boss "b1" (uid "1"), not by Boss "b2" (uid "2")`)
		got := must[*ConfigMap](t)(maps.Get(t.Context(), meta.KeyOf(made)))
		if got.Data["k"] != "v" || len(got.OwnerReferences) != 1 {
			t.Errorf("it became %+v", got)
		}
		// An Ensure that names no controller wrote into what another controls, and the controller wrote it back. It is refused, even if
		// all is as wanted today; a change of a part is not.
		for _, o := range []client.EnsureOptions{{}, {Known: got}} {
			for value, shared := range map[string][]meta.OwnerReference{"w": nil, "v": nil, "u": {{APIVersion: "v1", Kind: "Boss", Name: "b3", UID: "3"}}} {
				free := object(shared)
				free.Data["k"] = value
				_, done, err = maps.Ensure(t.Context(), free, o)
				var refused *client.ControllerError
				if !errors.As(err, &refused) || refused.Present.UID != "1" || !strings.Contains(refused.Error(), "names no controller") || done.Outcome != client.Unchanged {
					t.Errorf("without a controller: %v, %v", done, err)
				}
			}
		}
		wantErr(t, err, `ensure configmaps "default/a": "default/a" is controlled by Boss "b1" (uid "1"), but the wanted object names no controller; use Modify or Apply to change a part of it`)
		if now := must[*ConfigMap](t)(maps.Get(t.Context(), meta.KeyOf(made))); now.ResourceVersion != got.ResourceVersion {
			t.Errorf("it became %+v", now)
		}
		must[*ConfigMap](t)(maps.Modify(t.Context(), meta.KeyOf(made), func(m *ConfigMap) error {
			m.Data["k"] = "w"
			return nil
		}))
	})
}

// counted returns a client and the number of requests that it has sent.
func counted(t *testing.T, cfg client.Config) (*client.Client, *atomic.Int64) {
	t.Helper()
	var sent atomic.Int64
	cfg.Hooks.Request = func(context.Context, client.RequestInfo) { sent.Add(1) }
	return dial(t, cfg), &sent
}

// A resync of objects that are as they should be read each of them.
func TestAResyncFromACacheSendsNothing(t *testing.T) {
	const many = 1000
	server := clienttest.Start(t, clienttest.Options{})
	c, sent := counted(t, server.Config())
	maps := client.For(c, configMaps)
	want := make([]*ConfigMap, many)
	cached := make([]*ConfigMap, many)
	for i := range want {
		want[i] = &ConfigMap{
			ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: fmt.Sprint("m", i), Labels: map[string]string{"i": fmt.Sprint(i)}, OwnerReferences: owner("1")},
			Data:       map[string]string{"k": fmt.Sprint(i)},
		}
		cached[i] = meta.Clone(want[i])
		cached[i].UID, cached[i].ResourceVersion, cached[i].Data["other"] = fmt.Sprint("u", i), fmt.Sprint(i+1), "x"
	}
	for i := range want {
		got, done, err := maps.Ensure(t.Context(), want[i], client.EnsureOptions{Known: cached[i]})
		if err != nil || done.Outcome != client.Unchanged || got == cached[i] || got.UID != cached[i].UID || got.Data["other"] != "x" {
			t.Fatalf("got %+v, %v, %v", got, done, err)
		}
		m, err := maps.ModifyWith(t.Context(), meta.KeyOf(want[i]), func(m *ConfigMap) error {
			m.Labels["i"] = fmt.Sprint(i)
			return nil
		}, client.ModifyOptions{Known: cached[i]})
		if err != nil || m == cached[i] || m.UID != cached[i].UID {
			t.Fatalf("modified to %+v, %v", m, err)
		}
	}
	if n := sent.Load(); n != 0 {
		t.Errorf("sent %d requests", n)
	}
}

// A cached object that is out of date, or proves nothing, changes nothing.
func TestEnsureReadsAgainIfKnownIsOutOfDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c, sent := counted(t, server.Config())
		maps := client.For(c, configMaps)
		object := func(value string) *ConfigMap {
			return &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"k": value}}
		}
		old, _, err := maps.Ensure(t.Context(), object("1"), client.EnsureOptions{Known: (*ConfigMap)(nil)})
		if err != nil {
			t.Fatal(err)
		}
		live := must[*ConfigMap](t)(maps.Modify(t.Context(), meta.KeyOf(old), func(m *ConfigMap) error {
			m.Data["k"], m.Data["other"] = "2", "x"
			return nil
		}))
		deleting, unversioned, elsewhere := meta.Clone(live), meta.Clone(live), object("2")
		now := meta.Time{Time: time.Now()}
		deleting.DeletionTimestamp, unversioned.ResourceVersion = &now, ""
		for _, test := range []struct {
			name  string
			value string
			uid   string
			known any
			want  string
			sent  int64
		}{
			{"a value that the cache has", "2", live.UID, live, "Unchanged", 0},
			{"a value that the cache does not have yet", "2", "", old, "Unchanged", 1},
			{"an object on its way out", "2", "", deleting, "Unchanged", 1},
			{"an object without a version", "2", "", unversioned, "Unchanged", 1},
			{"an object that was never read", "2", "", elsewhere, "Unchanged", 1},
			{"a value that neither cache nor server has", "3", "", old, "Updated", 2},
		} {
			want := object(test.value)
			want.UID = test.uid
			before := sent.Load()
			got, done, err := maps.Ensure(t.Context(), want, client.EnsureOptions{Known: test.known})
			if n := sent.Load() - before; err != nil || done.String() != test.want || n != test.sent || got.Data["other"] != "x" {
				t.Errorf("%s: %v by %d requests, %v, %+v, want %s by %d", test.name, done, n, err, got, test.want, test.sent)
			}
		}
		other := object("2")
		other.Name = "b"
		_, _, err = maps.Ensure(t.Context(), other, client.EnsureOptions{Known: live})
		wantErr(t, err, `ensure configmaps "default/b": client.EnsureOptions: Known: the object must be "default/b", got "default/a"`)
		is[*client.UsageError](t, err)
	})
}

// A change to a cached object is made to what the server has, also to what the cache has no field for.
func TestModifyWithKnownReadsBeforeItWrites(t *testing.T) {
	srv := newRow(t, unknownFields)
	r := client.For(connect(t, srv), slims)
	known := &Slim{Identity: meta.Identity{Namespace: "web", Name: "a", UID: "u", ResourceVersion: "0"}, Data: map[string]string{"k": "old"}}
	var saw []string
	got, err := r.ModifyWith(t.Context(), web, func(s *Slim) error {
		saw = append(saw, s.Data["k"])
		if s.Data["k"] == "refused" {
			return errors.New("not that")
		}
		s.Data["k"] = "new"
		return nil
	}, client.ModifyOptions{Known: known})
	if err != nil || got.Data["k"] != "new" || fmt.Sprint(saw) != "[old v]" || srv.gets != 1 || len(srv.puts) != 1 || known.Data["k"] != "old" {
		t.Fatalf("got %+v, %v, by %d reads and %v, having seen %v", got, err, srv.gets, srv.puts, saw)
	}
	for _, part := range []string{`"finalizers":["f"]`, `"binaryData":{"b":"AA=="}`, `"resourceVersion":"1"`} {
		if !strings.Contains(srv.puts[0], part) {
			t.Errorf("sent %s, without %s", srv.puts[0], part)
		}
	}
	// An error about what is known may be about what is no more.
	known.Data["k"] = "refused"
	if _, err := r.ModifyWith(t.Context(), web, func(s *Slim) error {
		if s.Data["k"] == "refused" {
			return errors.New("not that")
		}
		return nil
	}, client.ModifyOptions{Known: known}); err != nil || srv.gets != 2 || len(srv.puts) != 1 {
		t.Errorf("error is %v, after %d reads", err, srv.gets)
	}
	_, err = r.ModifyWith(t.Context(), web, func(*Slim) error { return nil }, client.ModifyOptions{Known: 7})
	wantErr(t, err, `client.ModifyOptions: Known: `)
	is[*client.UsageError](t, err)
}

// There was no way to say that something is to go.
func TestEnsureRemovesAbsentFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c, sent := counted(t, server.Config())
		maps := client.For(c, configMaps)
		made := must[*ConfigMap](t)(maps.Create(t.Context(), &ConfigMap{
			ObjectMeta: meta.ObjectMeta{
				Namespace: "default", Name: "a", Labels: map[string]string{"old": "1", "theirs": "1"}, Finalizers: []string{"example.com/a", "example.com/b"},
				OwnerReferences: []meta.OwnerReference{{APIVersion: "v1", Kind: "A", Name: "a", UID: "1"}, {APIVersion: "v1", Kind: "B", Name: "b", UID: "2"}},
			},
			Data: map[string]string{"k": "v", "old": "x"},
		}))
		o := client.EnsureOptions{Absent: []string{"/metadata/labels/old", "/data/old", "/metadata/finalizers/=example.com~1a", "/metadata/ownerReferences/uid=1", "/data/never"}}
		want := &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"k": "v"}}
		got, done, err := maps.Ensure(t.Context(), want, o)
		if err != nil || done.String() != "Updated" || fmt.Sprintf("%v %v %v %d", got.Labels, got.Data, got.Finalizers, len(got.OwnerReferences)) != "map[theirs:1] map[k:v] [example.com/b] 1" {
			t.Fatalf("got %+v, %v, %v", got, done, err)
		}
		before := sent.Load()
		o.Known = got
		if _, done, err = maps.Ensure(t.Context(), want, o); err != nil || done.Outcome != client.Unchanged || sent.Load() != before {
			t.Errorf("again: %v, %v", done, err)
		}
		o.Known = made
		if _, done, err = maps.Ensure(t.Context(), want, o); err != nil || done.Outcome != client.Unchanged || sent.Load() != before+1 {
			t.Errorf("with an old object: %v, %v", done, err)
		}
		o.Absent = []string{"/data/k"}
		_, _, err = maps.Ensure(t.Context(), want, o)
		wantErr(t, err, `ensure configmaps "default/a": absent path "/data/k" must not have a value in the wanted object`)
		is[*client.UsageError](t, err)
	})
	// The answer is not kept.
	srv := says(object("a", "1", "k", "old"), object("a", "2", "k", "old"))
	_, done, err := client.For(connect(t, srv), slims).Ensure(t.Context(), &Slim{Identity: at(web), Data: map[string]string{"k": "k"}}, client.EnsureOptions{Absent: []string{"/data/old"}})
	if err != nil || done.String() != "NotKept: /data/old" || srv.all()[1].method != http.MethodPut {
		t.Errorf("got %v, %v", done, err)
	}
}

// A cached object without managedFields cannot tell whose an element is that is no longer wanted.
func TestEnsureReadsTheOwnerOfAnElementBeforeItRemovesIt(t *testing.T) {
	type container struct {
		Name string `json:"name"`
	}
	type pod struct {
		meta.Identity `json:"metadata"`
		Spec          struct {
			Containers []container `json:"containers"`
		} `json:"spec"`
	}
	const managed = `"managedFields":[{"manager":"bowline","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:containers":{"k:{\"name\":\"old\"}":{".":{},"f:name":{}}}}}}],`
	text := func(version, containers string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{%s"namespace":"web","name":"a","uid":"u","resourceVersion":"%s"},"spec":{"containers":[%s]}}`, managed, version, containers)
	}
	srv := says(text("1", `{"name":"a"},{"name":"old"},{"name":"injected"}`), text("2", `{"name":"a"},{"name":"injected"}`))
	want, known := &pod{Identity: at(web)}, &pod{Identity: meta.Identity{Namespace: "web", Name: "a", UID: "u", ResourceVersion: "1"}}
	want.Spec.Containers, known.Spec.Containers = []container{{"a"}}, []container{{"a"}, {"old"}, {"injected"}}
	pods := client.For(connect(t, srv), client.Type[*pod]{Version: "v1", Kind: "Pod", Resource: "pods"})
	got, done, err := pods.Ensure(t.Context(), want, client.EnsureOptions{Known: known})
	if err != nil || done.String() != "Updated" || fmt.Sprint(got.Spec.Containers) != "[{a} {injected}]" {
		t.Fatalf("got %+v, %v, %v", got, done, err)
	}
	if body := srv.all()[1].body; strings.Contains(body, `{"name":"old"}`) || !strings.Contains(body, `{"name":"injected"}`) {
		t.Errorf("sent %s", body)
	}
}

// A Known that is another object than the one that was asked for is no answer.
func TestEnsureChecksPreconditionsAgainstKnown(t *testing.T) {
	srv := says(object("a", "7", "k"))
	known := &Slim{Identity: meta.Identity{Namespace: "web", Name: "a", UID: "u-a", ResourceVersion: "7"}, Data: map[string]string{"k": "k"}}
	for _, asked := range []meta.Identity{{Namespace: "web", Name: "a", UID: "other"}, {Namespace: "web", Name: "a", ResourceVersion: "6"}} {
		_, _, err := client.For(connect(t, srv), slims).Ensure(t.Context(), &Slim{Identity: asked, Data: known.Data}, client.EnsureOptions{Known: known})
		isConflict(t, err)
	}
}

// A server that decodes a value writes it in its own way. Ensure wrote such an object for ever.
func TestEnsureKnowsTheServersTexts(t *testing.T) {
	type raw struct {
		meta.Identity `json:"metadata"`
		Spec          any `json:"spec,omitempty"`
		Webhooks      any `json:"webhooks,omitempty"`
	}
	scalers := client.Type[*raw]{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Resource: "horizontalpodautoscalers"}
	hooks := client.Type[*raw]{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration", Resource: "validatingwebhookconfigurations", Scope: meta.Cluster}
	pods := client.Type[*raw]{Version: "v1", Kind: "Pod", Resource: "pods"}
	object := func(kind, metadata, rest string) string {
		return `{` + kind + `,"metadata":{"name":"a","uid":"u","resourceVersion":"1"` + metadata + `},` + rest + `}`
	}
	for _, test := range []struct {
		name string
		of   client.Type[*raw]
		want raw
		live string
	}{
		{
			"a tolerance", scalers,
			raw{Identity: at(web), Spec: map[string]any{"behavior": map[string]any{"scaleUp": map[string]any{"tolerance": 0.05}}}},
			object(`"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler"`, `,"namespace":"web"`, `"spec":{"behavior":{"scaleUp":{"tolerance":"50m"}}}`),
		},
		{
			"a bundle", hooks,
			raw{Identity: meta.Identity{Name: "a"}, Webhooks: []any{map[string]any{"name": "w", "clientConfig": map[string]any{"caBundle": "TFMw\nTFMw\n"}}}},
			object(`"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration"`, ``, `"webhooks":[{"name":"w","clientConfig":{"caBundle":"TFMwTFMw"}}]`),
		},
		{
			"tolerations", pods,
			raw{Identity: at(web), Spec: map[string]any{"tolerations": []any{map[string]any{"key": "a", "operator": "Exists"}}}},
			object(`"apiVersion":"v1","kind":"Pod"`, `,"namespace":"web"`, `"spec":{"tolerations":[{"key":"a","operator":"Exists"},
				{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]}`),
		},
	} {
		srv := says(test.live, test.live)
		_, done, err := client.For(connect(t, srv), test.of).Ensure(t.Context(), &test.want, client.EnsureOptions{})
		if err != nil || done.Outcome != client.Unchanged || len(srv.all()) != 1 {
			t.Errorf("%s: %v by %d requests, %v", test.name, done, len(srv.all()), err)
		}
	}
}
