package overlay_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/overlay"
	"github.com/bowline-go/bowline/patch"
)

func TestOverlayNamesWhatItChanges(t *testing.T) {
	const live = `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"labels":{"a/b":"1"},"finalizers":["x"]},"spec":{"replicas":1,"strategy":{"type":"RollingUpdate","rollingUpdate":{}},
		"template":{"spec":{"containers":[{"name":"a","image":"a:1","ports":[{"containerPort":80,"protocol":"TCP","name":"x"}]},{"name":"b"}],"tolerations":[{"key":"x"}],"volumes":[{"name":"v","emptyDir":{}}]}}}}`
	const want = `{"metadata":{"labels":{"a/b":"2"},"finalizers":["y"]},"spec":{"replicas":0,"strategy":{"type":"Recreate"},
		"template":{"spec":{"containers":[{"name":"b"},{"name":"c"},{"name":"a","image":"a:2","ports":[{"containerPort":80,"name":"y"}]}],"tolerations":[{"key":"y"}],"volumes":[{"name":"v","hostPath":{"path":"/"}}]}}}}`
	_, changed, err := overlay.Apply(raw(live), raw(want), overlay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const names = `/metadata/labels/a~1b /metadata/finalizers /spec/replicas /spec/strategy/rollingUpdate /spec/strategy/type
		/spec/template/spec/containers/name=c /spec/template/spec/containers/name=a/image
		/spec/template/spec/containers/name=a/ports/containerPort=80,protocol=TCP/name /spec/template/spec/containers
		/spec/template/spec/tolerations /spec/template/spec/volumes/name=v/emptyDir /spec/template/spec/volumes/name=v/hostPath`
	if got, want := strings.Join(changed, " "), strings.Join(strings.Fields(names), " "); got != strings.Replace(want, ",protocol=TCP", "", 1) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	many := make(map[string]int)
	for i := range 1000 {
		many[fmt.Sprint("m", i)] = i
	}
	if _, changed, err = overlay.Apply(raw(`{}`), many, overlay.Options{}); err != nil || len(changed) != 100 {
		t.Errorf("of a thousand it names %d, %v", len(changed), err)
	}
}

func TestOverlayRemovesAbsentFields(t *testing.T) {
	const live = `{"metadata":{"name":"a","labels":{"a/b":"1","c":"2"},"finalizers":["x/y","z"]},"spec":{"ports":[{"port":80,"protocol":"TCP"},{"port":80,"protocol":"UDP"},{"port":"a,b"}],"args":["-v","1",true,7],"null":null}}`
	for _, test := range []struct{ path, want string }{
		{"/metadata/labels/a~1b", strings.Replace(live, `"a/b":"1",`, ``, 1)},
		{"/metadata/labels", strings.Replace(live, `"labels":{"a/b":"1","c":"2"},`, ``, 1)},
		{"/metadata/finalizers/=x~1y", strings.Replace(live, `"x/y",`, ``, 1)},
		{"/spec/ports/port=80,protocol=UDP", strings.Replace(live, `{"port":80,"protocol":"UDP"},`, ``, 1)},
		{"/spec/ports/port=80", strings.Replace(live, `{"port":80,"protocol":"TCP"},{"port":80,"protocol":"UDP"},`, ``, 1)},
		{"/spec/ports/port=80/protocol", strings.ReplaceAll(strings.ReplaceAll(live, `,"protocol":"UDP"`, ``), `,"protocol":"TCP"`, ``)},
		{"/spec/ports/port=a,b", strings.Replace(live, `,{"port":"a,b"}`, ``, 1)},
		{"/spec/args/=7", strings.Replace(live, `,7`, ``, 1)},
		{"/spec/args/=true", strings.Replace(live, `,true`, ``, 1)},
		{"/spec/ports/port=81", ""},
		{"/spec/nothing/at/all", ""},
		{"/spec/null", strings.Replace(live, `,"null":null`, ``, 1)},
		{"/metadata/name/x", "error"}, // which cannot go
		{"/spec/ports/0", "error, and not by an index"},
		{"/spec/ports/-", "error, and not by an index"},
		{"/spec/ports/port", "error"},
		{"/spec/wanted", "error"},
		{"/spec", "error"},
		{"/metadata", "error"},
		{"/metadata/uid", "error"},
		{"/kind", "error"},
		{"/status/x", "error"},
		{"", "error"},
		{"spec", "error"},
	} {
		t.Run(test.path, func(t *testing.T) {
			want := raw(`{"metadata":{"name":"a"}}`)
			says, bad := strings.CutPrefix(test.want, "error")
			if bad {
				want = raw(`{"spec":{"wanted":false}}`)
			}
			got, changed, err := overlay.Apply(raw(live), want, overlay.Options{Absent: []string{test.path}})
			if bad {
				if !errors.Is(err, patch.ErrMalformed) || !strings.Contains(err.Error(), says) || got != nil {
					t.Errorf("got %s, %v", got, err)
				}
				return
			}
			left := test.want
			if left == "" {
				left = live
			}
			if err != nil || !isSame(t, got, []byte(left)) {
				t.Errorf("got %s, %v, want %s", got, err, left)
			}
			if names := fmt.Sprint(changed); test.want != "" && test.path != "/spec/null" && names != "["+test.path+"]" || test.want == "" && names != "[]" {
				t.Errorf("changed %s", names)
			}
		})
	}
}

// An element that was wanted once is told from one that an admission plugin added by who owns it.
func TestOverlayRemovesOnlyElementsThatTheManagerOwns(t *testing.T) {
	entry := func(manager, operation, sub string, names ...string) string {
		var fields []string
		for _, n := range names {
			fields = append(fields, fmt.Sprintf(`"k:{\"name\":\"%s\"}":{".":{},"f:name":{}}`, n))
		}
		return fmt.Sprintf(`{"manager":%q,"operation":%q,"subresource":%q,"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:containers":{%s}}}}`, manager, operation, sub, strings.Join(fields, ","))
	}
	object := func(names string, entries ...string) json.RawMessage {
		var items []string
		for _, n := range strings.Fields(names) {
			items = append(items, fmt.Sprintf(`{"name":%q}`, n))
		}
		managed := ""
		if entries != nil {
			managed = `"managedFields":[` + strings.Join(entries, ",") + `]`
		}
		return raw(`{"kind":"Pod","apiVersion":"v1","metadata":{` + managed + `},"spec":{"containers":[` + strings.Join(items, ",") + `]}}`)
	}
	want := raw(`{"spec":{"containers":[{"name":"a"}]}}`)
	for _, test := range []struct {
		name    string
		live    json.RawMessage
		options overlay.Options
		changed string
	}{
		{"its own", object("a old injected", entry("me", "Update", "", "a", "old")), overlay.Options{Manager: "me"}, "[/spec/containers/name=old]"},
		{"without a manager", object("a old", entry("me", "Update", "", "a", "old")), overlay.Options{}, "[]"},
		{"another's", object("a theirs", entry("me", "Update", "", "a"), entry("you", "Update", "", "theirs")), overlay.Options{Manager: "me"}, "[]"},
		{"another's too", object("a both", entry("me", "Update", "", "a", "both"), entry("you", "Apply", "", "both")), overlay.Options{Manager: "me"}, "[]"},
		{"an element that the manager has applied", object("a applied", entry("me", "Apply", "", "a", "applied")), overlay.Options{Manager: "me"}, "[]"},
		{"through a subresource", object("a sub", entry("me", "Update", "x", "a", "sub")), overlay.Options{Manager: "me"}, "[]"},
		{"managedFields that cannot be read", object("a old", entry("me", "Update", "", "old"), `{"fieldsV1":7}`), overlay.Options{Manager: "me"}, "[]"},
		{"no managedFields", object("a old"), overlay.Options{Manager: "me"}, "[]"},
		{"no managedFields in a cache", object("a old"), overlay.Options{Manager: "me", Cached: raw("{}")}, "[/spec/containers/name=old]"},
		{"managedFields in a cache", object("a injected", entry("me", "Update", "", "a")), overlay.Options{Manager: "me", Cached: raw("{}")}, "[]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, changed, err := overlay.Apply(test.live, want, test.options)
			if err != nil || fmt.Sprint(changed) != test.changed {
				t.Fatalf("changed %v, %v, want %s", changed, err, test.changed)
			}
			if is := strings.Contains(string(got), `{"name":"old"}`); len(changed) > 0 && is {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestAnOverlayOverNothingIsTheObjectToCreate(t *testing.T) {
	want := map[string]any{"kind": "A", "metadata": map[string]any{"name": "a", "creationTimestamp": nil}, "status": map[string]any{"a": 1}, "spec": tagged{}}
	got, changed, err := overlay.Apply(nil, want, overlay.Options{})
	if err != nil || changed != nil || string(got) != `{"kind":"A","metadata":{"name":"a"},"spec":{"deep":{}}}` {
		t.Errorf("got %s, %v, %v", got, changed, err)
	}
}

// The rule of Apply is that of Overlay: the zero of a struct that leaves zeros out was applied.
func TestApplySendsTheFieldsThatJSONEncodes(t *testing.T) {
	zero := 0
	for _, test := range []struct {
		v     any
		paths []string
		want  string
	}{
		{tagged{}, nil, `{"deep":{}}`},
		{tagged{Number: &zero, Pointer: &plainShape{}}, nil, `{"pointer":{"kind":"","n":0},"number":0,"deep":{}}`},
		{tagless{}, nil, `{"n":0,"text":"","on":false,"inner":{}}`},
		{tagged{}, []string{"/inner", "/when"}, `{"inner":{"kind":"","n":0},"when":"never"}`},
		{tagged{}, []string{"/inner/n"}, `{"inner":{"n":0}}`},
		{map[string]any{"a": map[string]any{"b": nil}}, nil, `{"a":{}}`},
	} {
		body, err := patch.Apply(test.v, test.paths...).Body()
		if err != nil || !isSame(t, body, []byte(test.want)) {
			t.Errorf("%+v %v: got %s, %v, want %s", test.v, test.paths, body, err, test.want)
		}
	}
}

// Pairing lists of 60,000 elements took 2 to 5 s, and lists within one another 9,000 deep 4 to 6 s.
func TestOverlaysOfHostileDocumentsAreMadeInTime(t *testing.T) {
	list := func(n int, item func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(item(i))
		}
		return "[" + b.String() + "]"
	}
	const n, deep = 30_000, 9_000
	same := func(int) string { return `{"name":"a","x":1}` }
	for _, test := range []struct{ name, live, want string }{
		{"names that are all the same", `{"apiVersion":"example.com/v1","l":` + list(n, same) + `}`, `{"l":` + list(n, func(int) string { return `{"name":"a","x":2}` }) + `}`},
		{"elements without a name", `{"l":` + list(n, func(int) string { return `{"x":{"y":1}}` }) + `}`, `{"l":` + list(n, func(int) string { return `{"x":{"y":2}}` }) + `}`},
		{"names in the other order", `{"spec":{"containers":` + list(n, func(i int) string { return fmt.Sprintf(`{"name":"a%d"}`, i) }) + `}}`, `{"spec":{"containers":` + list(n, func(i int) string { return fmt.Sprintf(`{"name":"a%d"}`, n-i) }) + `}}`},
		{"finalizers", `{"metadata":{"finalizers":` + list(n, func(i int) string { return fmt.Sprintf(`"a%d"`, i) }) + `}}`, `{"metadata":{"finalizers":` + list(n, func(i int) string { return fmt.Sprintf(`%d`, i) }) + `}}`},
		{"lists in lists", `{"l":` + strings.Repeat("[", deep) + "1" + strings.Repeat("]", deep) + `}`, `{"l":` + strings.Repeat("[", deep) + "2" + strings.Repeat("]", deep) + `}`},
		{"named elements in named elements", `{"apiVersion":"example.com/v1"` + strings.Repeat(`,"l":[{"name":"a"`, deep/2) + strings.Repeat("}]", deep/2) + `}`, `{"n":1` + strings.Repeat(`,"l":[{"name":"a"`, deep/2) + `,"x":null,"y":1` + strings.Repeat("}]", deep/2) + `}`},
		{"containers in containers", `{"a":1` + strings.Repeat(`,"containers":[{"name":"a"`, deep/2) + strings.Repeat("}]", deep/2) + `}`, `{"n":1` + strings.Repeat(`,"containers":[{"name":"b","x":null`, deep/2) + `,"y":1` + strings.Repeat("}]", deep/2) + `}`},
		{"objects in objects", `{"a":` + strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep) + `}`, `{"a":` + strings.Repeat(`{"n":null,"b":0,"a":`, deep) + "2" + strings.Repeat("}", deep) + `}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			overlay := func(live, want string, changes bool) (string, time.Duration) {
				start := time.Now()
				got, changed, err := overlay.Apply(raw(live), raw(want), overlay.Options{})
				if err != nil || (len(changed) > 0) != changes {
					t.Fatalf("changed %.200s, %v", changed, err)
				}
				return string(got), time.Since(start)
			}
			// How long it takes is compared with what the same document over itself does, as other tests may run.
			var took, itself time.Duration
			for range 5 {
				got, first := overlay(test.live, test.want, true)
				_, again := overlay(got, test.want, false)
				_, itself = overlay(test.live, test.live, false)
				if took = max(first, again); took < 6*itself+20*time.Millisecond {
					return
				}
			}
			t.Errorf("it took %v, and the document over itself %v", took, itself)
		})
	}
}
