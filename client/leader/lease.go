package leader

import (
	"math"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// leases is the descriptor of leases. They are read and written whole, so that an update keeps the fields that others
// have set.
var leases = client.Type[*meta.Unstructured]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"}

// record is the part of a lease's spec that an election uses. Two records are the same if they are equal: their times
// are in UTC and truncated to microseconds, as on the wire.
type record struct {
	holder      string
	duration    time.Duration // 0 if the lease has no valid duration
	acquired    time.Time     // by the holder's clock; so is renewed
	renewed     time.Time
	transitions int64
	strategy    string
}

// is reports whether r and other come from the same write. It ignores the duration and the strategy, which somebody
// else may have changed since.
func (r record) is(other record) bool {
	return r.holder == other.holder && r.acquired.Equal(other.acquired) && r.renewed.Equal(other.renewed) && r.transitions == other.transitions
}

// recordOf returns the record in a lease. A field that is missing or has the wrong type is zero.
func recordOf(lease *meta.Unstructured) record {
	var r record
	r.holder, _, _ = meta.Nested[string](lease, "spec", "holderIdentity")
	if seconds, _, _ := meta.Nested[int64](lease, "spec", "leaseDurationSeconds"); seconds > 0 {
		r.duration = time.Duration(min(seconds, math.MaxInt32)) * time.Second
	}
	r.acquired = timeOf(lease, "acquireTime")
	r.renewed = timeOf(lease, "renewTime")
	r.transitions, _, _ = meta.Nested[int64](lease, "spec", "leaseTransitions")
	r.strategy, _, _ = meta.Nested[string](lease, "spec", "strategy")
	return r
}

func timeOf(lease *meta.Unstructured, field string) time.Time {
	t, _, _ := meta.Nested[meta.MicroTime](lease, "spec", field)
	return toMicro(t.Time)
}

// toMicro returns t in UTC, truncated to microseconds, as a lease stores it.
func toMicro(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// setIn writes r to a lease, and leaves the other fields as they are.
func (r record) setIn(lease *meta.Unstructured) error {
	for _, f := range []struct {
		name  string
		value any
	}{
		{"holderIdentity", r.holder},
		{"leaseDurationSeconds", int64(r.duration / time.Second)},
		{"acquireTime", meta.MicroTime{Time: r.acquired}},
		{"renewTime", meta.MicroTime{Time: r.renewed}},
		{"leaseTransitions", r.transitions},
	} {
		if err := meta.SetNested(lease, f.value, "spec", f.name); err != nil {
			return err
		}
	}
	return nil
}

// maxTransitions is the maximum of spec.leaseTransitions.
const maxTransitions = math.MaxInt32

// nextTransitions returns the number of the next term after r. It never decreases, because stores refuse writes with a
// lower number than they have seen; at maxTransitions it stays the same.
func (r record) nextTransitions() int64 { return min(max(r.transitions, -1)+1, maxTransitions) }
