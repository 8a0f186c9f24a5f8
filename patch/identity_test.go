package patch_test

import (
	"errors"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

func TestAPatchCannotChangeNameNamespaceOrUID(t *testing.T) {
	const (
		name      = `metadata.name must stay "web", which no patch can change`
		uid       = `metadata.uid must stay what it is, a string, which no patch can change`
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
