package recorder

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// nameSource makes names of records. They sort by time for each object, which is the order in which kubectl lists them.
// Within a recorder no two names are the same, because their times differ. Names of two recorders about one object
// differ in their random ends, even if the times are equal; two recorders are unlikely to have the same end.
type nameSource struct {
	last int64
	end  uint16
}

func newNameSource() nameSource { return nameSource{end: uint16(rand.Uint32())} }

// next returns the stamp of the next name.
func (n *nameSource) next(now time.Time) (stamp int64) {
	n.last = max(n.last+1, now.UnixNano())
	return n.last
}

// name returns the name of a record about an object. stamp comes from next.
func (n *nameSource) name(stamp int64, about Reference) string {
	const most, suffix = 253, 1 + 16 + 4
	name := about.Identity.Name
	for _, name = range []string{name, strings.ToLower(about.GVK.Kind), "record"} {
		if len(name) <= most-suffix && isSubdomain(name) {
			break
		}
	}
	return fmt.Sprintf("%s.%016x%04x", name, stamp, n.end)
}

// isSubdomain reports whether a name is a DNS subdomain, as the names of records must be.
func isSubdomain(name string) bool { return meta.ValidLabelKey(name+"/a") == nil }
