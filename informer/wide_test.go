package informer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// SetNamespaces with the namespaces that an informer has could overtake its wide list, which runs on: it found the new namespace
// not listed yet, the list was completed, and then WaitFor was told not to believe the watch about the new namespace until the
// next list. It was a race for scope.covers too.
func TestSetNamespacesWithoutAChangeDoesNotTouchTheWideList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type thing struct{ meta.ObjectMeta }
		i := New[*thing](nil, Options{Namespaces: []string{"a", "b"}, WideAbove: 1})
		wide := i.scopes[""]
		// The reflector has completed the list, and wasListed comes next.
		wide.writer.Relist().Commit("10")
		wide.writer.Restrict(oneOf(wide.names()))
		i.arrange(nil)
		i.wasListed(wide.names())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := i.store.WaitFor(ctx, meta.Key{Namespace: "b", Name: "x"}, "5"); err != nil {
			t.Error(err)
		}
	})
}
