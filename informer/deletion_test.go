package informer_test

import (
	"context"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer"
)

// A server of 1.38 says at which version an object was deleted, so a program can wait until a cache has seen the deletion.
func TestACacheIsWaitedForUntilItHasSeenADeletion(t *testing.T) {
	for _, says := range []bool{true, false} {
		bubbleOf(t, clienttest.Options{DeletionVersions: says}, func(r *rig) {
			r.put("a")
			r.put("b")
			i := r.start(informer.Options{})
			d, err := r.things.DeleteWithResult(r.Context(), key("a"), client.DeleteOptions{})
			if err != nil || !d.Gone || (d.ResourceVersion != "") != says || says && d.ResourceVersion != r.server.ResourceVersion() {
				t.Fatalf("got %+v, %v, at version %s", d, err, r.server.ResourceVersion())
			}
			dry, err := r.things.With(client.WriteOptions{DryRun: true}).DeleteWithResult(r.Context(), key("b"), client.DeleteOptions{})
			if err != nil || !dry.Gone || dry.ResourceVersion != "" {
				t.Errorf("a dry run: %+v, %v", dry, err)
			}
			if says {
				if err := i.WaitFor(r.Context(), key("a"), d.ResourceVersion); err != nil {
					t.Error(err)
				}
				if _, found := i.Reader().Get(key("a")); found {
					t.Error("the cache still holds the object")
				}
			}
			w := r.wrote(func(ctx context.Context) error { return r.things.Delete(ctx, key("b"), client.DeleteOptions{}) })
			if w.ResourceVersion != "" || (w.DeletedAt != "") != says {
				t.Errorf("the write is %+v", w)
			}
		})
	}
}
