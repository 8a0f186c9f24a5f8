package informer_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// A status is one line.
func TestStatusAsText(t *testing.T) {
	trouble := informer.Status{
		State: informer.Listing, Mode: informer.Streaming, Why: "server serves streaming lists",
		Listed: 500, Remaining: 1500,
		Err: errors.New("list pods: no\nroute"), LastEvent: time.Unix(0, 0),
		ResourceVersion: "7", Objects: 3, Lists: 2, Watches: 1, Events: 9, Resets: 1,
		Relists:     map[informer.Cause]int{informer.Expired: 2, informer.Absent: 1},
		Undecodable: []*client.DecodeError{{Identity: meta.Identity{Name: "x"}}},
		Namespaces:  map[string]informer.Status{"a": {}, "b": {Synced: true}},
	}
	for _, test := range []struct {
		name   string
		status informer.Status
		want   string
	}{
		{
			"all is well",
			informer.Status{State: informer.Watching, Synced: true, Objects: 2, ResourceVersion: "5", Lists: 1},
			"Watching, synced=true, objects=2, version=5, lists=1, watches=0, events=0",
		},
		{
			"trouble", trouble,
			`Listing, synced=false, items=500, remaining=1500, objects=3, version=7, mode=Streaming, why="server serves streaming lists", ` +
				`lists=2, watches=1, events=9, relistsAbsent=1, relistsExpired=2, resets=1, undecodable=1, namespaces=2, unsynced=a, ` +
				`error="list pods: no\nroute"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.status.String(); got != test.want {
				t.Errorf("String is\n%s, want\n%s", got, test.want)
			}
		})
	}
}

// behaviour 232, and the sums over namespaces.
func TestStatusOfSeveralNamespaces(t *testing.T) {
	bubble(t, func(r *rig) {
		r.putIn("default", "a")
		r.putIn("kube-system", "b")
		r.putIn("kube-system", "c")
		i := r.informer(informer.Options{Namespaces: []string{"default", "kube-system"}, Mode: informer.Paged})
		if s := i.Status(); s.State != informer.Idle || s.Synced || len(s.Namespaces) != 2 {
			r.Errorf("before: %v", s)
		}
		i.run()
		r.pass(time.Second)
		s := i.Status()
		def, sys := s.Namespaces["default"], s.Namespaces["kube-system"]
		if def.Objects != 1 || sys.Objects != 2 || s.Objects != 3 || def.Lists != 1 || s.Lists != 2 || s.Watches != 2 ||
			s.Mode != informer.Paged || s.Why != def.Why || s.Listed != 3 || s.LastEvent.IsZero() {
			r.Errorf("during: %v, %v, %v", s, def, sys)
		}
		if order, ok := meta.CompareVersions(def.ResourceVersion, sys.ResourceVersion); ok && order < 0 && s.ResourceVersion != def.ResourceVersion {
			r.Errorf("version is %s of %s and %s", s.ResourceVersion, def.ResourceVersion, sys.ResourceVersion)
		}
		i.stop()
		if s := i.Status(); s.State != informer.Idle || s.Synced || s.Objects != 3 {
			r.Errorf("after: %v", s)
		}
	})
}
