package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

// The controller is tested as a user would test theirs: against a server in the process, in virtual time.
func TestMirrors(t *testing.T) {
	source := meta.Key{Namespace: "default", Name: "a"}
	for _, test := range []struct {
		name string
		do   func(t *testing.T, c client.Resource[*ConfigMap])
		// what must be there afterwards; nil is no mirror
		want map[string]string
	}{
		{"a source gets a mirror", func(*testing.T, client.Resource[*ConfigMap]) {}, map[string]string{"k": "v"}},
		{"a mirror follows its source", func(t *testing.T, c client.Resource[*ConfigMap]) {
			change(t, c, source, func(c *ConfigMap) { c.Data = map[string]string{"k": "w"} })
		}, map[string]string{"k": "w"}},
		{"a mirror that is deleted comes back", func(t *testing.T, c client.Resource[*ConfigMap]) {
			remove(t, c, mirrorKey(source))
		}, map[string]string{"k": "v"}},
		{"a mirror that is spoilt is restored", func(t *testing.T, c client.Resource[*ConfigMap]) {
			change(t, c, mirrorKey(source), func(c *ConfigMap) { c.Data, c.Labels, c.Annotations, c.OwnerReferences = nil, nil, nil, nil })
		}, map[string]string{"k": "v"}},
		{"the mirror of a source that is deleted goes", func(t *testing.T, c client.Resource[*ConfigMap]) {
			remove(t, c, source)
		}, nil},
		{"the mirror of a source without its label goes", func(t *testing.T, c client.Resource[*ConfigMap]) {
			change(t, c, source, func(c *ConfigMap) { c.Labels = nil })
		}, nil},
		{"a mirror without its owner goes with its source too", func(t *testing.T, c client.Resource[*ConfigMap]) {
			change(t, c, mirrorKey(source), func(c *ConfigMap) { c.OwnerReferences = nil })
			remove(t, c, source)
		}, nil},
		{"a mirror survives a compaction while no watch is open", func(t *testing.T, c client.Resource[*ConfigMap]) {
			remove(t, c, source)
			made := newSource(source)
			made.Data = map[string]string{"new": "one"}
			if _, err := c.Create(t.Context(), made); err != nil {
				t.Fatal(err)
			}
		}, map[string]string{"new": "one"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, clienttest.Options{})
				c, err := client.New(server.Config())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				configMaps := client.For(c, ConfigMaps)
				stop := start(t, NewMirrors(c, 2, informer.Options{Namespaces: []string{"default"}}))
				defer stop()
				if _, err := configMaps.Create(t.Context(), newSource(source)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second) // virtual
				server.DropWatches()
				server.Compact()
				test.do(t, configMaps)
				time.Sleep(time.Minute)
				mirror, err := configMaps.Get(t.Context(), mirrorKey(source))
				switch {
				case test.want == nil && !errors.Is(err, apierrors.NotFound):
					t.Errorf("there is a mirror: %+v, %v", mirror, err)
				case test.want != nil && err != nil:
					t.Error(err)
				case test.want != nil && (!maps.Equal(mirror.Data, test.want) || mirror.Annotations[hashAnnotation] != hash(test.want) ||
					len(mirror.OwnerReferences) != 1 || mirror.OwnerReferences[0].Name != source.Name):
					t.Errorf("the mirror is %+v, want %v with hash and owner", mirror, test.want)
				}
			})
		})
	}
}

func TestAStrangersObjectWithTheNameOfAMirrorStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		configMaps := client.For(c, ConfigMaps)
		stranger := meta.Key{Namespace: "default", Name: "b-mirror"}
		if _, err := configMaps.Create(t.Context(), &ConfigMap{
			ObjectMeta: stranger.ObjectMeta(),
		}); err != nil {
			t.Fatal(err)
		}
		stop := start(t, NewMirrors(c, 1, informer.Options{Namespaces: []string{"default"}}))
		defer stop()
		time.Sleep(time.Minute)
		if _, err := configMaps.Get(t.Context(), stranger); err != nil {
			t.Error(err)
		}
	})
}

// The rights that the controller needs are those of the verbs that it sends, for config maps in its namespaces. Until it has
// them it waits; then everything is mirrored.
func TestMirrorsNeedOnlyTheirRole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bound atomic.Bool
		verbs := []string{"create", "delete", "get", "list", "update", "watch"}
		server := clienttest.Start(t, clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) {
			role := bound.Load() && a.Resource.Resource == "configmaps" && a.Key.Namespace == "default" && slices.Contains(verbs, a.Verb)
			return a.User.Name != "system:serviceaccount:default:mirrors" || role, ""
		}})
		admin, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer admin.Close()
		cfg := server.Config()
		cfg.Impersonate = &client.Subject{User: "system:serviceaccount:default:mirrors"}
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		configMaps := client.For(admin, ConfigMaps)
		source := meta.Key{Namespace: "default", Name: "a"}
		if _, err := configMaps.Create(t.Context(), newSource(source)); err != nil {
			t.Fatal(err)
		}
		var refused atomic.Int64
		stop := start(t, NewMirrors(c, 2, informer.Options{Namespaces: []string{"default"}, OnError: func(err error) {
			if !errors.Is(err, apierrors.Forbidden) {
				t.Error(err)
			}
			refused.Add(1)
		}}))
		defer stop()
		time.Sleep(time.Hour)
		if _, err := configMaps.Get(t.Context(), mirrorKey(source)); !errors.Is(err, apierrors.NotFound) || refused.Load() == 0 {
			t.Errorf("without rights: %d errors, and the mirror is %v", refused.Load(), err)
		}
		bound.Store(true)
		time.Sleep(time.Minute)
		before := refused.Load()
		change(t, configMaps, source, func(c *ConfigMap) { c.Data = map[string]string{"k": "w"} })
		time.Sleep(time.Second)
		mirror, err := configMaps.Get(t.Context(), mirrorKey(source))
		if err != nil || mirror.Data["k"] != "w" {
			t.Errorf("with rights the mirror is %+v, %v", mirror, err)
		}
		remove(t, configMaps, source)
		time.Sleep(time.Second)
		if _, err := configMaps.Get(t.Context(), mirrorKey(source)); !errors.Is(err, apierrors.NotFound) {
			t.Errorf("the mirror of a source that has gone: %v", err)
		}
		if n := refused.Load() - before; n > 0 {
			t.Errorf("%d errors with all the rights", n)
		}
	})
}

// start runs r until stop is called, which waits for it.
func start(t *testing.T, r informer.Runner) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func newSource(key meta.Key) *ConfigMap {
	return &ConfigMap{
		ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{mirrorLabel: "true"}},
		Data:       map[string]string{"k": "v"},
	}
}

func change(t *testing.T, c client.Resource[*ConfigMap], key meta.Key, f func(*ConfigMap)) {
	t.Helper()
	if _, err := c.Modify(t.Context(), key, func(c *ConfigMap) error { f(c); return nil }); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, c client.Resource[*ConfigMap], key meta.Key) {
	t.Helper()
	if err := c.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
