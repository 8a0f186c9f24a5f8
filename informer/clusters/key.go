package clusters

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
)

// Key names an object of a cluster. It is comparable.
type Key struct {
	// Cluster is the name with which the cluster was added.
	Cluster string
	// Key is the key within that cluster.
	meta.Key
}

// GetNamespace returns the namespace. Options.Shards by namespace ask for it.
func (k Key) GetNamespace() string { return k.Namespace }

// String returns "cluster:namespace/name", or "cluster:name" for an object without a namespace. It is for people:
// nothing in this module parses it.
func (k Key) String() string { return k.Cluster + ":" + k.Key.String() }

// Compare orders keys by cluster, then by namespace, then by name, for slices.SortFunc.
func (k Key) Compare(other Key) int {
	return cmp.Or(strings.Compare(k.Cluster, other.Cluster), k.Key.Compare(other.Key))
}

// shown returns the name of a cluster for errors and the status: as it is, or quoted if it has characters that a line
// must not have.
func shown(cluster string) string {
	if quoted := strconv.Quote(cluster); quoted != `"`+cluster+`"` {
		return quoted
	}
	return cluster
}

// In returns a source that names the keys of s as keys of a cluster; see controller.MapKeys. [Controller.Add] does that
// with the sources of a cluster. In is for a controller.Controller[Key], or for the sources of [New].
func In(cluster string, s controller.Source[meta.Key]) controller.Source[Key] {
	return controller.MapKeys(shown(cluster), s,
		func(k meta.Key) Key { return Key{Cluster: cluster, Key: k} },
		func(k Key) (meta.Key, bool) { return k.Key, k.Cluster == cluster })
}
