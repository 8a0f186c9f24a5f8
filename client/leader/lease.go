package leader

import (
	"math"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// leases are read and written whole, so that an update keeps what others have set.
var leases = client.Type[*meta.Unstructured]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"}

// record is the part of a lease's spec that an election uses. Two records are the same if they are equal: the times
// have no location, and the resolution of the wire.
type record struct {
	holder      string
	duration    time.Duration // 0 if the lease has none that can be used
	acquired    time.Time     // by the holder's clock; so is renewed
	renewed     time.Time
	transitions int64
	strategy    string
}

// is reports whether r and other were written by the same write. Somebody else may have changed the duration or the
// strategy since.
func (r record) is(other record) bool {
	return r.holder == other.holder && r.acquired.Equal(other.acquired) && r.renewed.Equal(other.renewed) && r.transitions == other.transitions
}

// recordOf reads a lease. A field that is missing, or of another type than the API's, is zero.
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

// toMicro returns t as a lease can hold it.
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

// maxTransitions is the most that the field holds.
const maxTransitions = math.MaxInt32

// nextTransitions returns the number of the term after that of r. It never goes back, because stores refuse the writes
// of lower numbers than they have seen: it stays where the field has no room for more.
func (r record) nextTransitions() int64 { return min(max(r.transitions, -1)+1, maxTransitions) }
