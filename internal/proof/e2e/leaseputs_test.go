package e2e

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/shards"
	apierrors "github.com/bowline-go/bowline/errors"
)

// A PUT of a lease that somebody has deleted makes it anew if the body has no uid. With the uid, which package leader sends, it fails.
func TestAPutOfADeletedLeaseCreatesItWithoutItsUIDOnly(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	r := client.For(c, leases)
	deleted := create(t, r, ns, `{"metadata":{"name":"gone"},"spec":{"holderIdentity":"a"}}`)
	key := meta.Key{Namespace: ns, Name: "gone"}
	if err := r.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Update(t.Context(), deleted); !errors.Is(err, apierrors.Conflict) {
		t.Errorf("a PUT with the uid of the deleted lease: %v, want a conflict", err)
	}
	bare := parse(t, `{"metadata":{"name":"gone","namespace":"`+ns+`"},"spec":{"holderIdentity":"a"}}`)
	made, err := r.Update(t.Context(), bare)
	if err != nil || made.GetUID() == deleted.GetUID() {
		t.Errorf("a PUT without a uid: %v, uid %q, want another lease than %q", err, made.GetUID(), deleted.GetUID())
	}
}

// deleter deletes the lease that the second of the PUTs through it is to renew, right before the server gets that PUT.
type deleter struct {
	http.RoundTripper
	outside client.Resource[object]
	puts    atomic.Int64
	answer  atomic.Int64 // the code of the answer to that PUT
	left    atomic.Bool  // the lease was there after it
}

func (d *deleter) RoundTrip(r *http.Request) (*http.Response, error) {
	_, name, ok := strings.Cut(r.URL.Path, "/leases/")
	if !ok || r.Method != http.MethodPut || d.puts.Add(1) != 2 {
		return d.RoundTripper.RoundTrip(r)
	}
	_, rest, _ := strings.Cut(r.URL.Path, "/namespaces/")
	namespace, _, _ := strings.Cut(rest, "/")
	key := meta.Key{Namespace: namespace, Name: name}
	if err := d.outside.Delete(r.Context(), key, client.DeleteOptions{}); err != nil {
		return nil, err
	}
	answer, err := d.RoundTripper.RoundTrip(r)
	if err == nil {
		d.answer.Store(int64(answer.StatusCode))
		_, err := d.outside.Get(r.Context(), key)
		d.left.Store(!errors.Is(err, apierrors.NotFound))
	}
	return answer, err
}

// deletes returns a client whose second renewal of a lease meets its deletion.
func deletes(t *testing.T, outside *client.Client) (*client.Client, *deleter) {
	d := &deleter{outside: client.For(outside, leases)}
	cfg := adminConfig()
	cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
		d.RoundTripper = next
		return d
	}
	return open(t, cfg), d
}

func (d *deleter) check(t *testing.T) {
	t.Helper()
	if code := d.answer.Load(); code < 400 || code >= 500 || d.left.Load() {
		t.Errorf("the PUT of the deleted lease was answered with %d; it made the lease anew: %t", code, d.left.Load())
	}
}

// A renewal does not make a lease anew that somebody has deleted: the term ends.
func TestARenewalDoesNotMakeADeletedLeaseAnew(t *testing.T) {
	t.Parallel()
	outside, ns := admin(t)
	c, d := deletes(t, outside)
	err := leader.Run(t.Context(), c, leader.Options{
		Namespace: ns, Name: "web", Identity: "a", LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
	}, func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	if lost, ok := errors.AsType[*leader.LostError](err); !ok || lost.Reason != leader.Deleted {
		t.Errorf("the election ended with %v", err)
	}
	d.check(t)
}

// Neither does a replica that shares work. It loses all ranges, and takes them again with another lease.
func TestAReplicaDoesNotMakeItsDeletedLeaseAnew(t *testing.T) {
	t.Parallel()
	outside, ns := admin(t)
	c, d := deletes(t, outside)
	gained, lost := make(chan meta.Ranges, 100), make(chan error, 100)
	g := shards.New(c, shards.Options{
		Namespace: ns, Name: "web", Identity: "a", LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		Hooks: shards.Hooks{Changed: func(_ context.Context, i shards.ChangedInfo) {
			if i.Err != nil {
				lost <- i.Err
			} else if i.Gained != (meta.Ranges{}) {
				gained <- i.Ranges
			}
		}},
		OnError: func(error) {},
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := g.Run(ctx, func(context.Context) error {
		for _, what := range []string{"at first", "after the deletion"} {
			select {
			case all := <-gained:
				if all != meta.AllRanges() {
					t.Errorf("%s the replica has %v", what, all)
				}
			case <-ctx.Done():
				t.Errorf("%s the replica has no ranges: %v", what, g.Status())
			}
		}
		select {
		case err := <-lost:
			if e, ok := errors.AsType[*leader.LostError](err); !ok || e.Reason != leader.Deleted {
				t.Errorf("the replica lost its ranges because of %v", err)
			}
		default:
			t.Error("the replica did not lose its ranges")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	d.check(t)
}
