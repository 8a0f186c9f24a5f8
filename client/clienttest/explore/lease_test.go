package explore

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// aWorld returns a world with two lives, which nothing runs.
func aWorld() (w *world, a, b *life) {
	w = &world{plan: &Plan{}, begin: time.Now()}
	a, b = &life{replica: &replica{w, "A"}}, &life{replica: &replica{w, "B"}}
	w.lives = []*life{a, b}
	return w, a, b
}

// write returns a write of an object that is sent now.
func write(l *life, verb, resource, namespace, name string) *point {
	p := &point{life: l, sent: time.Now(), client: context.Background(), method: "PUT"}
	p.request = clienttest.Request{Verb: verb, Key: meta.Key{Namespace: namespace, Name: name}}
	p.request.Resource = meta.GVR{Version: "v1", Resource: resource}
	if resource == "leases" {
		p.request.Resource.Group = "coordination.k8s.io"
	}
	return p
}

// renew makes a life have a lease of 15 seconds, from when it sent the request.
func renew(p *point, name, share string) {
	p.lease = &leaseText{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name, ResourceVersion: "9"}}
	p.lease.Spec.HolderIdentity, p.lease.Spec.LeaseDurationSeconds = p.life.name, 15
	p.lease.Annotations = map[string]string{"shards.bowline-go.github.io/share": share}
	p.had()
}

// learn makes a life have the answer to a request, in which a lease of the name x has a holder.
func learn(p *point, holder, version string) {
	p.lease = &leaseText{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "x", ResourceVersion: version}}
	p.lease.Spec.HolderIdentity, p.lease.Spec.LeaseDurationSeconds = holder, 15
	p.had()
}

func TestAWriteNeedsALeaseIfTheReplicaHasHadOne(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(w *world, a, b *life)
		want    string // empty if the write is right
	}{
		"without leases": {func(*world, *life, *life) {}, ""},
		"in time": {func(_ *world, a, _ *life) {
			renew(write(a, "update", "leases", "default", "x"), "x", "")
			time.Sleep(15*time.Second - 1)
		}, ""},
		"counted from the request, not from the answer": {func(_ *world, a, _ *life) {
			p := write(a, "update", "leases", "default", "x")
			time.Sleep(10 * time.Second)
			renew(p, "x", "")
			time.Sleep(6 * time.Second)
		}, "1s after its lease default/x has ended"},
		"given up": {func(w *world, a, _ *life) {
			renew(write(a, "update", "leases", "default", "x"), "x", "")
			time.Sleep(time.Second)
			w.checkSent(write(a, "update", "leases", "default", "x"), []byte(`{"spec":{"holderIdentity":""}}`))
			time.Sleep(time.Second)
		}, "1s after its lease default/x has ended"},
		"deleted": {func(w *world, a, _ *life) {
			renew(write(a, "update", "leases", "default", "x"), "x", "")
			w.checkSent(write(a, "delete", "leases", "default", "x"), nil)
		}, "0s after its lease default/x has ended"},
		"another one holds it": {func(_ *world, a, _ *life) {
			renew(write(a, "update", "leases", "default", "x"), "x", "")
			learn(write(a, "get", "leases", "default", "x"), "B", "10")
			time.Sleep(time.Second)
		}, "1s after its lease default/x has ended"},
		"another one held it before": {func(_ *world, a, _ *life) {
			renew(write(a, "update", "leases", "default", "x"), "x", "")
			learn(write(a, "get", "leases", "default", "x"), "B", "8")
		}, ""},
		"another one holds a lease that it has never had": {func(_ *world, a, _ *life) {
			learn(write(a, "get", "leases", "default", "x"), "B", "10")
		}, ""},
		"given to another one": {func(_ *world, a, _ *life) {
			renew(write(a, "update", "leases", "default", "x"), "x", "")
			learn(write(a, "update", "leases", "default", "x"), "B", "10")
			time.Sleep(time.Second)
		}, "1s after its lease default/x has ended"},
		"taken again under another name": {func(_ *world, a, _ *life) {
			renew(write(a, "update", "leases", "default", "x"), "x", "")
			time.Sleep(15 * time.Second)
			learn(write(a, "update", "leases", "default", "x"), "A2", "10")
		}, ""},
		"another lease is left": {func(_ *world, a, _ *life) {
			renew(write(a, "update", "leases", "default", "x"), "x", "")
			time.Sleep(15 * time.Second)
			renew(write(a, "update", "leases", "default", "y"), "y", "")
		}, ""},
		"two have it": {func(_ *world, a, b *life) {
			renew(write(b, "update", "leases", "default", "x"), "x", "")
			time.Sleep(5 * time.Second)
			renew(write(a, "update", "leases", "default", "x"), "x", "")
		}, "while replica B has the lease default/x too"},
		"the other is dead": {func(_ *world, a, b *life) {
			renew(write(b, "update", "leases", "default", "x"), "x", "")
			b.dead = true
			renew(write(a, "update", "leases", "default", "x"), "x", "")
		}, ""},
		"the namespace is another replica's": {func(_ *world, a, b *life) {
			own, other := meta.Ranges{}, meta.AllRanges()
			renew(write(a, "update", "leases", "default", "x"), "x", shareText(own))
			renew(write(b, "update", "leases", "default", "y"), "y", shareText(other))
		}, `in namespace "default", whose range is in the lease of replica B`},
		"the namespace is its own": {func(_ *world, a, b *life) {
			renew(write(a, "update", "leases", "default", "x"), "x", shareText(meta.AllRanges()))
			renew(write(b, "update", "leases", "default", "y"), "y", shareText(meta.AllRanges()))
		}, ""},
		"after the return": {func(_ *world, a, _ *life) { a.returned = true }, "after Program has returned"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, a, b := aWorld()
				test.prepare(w, a, b)
				w.checkSent(write(a, "update", "configmaps", "default", "c"), nil)
				w.checkSent(write(a, "update", "configmaps", "default", "c"), nil) // is not said twice
				got := strings.Join(w.findings, "\n")
				if test.want == "" && got != "" || test.want != "" && !strings.HasSuffix(got, " is sent "+test.want) || len(w.findings) > 1 {
					t.Errorf("got %q, want %q", got, test.want)
				}
				w.findings = nil
				w.checkSent(write(a, "get", "configmaps", "default", "c"), nil)
				w.checkSent(write(b, "create", "events", "default", "e"), nil)
				if len(w.findings) > 0 {
					t.Errorf("got %q for a read and an event", w.findings)
				}
			})
		})
	}
}

// shareText is the annotation of a lease of package client/shards.
func shareText(r meta.Ranges) string {
	text, _ := r.MarshalText() // never fails
	return "v1 ranges=" + string(text) + " worked= weight=1 by=" + string(meta.ShardByNamespace) + " leaving=false joining=false sum=0"
}

func TestAnOlderStateMustNameAPlace(t *testing.T) {
	for _, text := range []string{
		"time-travel-boxes@update:boxes:1", "time-travel-boxes:step@update:boxes:1", "time-travel-:step:1@update:boxes:1",
		"stale-read-boxes:step:0@list:boxes:1",
	} {
		if s, err := parseSchedule(text); err == nil || !strings.Contains(err.Error(), "boxes:create:configmaps:2") {
			t.Errorf("%q is read as %v, %v; want an error with an example", text, s, err)
		}
	}
	text := "time-travel-all:create:configmaps:2@update:boxes/status:1,cut-off-B@step:2,lag-boxes@step:1,late-answers@update:boxes:1"
	if s, err := parseSchedule(text); err != nil || s.String() != text {
		t.Errorf("%q is read as %q, %v", text, s, err)
	}
}
