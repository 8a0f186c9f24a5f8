// Options of a controller.

package controller

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client/meta"
)

// Options configure a controller. The zero value means one worker, no time limits, and the queue's default backoff. The
// type is not generic, so that New infers its own type of keys and controllers can share options; the error that
// OnError receives has the key.
type Options struct {
	// Workers is how many keys are reconciled at a time. 0 = 1. [Controller.SetWorkers] changes it later.
	Workers int
	// Timeout ends the context of a reconcile that takes longer; the function must obey it. 0 = no limit.
	Timeout time.Duration
	// Grace is how long the context of reconciles in progress outlives the controller's. 0 = it ends at once.
	Grace time.Duration
	// Drain is how long the workers go on with keys that are ready when the controller's context ends, and with those
	// that become ready during that time. They stop earlier if no key is ready and none is in progress. Grace begins
	// after Drain, so a reconcile that hangs has both. [Controller.Pause] ends the drain. 0 = they take no further key:
	// at the next start the sources name everything that exists, so nothing is lost. If a source fails, or this replica
	// no longer leads, nothing is drained.
	Drain time.Duration
	// AllNamespaces makes every key wait for all namespaces of the informers (informer.Options.Namespaces), for
	// reconciles that read other namespaces than that of their key. Otherwise a missing namespace, for example a
	// forbidden one, holds back its own keys only; see the documentation of the package.
	AllNamespaces bool
	// SyncTimeout is how long the sources may take to deliver what exists at the start; Run fails if they take longer.
	// 0 = no limit: a server that is away for a long time then delays the workers and does not end Run. Namespaces that
	// are still missing after the workers have started without them do not count.
	SyncTimeout time.Duration

	// StartAtTerm makes each term of this replica begin with what exists then, in a program that elects a leader
	// (informer.Group.Leader, [Controller.RunLed]). By default the sources run, and fill the queue, before this replica
	// leads: its first term begins at once, with every key that was named since the start, although another replica has
	// reconciled them. With StartAtTerm the sources do not run while this replica does not lead; their caches do. When
	// a term begins, the queue is empty, the sources start, and the first reconcile starts once they have delivered
	// what exists then. A second term of the Run begins the same way: the delays and failures of the first one are
	// forgotten. So a change that was made and undone between terms is not reconciled.
	//
	// RunLed calls lead once the caches of the sources of New are complete, or lack only namespaces that need not be
	// waited for. Informers that only sources of [Controller.AddSource] need run during terms, and keys that are sent
	// to a [Chan] wait in the channel. Without an election there is one term, which is the Run. StartAtTerm and Shards
	// exclude each other.
	StartAtTerm bool

	// FreshTimeout is how long a key waits at most for caches that have not seen its writes; see [Fresh]. 0 = 10 s.
	FreshTimeout time.Duration

	// Shards limits the controller to the keys of some ranges, for a program whose replicas share the work; package
	// client/shards has such a Group. The Group decides whether a key is in the range of its namespace or of its
	// object's uid. This replica reconciles a key only while it has that range. The contexts of the key's reconciles
	// end when the range passes to another replica, and no request with them is sent after that. When this replica gets
	// a range, the keys of all objects in it are reconciled, with a low priority, as at a start.
	//
	// The informers of the sources must have the same Shards (as compared by ==), or none. An informer without Shards
	// decodes and caches all objects in every replica, and the controller reconciles those of its ranges. Run,
	// AddSource and AddSourcesFor return an error if an informer has other Shards, or if it has Shards and the
	// controller has none. Shards and an election exclude each other: see [Controller.RunLed].
	//
	// With ranges by uid:
	//
	//   - One of the sources must be a [Watch], of objects that keep their uid: its cache says which range a key is in.
	//     Keys whose object is not in that cache are left to the replicas that have it in theirs.
	//   - [Owns] must follow an informer without Shards. A child and its owner are usually in different ranges, so with
	//     Shards the replica that has the owner would not see the child. Shards in that informer are an error.
	//   - [Map] must follow an informer without Shards too, unless each key that it names is that of the object itself.
	//     A key is reconciled only if Map names it in the replica that has the key. Nothing checks that.
	//   - If that takes too much memory, use ranges by namespace: then objects of one namespace are in one range.
	//
	// The keys that [Chan], [Every] or a source of your own names are reconciled by the replica that has their range at
	// that moment, if such a source runs there. Status.Elsewhere counts the keys that are left to other replicas.
	Shards Shards

	// Permissions are the requests of the reconcile function, such as those of client.Resource.Access:
	//
	//	Permissions: slices.Concat(pages.Access("get", "patch"), pages.Status().Access("get", "update")),
	//
	// informer.Group.Permissions adds what the controller's informers ask for. Permissions allow nothing, and the
	// controller compares no request with them: a test compares them with the requests that the server received, and
	// with the Role of the program; see clienttest.RoleOf.
	Permissions []meta.Access

	// AllowFights lets the reconciles repeat the same write as fast as another writer undoes it. By default such a
	// fight is reported, by a [*FightError], and its key is slowed down.
	AllowFights bool

	// MinBackoff is the delay after the first failure of a key; it doubles with each further one in a row. 0 = 5 ms.
	MinBackoff time.Duration
	// MaxBackoff bounds the delay after a failure. 0 = 1000 s.
	MaxBackoff time.Duration
	// RetryRate is the maximum number of retries a second, for all keys together. After a quiet time, as many retries
	// as one second allows, at least one, may happen at once. It does not delay keys that a source names, or a Result.
	// 0 = no limit.
	RetryRate float64
	// Ageing is how long a ready key waits until it counts as one priority higher; it bounds how long a key of low
	// priority waits while others come. 0 = 500 ms: a key of the first list is overtaken by changes for 50 s at most.
	// See package workqueue.
	Ageing time.Duration

	// OnError, if set, is called with a *ReconcileError for every reconcile that failed or panicked, by the worker that
	// ran it, so several goroutines call it. It should return soon, and must not panic. A Conflict is retried without a
	// call, until it is the fifth failure of the key in a row. At the end, Run calls it with an error that names the
	// reconciles and sources that do not return. A *FightError reports a fight.
	//
	// If it is nil, the controller logs errors: each at once, and a repeated one at growing intervals of up to a
	// quarter of an hour, until the keys that failed succeed. It also logs the sources that the workers wait for, if
	// that takes longer than 5 s. Set a function that does nothing to silence all of that.
	OnError func(error)
	// Hooks are called on events that metrics and traces observe.
	Hooks Hooks
	// CrashOnPanic lets a panic of a reconcile or of a source end the program, instead of turning it into an error.
	CrashOnPanic bool
	// Logger receives errors if OnError is nil, and the start and the end of the work at level 1. If it is the zero
	// Logger, which logr.Discard() returns too, the controller uses the logger of Run's context (logr.NewContext), or
	// else slog.Default().
	Logger logr.Logger
}

func (o Options) workers() int { return max(1, o.Workers) }

func (o Options) validate() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"Timeout", o.Timeout},
		{"Grace", o.Grace},
		{"Drain", o.Drain},
		{"SyncTimeout", o.SyncTimeout},
		{"FreshTimeout", o.FreshTimeout},
		{"MinBackoff", o.MinBackoff},
		{"MaxBackoff", o.MaxBackoff},
		{"Ageing", o.Ageing},
	} {
		if d.value < 0 {
			return fmt.Errorf("controller.Options: %s must be 0 or more, got %v", d.name, d.value)
		}
	}
	switch {
	case o.StartAtTerm && o.Shards != nil:
		return errors.New("controller.Options: StartAtTerm and Shards exclude each other: with Shards there is no election, and so no term")
	case o.Workers < 0:
		return fmt.Errorf("controller.Options: Workers must be 0 or more, got %d", o.Workers)
	case !(o.RetryRate >= 0): // NaN too
		return fmt.Errorf("controller.Options: RetryRate must be 0 or more, got %v", o.RetryRate)
	case o.MaxBackoff > 0 && o.MinBackoff > o.MaxBackoff:
		return fmt.Errorf("controller.Options: MinBackoff must be at most MaxBackoff (%v), got %v",
			o.MaxBackoff, o.MinBackoff)
	}
	return nil
}
