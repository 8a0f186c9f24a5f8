package informer

import (
	"errors"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// The status of an informer of several namespaces sums up theirs, as Status says.
func TestTheSummaryOfNamespaces(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	bad := func(namespace string) *client.DecodeError {
		return &client.DecodeError{Identity: meta.Identity{Namespace: namespace, Name: "x"}}
	}
	earlier, later := errors.New("the earlier"), errors.New("the later")
	longer, shorter := errors.New("polling for longer"), errors.New("polling for a shorter time")
	parts := map[string]Status{
		"a": {
			State: Watching, Synced: true, Mode: Streaming, Why: "one", Listed: 1, Remaining: 2,
			Err: later, Since: at(5), LastEvent: at(9), Lists: 1, Watches: 2, Events: 3,
			Relists: map[Cause]int{Expired: 1, Silent: 2}, Resets: 1, Undecodable: []*client.DecodeError{bad("z")},
			Renewed: at(6), Polling: shorter, PollingSince: at(4),
		},
		"b": {
			State: Listing, Mode: Paged, Why: "two", Listed: 10, Remaining: 20,
			Err: earlier, Since: at(3), LastEvent: at(8), Lists: 10, Watches: 20, Events: 30,
			Relists: map[Cause]int{Expired: 10}, Resets: 10, Undecodable: []*client.DecodeError{bad("b")},
			Renewed: at(1), Polling: longer, PollingSince: at(2),
		},
		"c": {State: Watching, Synced: true, Mode: Paged, Why: "two", Since: at(7), Renewed: at(5), Stale: true},
	}
	want := Status{
		State: Listing, Listed: 11, Remaining: 22,
		Err: later, Since: at(7), LastEvent: at(9), Lists: 11, Watches: 22, Events: 33,
		Relists: map[Cause]int{Expired: 11, Silent: 2}, Resets: 11, Undecodable: []*client.DecodeError{bad("b"), bad("z")},
		Stale: true, Renewed: at(5), Polling: longer, PollingSince: at(2),
		Namespaces: parts,
	}
	if got := summary(parts); !reflect.DeepEqual(got, want) {
		t.Errorf("the summary is\n%+v, want\n%+v", got, want)
	}

	// The error that is named last in the order of names is not the one that counts, and neither is the first.
	swapped := maps.Clone(parts)
	swapped["a"], swapped["b"] = parts["b"], parts["a"]
	if got := summary(swapped); !errors.Is(got.Err, later) || got.LastEvent != at(9) || got.State != Listing {
		t.Errorf("in another order the summary is %+v", got)
	}

	// The namespaces that agree are listed in one way, for one reason.
	delete(parts, "a")
	if got := summary(parts); got.Mode != Paged || got.Why != "two" || got.Synced {
		t.Errorf("the summary of those that agree is %v", got)
	}
	delete(parts, "b")
	if got := summary(parts); !got.Synced || got.State != Watching {
		t.Errorf("the summary of one is %v", got)
	}
}
