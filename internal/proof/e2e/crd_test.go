package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

var definitions = client.Type[object]{
	Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions",
	Scope: meta.Cluster,
}

// knot is a custom resource, in both of its versions.
type knot struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Rope  string `json:"rope"`
		Turns int    `json:"turns,omitempty"`
	} `json:"spec"`
}

// definition is that of knots in a group, served at v1alpha1 and at v1, with status and scale.
func definition(group string) string {
	const version = `{
		"name": "VERSION", "served": true, "storage": STORAGE,
		"schema": {"openAPIV3Schema": {"type": "object", "properties": {
			"spec": {"type": "object", "required": ["rope"], "properties": {"rope": {"type": "string"}, "turns": {"type": "integer"}}},
			"status": {"type": "object", "properties": {"turns": {"type": "integer"}}}
		}}},
		"subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.turns", "statusReplicasPath": ".status.turns"}},
		"additionalPrinterColumns": [{"name": "Rope", "type": "string", "jsonPath": ".spec.rope"}]
	}`
	versions := strings.NewReplacer("VERSION", "v1", "STORAGE", "true").Replace(version) + ", " +
		strings.NewReplacer("VERSION", "v1alpha1", "STORAGE", "false").Replace(version)
	return `{"metadata": {"name": "knots.` + group + `"}, "spec": {
		"group": "` + group + `", "scope": "Namespaced",
		"names": {"kind": "Knot", "plural": "knots", "singular": "knot", "shortNames": ["kn"], "categories": ["ropework"]},
		"versions": [` + versions + `]
	}}`
}

func knots(group, version string) client.Type[*knot] {
	return client.Type[*knot]{Group: group, Version: version, Kind: "Knot", Resource: "knots"}
}

// install makes a definition and waits until it is served.
func install(t *testing.T, c *client.Client, group string) object {
	t.Helper()
	made := create(t, client.For(c, definitions), "", definition(group))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return must(client.WaitFor(ctx, client.For(c, definitions), meta.KeyOf(made), client.UntilReady()))(t)
}

func TestACustomResourceIsServedAtTwoVersions(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	const group = "versions.e2e.bowline.example"
	install(t, c, group)
	older, newer := client.For(c, knots(group, "v1alpha1")), client.For(c, knots(group, "v1"))

	k := &knot{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "clove-hitch"}}
	k.Spec.Rope, k.Spec.Turns = "hemp", 2
	made := must(older.Create(t.Context(), k))(t)
	got := must(newer.Get(t.Context(), meta.KeyOf(made)))(t)
	if got.UID != made.UID || got.ResourceVersion != made.ResourceVersion || got.Spec != made.Spec {
		t.Errorf("the newer version is %+v, want the same object as %+v", got, made)
	}
	got = must(newer.Modify(t.Context(), meta.KeyOf(made), func(k *knot) error {
		k.Spec.Rope = "nylon"
		return nil
	}))(t)
	equal(t, "the rope in the older version", must(older.Get(t.Context(), meta.KeyOf(made)))(t).Spec.Rope, "nylon")
	_, err := older.Update(t.Context(), made)
	wantReason(t, err, apierrors.Conflict)

	scale := must(client.ScaleOf(newer).Modify(t.Context(), meta.KeyOf(got), func(s *client.Scale) error {
		s.Spec.Replicas++
		return nil
	}))(t)
	equal(t, "turns", scale.Spec.Replicas, 3)

	table := must(newer.Table(t.Context(), client.ListOptions{Namespace: ns}, client.TableOptions{}))(t)
	if len(table.Rows) != 1 || len(table.Columns) != 2 || table.Columns[1].Name != "Rope" || table.Rows[0].Cells[1] != any("nylon") {
		t.Errorf("the table is %+v, want the column of the definition", table)
	}

	strict := client.For(c, client.Type[object]{Group: group, Version: "v1", Kind: "Knot", Resource: "knots"}).
		With(client.WriteOptions{FieldValidation: client.ValidateStrict})
	_, err = strict.Create(t.Context(), parse(t, `{"metadata": {"name": "a", "namespace": "`+ns+`"}, "spec": {"rope": "hemp", "colour": "red"}}`))
	wantReason(t, err, apierrors.BadRequest)
	_, err = strict.Create(t.Context(), parse(t, `{"metadata": {"name": "a", "namespace": "`+ns+`"}, "spec": {"turns": 1}}`))
	wantReason(t, err, apierrors.Invalid)
	if err == nil || !strings.Contains(err.Error(), "spec.rope") {
		t.Errorf("error is %v, want that it names spec.rope", err)
	}
}

// A definition is installed, removed and installed again, while a catalog and an informer of long before watch it.
func TestACustomResourceThatComesAndGoesIsNoticed(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	const group = "comes-and-goes.e2e.bowline.example"
	catalog := discovery.New(c, discovery.Options{TTL: time.Second, MissTTL: 100 * time.Millisecond})
	kind := meta.GVK{Group: group, Version: "v1", Kind: "Knot"}
	served := func(want bool) {
		t.Helper()
		eventually(t, func() error {
			if has, err := catalog.Has(t.Context(), kind); err != nil || has != want {
				return fmt.Errorf("the catalog has it: %v, %w; want %v", has, err, want)
			}
			return nil
		})
	}
	served(false)

	// told is what the informer's handler was told.
	told := make(chan string, 100)
	inf := informer.New(client.For(c, knots(group, "v1")), informer.Options{Namespace: ns})
	inf.Subscribe(cache.HandlerFuncs[*knot]{
		Add:    func(k *knot) { told <- "add " + k.UID },
		Update: func(_, k *knot) { told <- "update " + k.UID },
		Delete: func(k *knot) { told <- "delete " + k.UID },
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	t.Cleanup(cancel)
	running.Go(func() {
		if err := inf.Run(ctx); err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
	hear := func(want string) {
		t.Helper()
		select {
		case got := <-told:
			equal(t, "what the handler was told", got, want)
		case <-time.After(patience):
			t.Fatalf("the handler is not told %q; %v", want, inf.Status())
		}
	}

	last := ""
	for range 2 {
		made := install(t, c, group)
		served(true)
		match, _, err := catalog.Find(t.Context(), "kn."+group)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "what the short name means", match.GVR(), meta.GVR{Group: group, Version: "v1", Resource: "knots"})
		found := despiteOthers(catalog.Category(t.Context(), "ropework"))(t)
		if !slices.ContainsFunc(found, func(r discovery.Resource) bool { return r.Group == group }) {
			t.Errorf("the category has %v, want the knots in it", found)
		}
		older := must(catalog.ResourceOf(t.Context(), meta.GVR{Group: group, Version: "v1alpha1", Resource: "knots"}))(t)
		k := &knot{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "bowline"}}
		k.Spec.Rope = "hemp"
		created := must(client.Retype[*knot](client.For(c, older.Type())).Create(t.Context(), k))(t)
		if created.UID == last {
			t.Errorf("the uid is %s again", last)
		}
		last = created.UID
		hear("add " + last)
		if err := inf.WaitSynced(t.Context()); err != nil {
			t.Error(err)
		}

		if err := client.For(c, definitions).Delete(t.Context(), meta.KeyOf(made), client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		must(client.WaitFor(t.Context(), client.For(c, definitions), meta.KeyOf(made), client.UntilDeleted(made.GetUID())))(t)
		hear("delete " + last)
		served(false)
		eventually(t, func() error {
			_, err := client.For(c, knots(group, "v1")).List(t.Context(), client.ListOptions{Namespace: ns})
			if !errors.Is(err, apierrors.NotFound) {
				return fmt.Errorf("the list of what is not served any more returns %v, want NotFound", err)
			}
			return nil
		})
	}
}
