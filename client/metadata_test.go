package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

const metadataType = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// behaviour 16
func TestTheRequestsForMetadata(t *testing.T) {
	type r = client.Resource[*meta.Partial]
	for _, test := range []struct {
		name   string
		do     func(ctx context.Context, r r) error
		accept string
		want   string
	}{
		{
			"get", func(ctx context.Context, r r) error { return drop(r.Get(ctx, web)) },
			metadataType, "GET /api/v1/namespaces/web/configmaps/a",
		},
		{
			"get through a subresource", func(ctx context.Context, r r) error { return drop(r.Status().Get(ctx, web)) },
			metadataType, "GET /api/v1/namespaces/web/configmaps/a/status",
		},
		{
			"list", func(ctx context.Context, r r) error { return drop(r.List(ctx, client.ListOptions{})) },
			"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1;drop=metadata.managedFields", "GET /api/v1/configmaps?limit=500",
		},
		{
			"watch", func(ctx context.Context, r r) error { return watch(ctx, r, client.WatchOptions{}) },
			metadataType + ";drop=metadata.managedFields", "GET /api/v1/configmaps?watch=true",
		},
		{
			"patch", func(ctx context.Context, r r) error { return drop(r.Patch(ctx, web, patch.Merge(map[string]int{}))) },
			metadataType, "PATCH /api/v1/namespaces/web/configmaps/a?dryRun=All&fieldManager=me",
		},
		{
			"delete", func(ctx context.Context, r r) error { return r.Delete(ctx, web, client.DeleteOptions{}) },
			metadataType, "DELETE /api/v1/namespaces/web/configmaps/a",
		},
		{ // the server answers with a list, and refused to send it as one object
			"deletecollection", func(ctx context.Context, r r) error {
				return r.DeleteCollection(ctx, client.Selection{Namespace: "web", Everything: true}, client.DeleteOptions{})
			},
			"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "DELETE /api/v1/namespaces/web/configmaps",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := answers(answer{code: 403})
			full := client.For(connect(t, srv), slims).With(client.WriteOptions{FieldManager: "me", DryRun: true})
			_ = test.do(t.Context(), client.Metadata(full))
			if got := srv.one(t); got.String() != test.want || got.header.Get("Accept") != test.accept {
				t.Errorf("got  %s\n     %s\nwant %s\n     %s", got, got.header.Get("Accept"), test.want, test.accept)
			}
		})
	}
}

// behaviour 16: against a server, each call that reads brings the metadata, under the object's own kind.
func TestMetadata(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.Start(t, clienttest.Options{})
		full := client.For(dial(t, srv.Config()), configMaps)
		key := meta.Key{Namespace: "default", Name: "a"}
		made := must[*ConfigMap](t)(full.Create(t.Context(), &ConfigMap{
			ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{"app": "web"}},
			Data:       map[string]string{"k": strings.Repeat("x", 1000)},
		}))
		must[*ConfigMap](t)(full.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: "b"}}))
		r := client.Metadata(full)
		check := func(what string, got *meta.Partial) {
			t.Helper()
			if got.GVK() != configMaps.GVK() || got.Name != "a" || got.UID != made.UID || got.Labels["app"] != "web" {
				t.Errorf("%s brings %+v", what, got)
			}
			if text, _ := json.Marshal(got); strings.Contains(string(text), "xxx") {
				t.Errorf("%s brings %s", what, text)
			}
		}
		check("get", must[*meta.Partial](t)(r.Get(t.Context(), key)))
		list := must[meta.List[*meta.Partial]](t)(r.List(t.Context(), client.ListOptions{PageSize: 1}))
		if len(list.Items) != 2 || list.ResourceVersion == "" {
			t.Fatalf("list brings %+v", list)
		}
		check("list", list.Items[0])
		changed := must[*meta.Partial](t)(r.Patch(t.Context(), key, patch.Merge(map[string]any{
			"metadata": map[string]any{"annotations": map[string]string{"note": "1"}},
		})))
		check("patch", changed)
		if changed.Annotations["note"] != "1" || changed.ResourceVersion == made.ResourceVersion {
			t.Errorf("patch brings %+v", changed)
		}
		if whole := must[*ConfigMap](t)(full.Get(t.Context(), key)); whole.Data["k"] == "" {
			t.Error("a patch of the metadata took the rest away")
		}
		if err := r.Delete(t.Context(), key, client.DeleteOptions{UID: made.UID}); err != nil {
			t.Fatal(err)
		}
		var events []string
		for e, err := range r.Watch(t.Context(), client.WatchOptions{ResourceVersion: list.ResourceVersion, LabelSelector: "app=web"}) {
			if err != nil {
				t.Fatal(err)
			}
			check("watch", e.Object)
			events = append(events, string(e.Type))
			if e.Type == client.Deleted {
				break
			}
		}
		if got := strings.Join(events, " "); got != "MODIFIED DELETED" {
			t.Errorf("watch brings %s", got)
		}
	})
}

// An answer that is not metadata, or metadata where it was not asked for, is refused.
func TestMetadataOfAnotherKind(t *testing.T) {
	partial := strings.NewReplacer(`"ConfigMap"`, `"PartialObjectMetadata"`, `"v1"`, `"meta.k8s.io/v1"`, "ConfigMapList", "PartialObjectMetadataList")
	one, many := object("a", "1"), listOf("5", "", object("a", "1"))
	for _, test := range []struct {
		name string
		body string
		do   func(ctx context.Context, c *client.Client) error
		want string // empty: it is right
	}{
		{"metadata", partial.Replace(one), func(ctx context.Context, c *client.Client) error {
			return drop(client.Metadata(client.For(c, slims)).Get(ctx, web))
		}, ""},
		{"a list of metadata", partial.Replace(many), func(ctx context.Context, c *client.Client) error {
			return drop(client.Metadata(client.For(c, slims)).List(ctx, client.ListOptions{}))
		}, ""},
		{"an event of metadata", event("ADDED", partial.Replace(one)), func(ctx context.Context, c *client.Client) error {
			return watch(ctx, client.Metadata(client.For(c, slims)), client.WatchOptions{})
		}, ""},
		{"the object", one, func(ctx context.Context, c *client.Client) error {
			return drop(client.Metadata(client.For(c, slims)).Get(ctx, web))
		}, "server sent v1 ConfigMap, want meta.k8s.io/v1 PartialObjectMetadata"},
		{"a list of objects", many, func(ctx context.Context, c *client.Client) error {
			return drop(client.Metadata(client.For(c, slims)).List(ctx, client.ListOptions{}))
		}, "server sent v1 ConfigMapList, want meta.k8s.io/v1 PartialObjectMetadataList"},
		{"an event of the object", event("ADDED", one), func(ctx context.Context, c *client.Client) error {
			return watch(ctx, client.Metadata(client.For(c, slims)), client.WatchOptions{})
		}, "server sent v1 ConfigMap, want meta.k8s.io/v1 PartialObjectMetadata"},
		{"metadata that nobody asked for", partial.Replace(one), func(ctx context.Context, c *client.Client) error {
			return drop(client.For(c, slims).Get(ctx, web))
		}, "server sent meta.k8s.io/v1 PartialObjectMetadata, want v1 ConfigMap"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.do(t.Context(), connect(t, says(test.body)))
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantErr(t, err, test.want)
			answered(t, err, client.WrongKind)
		})
	}
}

// What cannot work on metadata alone is refused before anything is sent, with a word on what can.
func TestMetadataCannotBeWrittenAsAnObject(t *testing.T) {
	srv := says("{}")
	r := client.Metadata(client.For(connect(t, srv), slims))
	obj := &meta.Partial{ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "a"}}
	change := func(*meta.Partial) error { return nil }
	for name, err := range map[string]error{
		"create configmaps":              drop(r.Create(t.Context(), obj)),
		"update configmaps":              drop(r.Update(t.Context(), obj)),
		"modify configmaps":              drop(r.Modify(t.Context(), web, change)),
		"update configmaps/status":       drop(r.Status().Update(t.Context(), obj)),
		"modify configmaps/status":       drop(r.Status().Modify(t.Context(), web, change)),
		"create configmaps, twice over":  drop(client.Metadata(r).Create(t.Context(), obj)),
		"update configmaps with options": drop(r.With(client.WriteOptions{DryRun: true}).Update(t.Context(), obj)),
	} {
		is[*client.UsageError](t, err)
		verb, _, _ := strings.Cut(name, ",")
		verb, _, _ = strings.Cut(verb, " with")
		wantErr(t, err, verb)
		wantErr(t, err, "use Patch, or the Resource that Metadata was called with")
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
	if _, err := client.Metadata(client.Resource[*Slim]{}).Get(t.Context(), web); err == nil {
		t.Error("the zero Resource has metadata")
	}
}

// A meta.Raw stands for T in every call, and what it does not decode survives.
func TestRawAsAnObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.Start(t, clienttest.Options{})
		c := dial(t, srv.Config())
		r := client.For(c, client.Type[*meta.Raw](configMaps))
		key := meta.Key{Namespace: "default", Name: "a"}
		text := `{"metadata":{"namespace":"default","name":"a"},"data":{"k":"<1>","l":"2"},"immutable":false}`
		obj := new(meta.Raw)
		if err := json.Unmarshal([]byte(text), obj); err != nil {
			t.Fatal(err)
		}
		read := func(what string, obj *meta.Raw, want string) {
			t.Helper()
			got, found, err := meta.Nested[string](obj, "data", "k")
			if got != want || !found || err != nil || obj.GVK() != configMaps.GVK() || obj.Key() != key {
				t.Errorf("%s: got %q, %v, %v of %+v", what, got, found, err, obj)
			}
		}
		made := must[*meta.Raw](t)(r.Create(t.Context(), obj))
		read("create", made, "<1>")
		read("get", must[*meta.Raw](t)(r.Get(t.Context(), key)), "<1>")
		list := must[meta.List[*meta.Raw]](t)(r.List(t.Context(), client.ListOptions{}))
		if len(list.Items) != 1 {
			t.Fatalf("list brings %+v", list)
		}
		read("list", list.Items[0], "<1>")
		changed := must[*meta.Raw](t)(r.Modify(t.Context(), key, func(obj *meta.Raw) error {
			obj.Labels = map[string]string{"app": "web"}
			return nil
		}))
		read("modify", changed, "<1>")
		changed.Labels["app"] = "db"
		read("update", must[*meta.Raw](t)(r.Update(t.Context(), meta.Clone(changed))), "<1>")
		read("patch", must[*meta.Raw](t)(r.Patch(t.Context(), key, patch.Merge(map[string]any{"data": map[string]any{"k": "3"}}))), "3")
		whole := must[*ConfigMap](t)(client.For(c, configMaps).Get(t.Context(), key))
		if whole.Labels["app"] != "db" || fmt.Sprint(whole.Data) != "map[k:3 l:2]" {
			t.Errorf("the server has %+v", whole)
		}
		for e, err := range r.Watch(t.Context(), client.WatchOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			read("watch", e.Object, "3")
			break
		}

		bad := client.For(connect(t, says(strings.Replace(object("a", "1"), `"uid":`, `"labels":7,"uid":`, 1))), client.Type[*meta.Raw](configMaps))
		_, err := bad.Get(t.Context(), web)
		if e := is[*client.DecodeError](t, err); e.Identity.Name != "a" || errors.Is(err, context.Canceled) {
			t.Errorf("error is %v", err)
		}
	})
}
