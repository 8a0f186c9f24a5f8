package debug_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/debug"
)

func TestObjectsAreShownOnlyIfAskedFor(t *testing.T) {
	for _, shown := range []bool{false, true} {
		bubble(t, debug.Options{Objects: shown}, func(r *rig) {
			r.create(configMaps, "a", map[string]string{"greeting": "hello\nworld\n"})
			r.run(informer.New(client.For(r.client, configMaps), informer.Options{}))
			const object = "/?cache=configmaps.v1&object=default%2Fa"
			if shown {
				r.has("/?cache=configmaps.v1", `<a href="?cache=configmaps.v1&amp;object=default%2Fa">default/a</a>`)
				r.has(object, `&#34;greeting&#34;: &#34;hello\nworld\n&#34;`, `&#34;name&#34;: &#34;a&#34;`)
				r.is("hello\nworld\n", object, "object", "data", "greeting")
				return
			}
			r.has("/?cache=configmaps.v1", "debug.Options.Objects")
			r.is(nil, "/?cache=configmaps.v1", "search")
			if code, body := get(t, r.page, object); code != http.StatusForbidden || strings.Contains(body, "hello") {
				t.Errorf("an object is shown: %d %s", code, body)
			}
		})
	}
}

func TestSecretsAreRedacted(t *testing.T) {
	bubble(t, debug.Options{Objects: true}, func(r *rig) {
		secret := &meta.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret",
			"metadata": map[string]any{
				"namespace": "default", "name": "password",
				"annotations": map[string]any{"kubectl.kubernetes.io/last-applied-configuration": `{"data":{"p":"aHVudGVyMg=="}}`, "team": "web"},
			},
			"data": map[string]any{"p": "aHVudGVyMg=="},
		}}
		untyped := client.Type[*meta.Unstructured]{Version: "v1", Kind: "Secret", Resource: "secrets"}
		if _, err := client.For(r.client, untyped).Create(r.Context(), secret); err != nil {
			t.Fatal(err)
		}
		// One knows the resource only, the other also what the object says of itself.
		r.run(informer.New(client.For(r.client, secrets), informer.Options{}), informer.New(client.For(r.client, untyped), informer.Options{}))
		for _, id := range []string{"secrets.v1", "secrets.v1~2"} {
			address := "/?object=default/password&cache=" + url.QueryEscape(id)
			r.is("[redacted]", address, "object", "data", "p")
			r.is("[redacted]", address, "object", "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
			r.is("web", address, "object", "metadata", "annotations", "team")
			r.has(address, "The values of this Secret are not shown", "&#34;p&#34;: &#34;[redacted]&#34;")
			for _, form := range []string{"text/html", "application/json"} {
				q, _ := http.NewRequest(http.MethodGet, address, nil)
				q.Header.Set("Accept", form)
				if _, body := ask(r.page, q); strings.Contains(body, "aHVudGVyMg") {
					t.Errorf("%s as %s shows the secret: %s", id, form, body)
				}
			}
		}
	})
}

// A Secret is redacted whatever form its parts have, and an object that only looks like one is not.
func TestRedactedRecognizesSecrets(t *testing.T) {
	text := func(resource meta.GVR, content map[string]any) string {
		redacted := debug.Redacted(resource, content)
		return fmt.Sprint(redacted, content)
	}
	core := meta.GVR{Version: "v1", Resource: "secrets"}
	for _, test := range []struct {
		name     string
		resource meta.GVR
		content  map[string]any
		want     string
	}{
		{"stringData", core, map[string]any{"stringData": map[string]any{"a": "b"}}, "true map[stringData:map[a:[redacted]]]"},
		{"data that is a text", core, map[string]any{"data": "b"}, "true map[data:[redacted]]"},
		{"nothing", core, map[string]any{"metadata": nil, "data": nil}, "true map[data:<nil> metadata:<nil>]"},
		{"by its kind", meta.GVR{}, map[string]any{"kind": "Secret", "apiVersion": "v1", "data": 1}, "true map[apiVersion:v1 data:[redacted] kind:Secret]"},
		{"by its kind alone", meta.GVR{}, map[string]any{"kind": "Secret", "data": 1}, "true map[data:[redacted] kind:Secret]"},
		{"another group's", meta.GVR{Group: "example.com", Version: "v1", Resource: "secrets"}, map[string]any{"kind": "Secret", "apiVersion": "example.com/v1", "data": 1}, "false map[apiVersion:example.com/v1 data:1 kind:Secret]"},
		{"a config map", meta.GVR{Version: "v1", Resource: "configmaps"}, map[string]any{"data": 1}, "false map[data:1]"},
	} {
		if got := text(test.resource, test.content); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestRedactChangesACopy(t *testing.T) {
	o := debug.Options{Objects: true, Redact: func(resource meta.GVR, object map[string]any) {
		if resource.Resource == "configmaps" {
			object["data"] = map[string]any{"password": "[removed]", "count": 7}
		}
	}}
	bubble(t, o, func(r *rig) {
		r.create(configMaps, "a", map[string]string{"password": "hunter2"})
		inf := informer.New(client.For(r.client, configMaps), informer.Options{})
		r.run(inf)
		r.has("/?cache=configmaps.v1&object=default/a", "&#34;password&#34;: &#34;[removed]&#34;", "&#34;count&#34;: 7")
		if thing, _ := inf.Reader().Get(meta.Key{Namespace: "default", Name: "a"}); thing.Data["password"] != "hunter2" {
			t.Errorf("the cache holds %v", thing.Data)
		}
	})
}

func TestTheSearchGoesThroughAllObjects(t *testing.T) {
	bubble(t, debug.Options{Objects: true}, func(r *rig) {
		for i := range 250 {
			r.create(configMaps, fmt.Sprintf("thing-%03d", (i*37)%250), nil)
		}
		r.run(informer.New(client.For(r.client, configMaps), informer.Options{}))
		// Page by page, each object comes once, in order.
		var all []string
		for after := ""; ; {
			address := "/?cache=configmaps.v1&after=" + url.QueryEscape(after)
			r.is(250, address, "search", "total")
			for _, f := range r.JSON(address, "search", "found").([]any) {
				all = append(all, f.(map[string]any)["key"].(string))
			}
			next, ok := r.JSON(address, "search", "next").(string)
			if !ok {
				break
			}
			after = next
		}
		if len(all) != 250 {
			t.Fatalf("the pages have %d objects", len(all))
		}
		for i, key := range all {
			if want := fmt.Sprintf("default/thing-%03d", i); key != want {
				t.Fatalf("object %d is %s, want %s", i, key, want)
			}
		}
		r.is(150, "/?cache=configmaps.v1", "search", "more")
		r.has("/?cache=configmaps.v1", "and 150 objects more", "after=default%2Fthing-099")
		for query, want := range map[string]int{"THING-24": 10, "default/thing-001": 1, "fault/": 250, "default": 250, "nothing": 0, " thing-007 ": 1} {
			r.is(want, "/?cache=configmaps.v1&q="+url.QueryEscape(query), "search", "total")
		}
		r.has("/?cache=configmaps.v1&q=nothing", "No object matches")
		if code, _ := get(t, r.page, "/?cache=configmaps.v1&object=default/none"); code != http.StatusNotFound {
			t.Errorf("an object that is not there has code %d", code)
		}
		if code, _ := get(t, r.page, "/?cache=configmaps.v1&object=none"); code != http.StatusNotFound {
			t.Errorf("an object without a namespace has code %d", code)
		}
	})
}

// The page reads a cache before its first list, and is no early read, which would fail this test.
func TestThePageMayReadACacheBeforeItsFirstList(t *testing.T) {
	bubble(t, debug.Options{Objects: true}, func(r *rig) {
		r.server.Intercept(func(*http.Request) http.HandlerFunc { return http.NotFound })
		r.run(informer.New(client.For(r.client, configMaps), informer.Options{OnError: func(error) {}}))
		r.has("/", "no complete list yet")
		r.has("/?cache=configmaps.v1&q=a", "No object matches")
		r.server.Intercept(nil)
	})
}

// What the page shows of an object is its JSON, and has no character that is not seen.
func FuzzObjectAsJSON(f *testing.F) {
	for _, text := range append([]string{`{"a":[{"b":"c\nd\n","e":[["f"],{}]}],"g":{},"n":1e400,"m":123456789012345678901234567890,"<&>":null}`}, quotedAll(hostile)...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		decode := func(text string) (v map[string]any, err error) {
			d := json.NewDecoder(strings.NewReader(text))
			d.UseNumber()
			err = d.Decode(&v)
			return v, err
		}
		v, err := decode(text)
		if err != nil || v == nil {
			return
		}
		got := debug.JSON(v)
		if i := strings.IndexFunc(got, func(c rune) bool { return c != '\n' && c != ' ' && !unicode.IsPrint(c) }); i >= 0 {
			t.Fatalf("%q has a character at %d that is not seen", got, i)
		}
		if read, err := decode(got); err != nil || !reflect.DeepEqual(read, v) {
			t.Fatalf("%s\nis read as %#v, %v, want %#v", got, read, err, v)
		}
	})
}

func quotedAll(texts []string) (all []string) {
	for _, text := range texts {
		b, _ := json.Marshal(map[string]string{text: text})
		all = append(all, string(b))
	}
	return all
}
