package informer_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

// rights are the verbs that a user may use. Everybody else may do everything.
type rights struct {
	user string

	mu    sync.Mutex // guards verbs
	verbs []string
}

func (g *rights) are(verbs ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.verbs = verbs
}

func (g *rights) authorize(a clienttest.Access) (bool, string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return a.User.Name != g.user || slices.Contains(g.verbs, a.Verb), ""
}

// behaviour 247, fault F29: the rights of an informer's user come one by one, late, and go again. It says what it lacks, gets
// by with what it has, and is current soon after it has got what it needs.
func TestAnInformerWhoseRightsComeAndGo(t *testing.T) {
	const (
		noList  = `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" at the cluster scope`
		noWatch = `configmaps is forbidden: User "jane" cannot watch resource "configmaps" in API group "" at the cluster scope`
		soon    = 35 * time.Second
	)
	for _, mode := range []informer.Mode{informer.Paged, informer.Streaming, informer.Auto} {
		t.Run(mode.String(), func(t *testing.T) {
			jane := &rights{user: "jane"}
			bubbleOf(t, clienttest.Options{Authorize: jane.authorize}, func(r *rig) {
				cfg := r.server.Config()
				cfg.Impersonate = &client.Subject{User: "jane"}
				i := r.with(cfg).informer(informer.Options{Mode: mode})
				i.r = r // somebody who may list says what is true
				r.put("a")
				i.run()
				r.Cleanup(i.stop)
				lacks := func(words string) {
					r.Helper()
					s := i.Status()
					if !errors.Is(s.Err, apierrors.Forbidden) || !strings.Contains(s.Err.Error(), words) {
						r.Errorf("the status says %v, want %s", s, words)
					}
				}
				first := noList
				if mode == informer.Streaming {
					first = noWatch
				}
				for _, verbs := range [][]string{nil, {"get"}} { // the second is of no use
					jane.are(verbs...)
					ctx, cancel := context.WithTimeout(r.Context(), 5*time.Hour)
					if err := i.WaitSynced(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, apierrors.Forbidden) {
						r.Errorf("WaitSynced returns %v", err)
					}
					cancel()
					lacks(first)
					i.tells()
				}
				if mode != informer.Streaming {
					jane.are("list")
					r.within(soon, "the list is complete", func() bool { return i.Status().Synced })
					i.tells("add a")
					r.pass(time.Hour)
					lacks(noWatch)
				}
				jane.are("list", "watch")
				r.put("b")
				r.within(soon, "it is current", func() bool { return i.Status().Synced && i.difference() == "" })
				i.told()

				// What is open already stays open, as on a real server.
				jane.are()
				r.put("c")
				i.tells("add c")
				r.server.DropWatches()
				r.server.Compact()
				r.put("d")
				r.remove("a")
				r.pass(time.Hour)
				lacks("")
				i.tells()
				jane.are("list", "watch")
				r.within(soon, "it is current again", func() bool { return i.difference() == "" })
				i.tells("add d", "delete a")
				r.pass(2 * time.Second)
				if s := i.Status(); s.Err != nil {
					r.Errorf("in the end the status is %v", s)
				}
			})
		})
	}
}
