package compact_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/core"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/compact"
)

var configMaps = client.Type[*meta.Unstructured]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// rig is a server with a client of it.
type rig struct {
	*testing.T
	server *clienttest.Server
	client *client.Client
	maps   client.Resource[*meta.Unstructured]
}

// bubble runs f with a server of its own and in virtual time, once for each form of objects.
func bubble(t *testing.T, f func(r *rig)) {
	t.Helper()
	for _, form := range []string{"JSON", "protobuf"} {
		t.Run(form, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, clienttest.Options{})
				cfg := server.Config()
				if form == "protobuf" {
					cfg.Protobuf = protobuf.New(core.V1())
				}
				c, err := client.New(cfg)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				f(&rig{t, server, c, client.For(c, configMaps)})
			})
		})
	}
}

func (r *rig) put(name string, data map[string]string) {
	r.Helper()
	obj := &meta.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "default", "name": name, "labels": map[string]any{"of": name}}, "data": data,
	}}
	_, err := r.maps.Update(r.Context(), obj)
	if err != nil {
		_, err = r.maps.Create(r.Context(), obj)
	}
	if err != nil {
		r.Fatal(err)
	}
}

// whole is a type with all that the tests look at.
type whole struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data"`
}

var wholes = client.Type[*whole]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// run runs an informer until the end of the test.
func run[T meta.Object](r *rig, src informer.Source[T], o informer.Options) *informer.Informer[T] {
	r.Helper()
	o.OnError = func(err error) { r.Error(err) }
	o.Compact = compact.New()
	i := informer.New(src, o)
	ctx, cancel := context.WithCancel(r.Context())
	ended := make(chan error)
	go func() { ended <- i.Run(ctx) }()
	r.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			r.Error(err)
		}
	})
	if err := i.WaitSynced(r.Context()); err != nil {
		r.Fatal(err)
	}
	return i
}

func key(name string) meta.Key { return meta.Key{Namespace: "default", Name: name} }

func TestReadersGetObjectsOfTheirOwn(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a", map[string]string{"k": "v"})
		reader := run(r, client.For(r.client, wholes), informer.Options{}).Reader()
		byLabel := cache.NewLabelIndex(reader, "of")
		selector, err := meta.ParseSelector("of=a")
		if err != nil {
			r.Fatal(err)
		}
		first := func(seq func(func(*whole) bool)) *whole {
			for obj := range seq {
				return obj
			}
			return nil
		}
		// Each of these reads an object, which the test then changes.
		reads := map[string]func() *whole{
			"Get":       func() *whole { obj, _ := reader.Get(key("a")); return obj },
			"All":       func() *whole { return first(reader.All()) },
			"Namespace": func() *whole { return first(reader.Namespace("default")) },
			"Sorted":    func() *whole { return first(reader.Sorted()) },
			"Index.Get": func() *whole { return first(byLabel.Get("a")) },
			"Select":    func() *whole { return first(cache.Select(reader, selector)) },
			"Where":     func() *whole { return first(reader.Where(func(*whole) bool { return true }).All()) },
		}
		for range 3 {
			for _, name := range slices.Sorted(maps.Keys(reads)) {
				obj := reads[name]()
				if obj == nil || obj.Data["k"] != "v" || obj.Labels["of"] != "a" || obj.ResourceVersion == "" {
					r.Errorf("%s: got %+v", name, obj)
					continue
				}
				obj.Data["k"], obj.Labels["of"] = "changed", "changed"
			}
		}
		obj, _ := reader.Get(key("a"))
		if obj = meta.Clone(obj); obj.Data["k"] != "v" {
			r.Errorf("a clone has %+v", obj)
		}
	})
}

func TestHandlersAndReadersSeeChanges(t *testing.T) {
	bubble(t, func(r *rig) {
		for n := range 30 {
			r.put(fmt.Sprint("map-", n), map[string]string{"n": fmt.Sprint(n)})
		}
		i := run(r, client.For(r.client, wholes), informer.Options{})
		var told []string
		tell := func(what string, objects ...*whole) {
			for _, obj := range objects {
				what += " " + obj.Name + "=" + obj.Data["n"]
			}
			told = append(told, what)
		}
		sub := i.Subscribe(cache.HandlerFuncs[*whole]{
			Add:    func(obj *whole) { tell("add", obj) },
			Update: func(old, now *whole) { tell("update", old, now) },
			Delete: func(obj *whole) { tell("delete", obj) },
		})
		if err := sub.WaitSynced(r.Context()); err != nil {
			r.Fatal(err)
		}
		if len(told) != 30 {
			r.Errorf("told of %d objects, want 30", len(told))
		}
		told = nil
		r.put("map-7", map[string]string{"n": "seven"})
		synctest.Wait()
		r.put("map-30", map[string]string{"n": "30"})
		synctest.Wait()
		if err := r.maps.Delete(r.Context(), key("map-7"), client.DeleteOptions{}); err != nil {
			r.Fatal(err)
		}
		synctest.Wait()
		if want := []string{"update map-7=7 map-7=seven", "add map-30=30", "delete map-7=seven"}; !slices.Equal(told, want) {
			r.Errorf("told %q, want %q", told, want)
		}
		if obj, found := i.Reader().Get(key("map-30")); !found || obj.Data["n"] != "30" {
			r.Errorf("the cache has %+v", obj)
		}
		if n := i.Reader().Len(); n != 30 {
			r.Errorf("the cache has %d objects, want 30", n)
		}
	})
}

// A type that cannot be encoded is decoded from the server's text again, and an object of a transform is kept as it is
// if its JSON would not make an equal object.
func TestAnyTypeIsCached(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a", map[string]string{"k": "v"})
		raw := run(r, client.For(r.client, client.Type[*oneWay](wholes)), informer.Options{}).Reader()
		hidden := run(r, informer.Transform(client.For(r.client, wholes), func(obj *whole) *whole {
			obj.SelfLink = strings.ToUpper(obj.Name)
			return obj
		}), informer.Options{}).Reader()
		for range 3 {
			if obj, found := raw.Get(key("a")); !found || obj.Data.text != "k=v" {
				r.Errorf("got %+v", obj)
			}
			if obj, found := hidden.Get(key("a")); !found || obj.SelfLink != "A" {
				r.Errorf("got %+v", obj)
			}
		}
	})
}

// oneWay is a type that can be decoded and not encoded.
type oneWay struct {
	meta.ObjectMeta `json:"metadata"`
	Data            oneWayData `json:"data"`
}

type oneWayData struct{ text string }

func (d *oneWayData) UnmarshalJSON(raw []byte) error {
	var m map[string]string
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	for k, v := range m {
		d.text += k + "=" + v
	}
	return nil
}
