package patch_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

func TestAPatchCannotChangeNameNamespaceOrUID(t *testing.T) {
	const (
		name      = `metadata.name must stay "web", which no patch can change`
		uid       = `metadata.uid must stay a string: no patch can change it`
		namespace = `metadata.namespace must stay "shop", which no patch can change`
	)
	merge := func(text string) patch.Patch { return patch.Merge(raw(text)) }
	for _, test := range []struct {
		p    patch.Patch
		want string
	}{
		{merge(`{"metadata":{"name":"web","namespace":"shop","uid":"1","labels":{"name":"x"}},"name":"x"}`), ""},
		{merge(`{"metadata":{"namespace":""}}`), ""},
		{merge(`{"metadata":{"namespace":null}}`), ""},
		{merge(`{"spec":{"metadata":{"name":"x"}}}`), ""},
		{merge(`{"metadata/name":"x","/metadata":{"name":"x"}}`), ""},
		{merge(`{"metadata":{"name":"\u0077eb"}}`), ""},
		{merge(`{"metadata":{"name":"api"}}`), "patch: " + name},
		{merge(`{"metadata":{"name":null}}`), "patch: " + name},
		{merge(`{"metadata":{"name":""}}`), "patch: " + name},
		{merge(`{"metadata":{"name":{}}}`), "patch: " + name},
		{merge(`{"metadata":{"namespace":"prod"}}`), "patch: " + namespace},
		{merge(`{"metadata":{"namespace":1}}`), "patch: " + namespace},
		{merge(`{"metadata":{"uid":null}}`), ""},
		{merge(`{"metadata":{"uid":7}}`), "patch: " + uid},
		{merge(`{"metadata":{"uid":{}}}`), "patch: " + uid},
		{patch.Strategic(raw(`{"metadata":{"uid":false}}`)), "patch: " + uid},
		{patch.JSON(patch.Remove("/metadata/uid"), patch.Replace("/metadata/uid", "x")), ""},
		{patch.JSON(patch.Replace("/metadata/uid", 7)), `patch: operation 0 (replace "/metadata/uid"): ` + uid},
		{merge(`{"metadata":null}`), "patch: metadata must stay an object"},

		{patch.JSON(patch.Replace("/metadata/name", "web"), patch.Remove("/metadata/namespace"), patch.Copy("/a", "/metadata/name")), ""},
		{patch.JSON(patch.Test("/metadata/name", "x"), patch.Add("/metadata/labels/name", "x"), patch.Add("/spec", raw(`{"metadata":null}`))), ""},
		{patch.JSON(patch.Replace("", 1)), ""},
		{patch.JSON(patch.Remove("/a"), patch.Replace("/metadata/name", "api")), `patch: operation 1 (replace "/metadata/name"): ` + name},
		{patch.JSON(patch.Remove("/metadata/name")), `patch: operation 0 (remove "/metadata/name"): ` + name},
		{patch.JSON(patch.Move("/metadata/name", "/a")), `patch: operation 0 (move "/a"): ` + name},
		{patch.JSON(patch.Add("/metadata/namespace", "prod")), `patch: operation 0 (add "/metadata/namespace"): ` + namespace},
		{patch.JSON(patch.Add("/metadata", raw(`{"name":"api"}`))), `patch: operation 0 (add "/metadata"): ` + name},
		{patch.JSON(patch.Remove("/metadata")), `patch: operation 0 (remove "/metadata"): metadata must stay an object`},
		{patch.JSON(patch.Add("/metadata", raw(`{"labels":{}}`))), `patch: operation 0 (add "/metadata"): ` + name},
		{patch.JSON(patch.Replace("", raw(`{"spec":{}}`))), `patch: operation 0 (replace ""): ` + name},
		{patch.JSON(patch.Replace("", raw(`{"metadata":{"name":"web"}}`))), ""},
		{patch.JSON(patch.Replace("", raw(`{"metadata":{"name":"api"}}`))), `patch: operation 0 (replace ""): ` + name},
	} {
		body, _ := test.p.Body()
		err := test.p.CheckKey(meta.Key{Namespace: "shop", Name: "web"})
		if (err == nil) != (test.want == "") || err != nil && (err.Error() != test.want || !errors.Is(err, patch.ErrMalformed)) {
			t.Errorf("%s: got %v, want %s", body, err, test.want)
		}
	}
	for _, p := range []patch.Patch{{}, patch.Merge(1), patch.JSON(patch.Remove(""))} {
		_, want := p.Body()
		if err := p.CheckKey(meta.Key{Name: "a"}); err == nil || err.Error() != want.Error() {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

// A directive took the name away, alone or with what it is in, and CheckKey let it pass.
func TestNoDirectiveTakesTheNameAway(t *testing.T) {
	const live = `{"metadata":{"name":"web","namespace":"shop","labels":{"a":"b"}},"data":{"k":"v"}}`
	for text, keeps := range map[string]bool{
		`{"$patch":"delete"}`:                                                                 false,
		`{"$patch":"replace","data":{}}`:                                                      false,
		`{"$patch":"replace","metadata":{"labels":{}}}`:                                       false,
		`{"$patch":"replace","metadata":{"name":"web","namespace":"shop"}}`:                   true,
		`{"metadata":{"$patch":"delete"}}`:                                                    false,
		`{"metadata":{"$patch":"delete","name":"web"}}`:                                       false,
		`{"metadata":{"$patch":"replace","labels":{}}}`:                                       false,
		`{"metadata":{"$patch":"replace","name":"web","namespace":"shop"}}`:                   true,
		`{"metadata":{"labels":{"$patch":"delete"}},"data":{"$patch":"replace","x":"y"}}`:     true,
		`{"$retainKeys":["data"]}`:                                                            false,
		`{"$retainKeys":["data","metadata"]}`:                                                 true,
		`{"metadata":{"$retainKeys":["labels"],"labels":{"a":"c"}}}`:                          false,
		`{"metadata":{"$retainKeys":["name","namespace"]}}`:                                   true,
		`{"metadata":{"$setElementOrder/finalizers":[],"labels":{"c":"d"}},"data":{"x":"y"}}`: true,
	} {
		p := patch.Strategic(raw(text))
		body, err := p.Body()
		if err != nil {
			t.Fatal(err)
		}
		err = p.CheckKey(meta.Key{Namespace: "shop", Name: "web"})
		if want := `patch: metadata.name must stay "web", which no patch can change`; (err == nil) != keeps || err != nil && err.Error() != want {
			t.Errorf("%s: the error is %v", text, err)
		}
		got, err := patch.ApplyStrategic([]byte(live), body, patch.Schema{})
		if err != nil || strings.Contains(string(got), `"name":"web"`) != keeps {
			t.Errorf("%s makes %s, %v", text, got, err)
		}
	}
}

// What CheckKey lets pass leaves the object what it is, and a patch for one version does that or nothing.
func FuzzCheckKey(f *testing.F) {
	f.Add(`{"metadata":{"name":"web","uid":null},"a":1}`, false)
	f.Add(`{"metadata":{"namespace":"prod"}}`, false)
	f.Add(`{"metadata":{"name":null,"name":"web"},"metadata":{"namespace":""}}`, false)
	f.Add(`[{"op":"replace","path":"/metadata","value":{"name":"web"}},{"op":"add","path":"/metadata/namespace","value":"shop"}]`, true)
	f.Add(`[{"op":"remove","path":"/metadata/name"},{"op":"add","path":"","value":{"metadata":{"name":"web"}}}]`, true)
	f.Fuzz(func(t *testing.T, body string, ops bool) {
		live := []byte(`{"metadata":{"name":"web","namespace":"shop","uid":"1","resourceVersion":"41"}}`)
		key := meta.Key{Namespace: "shop", Name: "web"}
		p, apply := patch.Merge(raw(body)), patch.ApplyMerge
		if ops {
			parsed, err := patch.ParseOps([]byte(body))
			if err != nil {
				return
			}
			p, apply = patch.JSON(parsed...), patch.ApplyJSON
		}
		sent, err := p.Body()
		if err != nil {
			return
		}
		refused := p.CheckKey(key)
		got, err := apply(live, sent)
		if err == nil && strings.HasPrefix(string(got), "{") {
			is, want := identityIn(t, got), identityIn(t, live)
			if refused == nil && is != want && !strings.Contains(body, "move") && !strings.Contains(body, "copy") && !strings.Contains(body, `\u`) {
				t.Errorf("%s is let pass, and makes %s", sent, got)
			}
			if refused != nil && is == want && !ops {
				t.Errorf("%s is refused, and makes %s: %v", sent, got, refused)
			}
		}

		versioned, versionErr := p.WithResourceVersion("41").Body()
		if versionErr != nil {
			if !strings.Contains(versionErr.Error(), "metadata must be an object") {
				t.Error(versionErr)
			}
			return
		}
		again, againErr := apply(live, versioned)
		if ops {
			if (err == nil) != (againErr == nil) || string(again) != string(got) {
				t.Errorf("in its version it makes %s, %v; without one %s, %v", again, againErr, got, err)
			}
			other, _ := p.WithResourceVersion("40").Body()
			if _, err := apply(live, other); !errors.Is(err, patch.ErrTestFailed) {
				t.Errorf("in another version: %v", err)
			}
			return
		}
		want, err := patch.ApplyMerge(got, []byte(`{"metadata":{"resourceVersion":"41"}}`))
		if err != nil || againErr != nil || !isSame(t, again, want) {
			t.Errorf("with a version it makes %s, %v; want %s, %v", again, againErr, want, err)
		}
	})
}

// identityIn returns the name and the namespace of an object, as the server takes them that puts the namespace there again,
// and whether a uid is none.
func identityIn(t *testing.T, doc []byte) (is struct{ name, namespace, uid string }) {
	t.Helper()
	object, _ := decode(t, doc).(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	text := func(name string) string {
		v, _ := json.Marshal(metadata[name])
		return string(v)
	}
	is.name, is.namespace, is.uid = text("name"), text("namespace"), "none"
	if is.namespace == "null" || is.namespace == `""` {
		is.namespace = `"shop"`
	}
	if uid := text("uid"); uid == "null" || strings.HasPrefix(uid, `"`) {
		is.uid = ""
	}
	return is
}
