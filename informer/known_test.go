package informer_test

import (
	"context"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// Owned is a config map with all of its metadata.
type Owned struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

// An apply that changes nothing is not sent where the cache proves it; a cache without managedFields proves nothing.
func TestACacheTellsThatAnApplyChangesNothing(t *testing.T) {
	bubble(t, func(r *rig) {
		c, err := client.New(r.server.Config())
		if err != nil {
			r.Fatal(err)
		}
		defer c.Close()
		things := client.For(c, client.Type[*Owned]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
		full, lean := informer.New(things, informer.Options{KeepManagedFields: true}), informer.New(things, informer.Options{})
		applier := things.With(client.WriteOptions{FieldManager: "mine"})
		apply := func(value string, known *Owned) *Owned {
			r.Helper()
			got, err := applier.Apply(r.Context(), key("a"), map[string]any{"data": map[string]any{"k": value}}, client.ApplyOptions{Known: known})
			if err != nil {
				r.Fatal(err)
			}
			return got
		}
		ctx, stop := context.WithCancel(r.Context())
		ran := make(chan error)
		go func() { ran <- informer.Run(ctx, full, lean) }()
		defer func() {
			stop()
			if err := <-ran; err != nil {
				r.Error(err)
			}
		}()
		made := apply("1", nil)
		r.pass(time.Second)
		for _, test := range []struct {
			name  string
			from  *informer.Informer[*Owned]
			value string
			sent  int
		}{
			{"the same", full, "1", 0},
			{"the same, by a cache without managedFields", lean, "1", 1},
			{"another", full, "2", 1},
		} {
			cached, ok := test.from.Reader().Get(key("a"))
			if !ok || cached.ResourceVersion != made.ResourceVersion {
				r.Fatalf("%s: the cache has %+v", test.name, cached)
			}
			before := r.requests("patch")
			if got := apply(test.value, cached); got.Data["k"] != test.value {
				r.Errorf("%s: got %+v", test.name, got)
			}
			if sent := r.requests("patch") - before; sent != test.sent {
				r.Errorf("%s: %d requests, want %d", test.name, sent, test.sent)
			}
		}
	})
}
