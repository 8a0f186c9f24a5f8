package informer

import (
	"github.com/bowline-go/bowline/client/meta"
)

// Shards says which ranges of objects an informer follows (Options.Shards), for replicas of a program that divide the
// objects of a resource. *shards.Group implements it, see package client/shards; [FixedShards] returns ranges that
// never change. An informer's cache, and the handlers, never see an object of another range.
//
// The informer asks the server for these ranges only (KEP-5866). A server without that feature sends all objects; the
// informer then reads only the identity of the other objects, and does not decode them. It checks the range of every
// object in any case. So a server that claims to select and does not is harmless, and is reported once in a Run.
// Status.Sharded says who selects. Scattered ranges make a request of up to 8 KB. If the server or a proxy says that it
// is too long (414 or 431), the informer asks for all objects.
//
// When the ranges change, the informer keeps the objects of ranges that stay: they are neither listed nor decoded
// again, and the watch resumes at its version. Objects of ranges that are no longer wanted leave the cache, and
// handlers receive OnDelete for each. The informer lists added ranges separately, and their objects arrive by OnAdd;
// until then it is not synced. While there are no ranges, the informer is synced, has no objects, and makes no request.
//
// A further Run lists again, because another process may have followed the ranges since.
type Shards interface {
	// By returns the field that decides the range of an object. It is always the same.
	By() meta.ShardBy
	// Follow registers an informer under a name for people, at the beginning of its Run.
	Follow(name string) Follower
}

// Follower is one informer, as [Shards] know it. The informer calls its methods without holding a lock, and one at a
// time, except that Have may be called during Wanted. The methods return soon.
type Follower = interface {
	// Wanted returns the ranges to follow, and a channel that is closed when they change.
	Wanted() (meta.Ranges, <-chan struct{})
	// Have says that the cache holds a complete list of these ranges, and no object of others, and that the informer
	// keeps it current. It is called after each change: when wanted ranges have been listed, and when objects of
	// unwanted ranges have left the cache. The ranges may differ from those that Wanted would return now.
	Have(meta.Ranges)
	// Leave says that the Run has ended: the informer no longer keeps any range current.
	Leave()
}

// FixedShards returns Shards that never change, for a program whose replicas know their ranges, for example by the
// ordinal of a StatefulSet, and for tests. Shards of equal ranges are equal; see [Share].
func FixedShards(by meta.ShardBy, ranges meta.Ranges) Shards { return fixedShards{by, ranges} }

type fixedShards struct {
	by     meta.ShardBy
	ranges meta.Ranges
}

func (f fixedShards) By() meta.ShardBy                       { return f.by }
func (f fixedShards) Follow(string) Follower                 { return f }
func (f fixedShards) Wanted() (meta.Ranges, <-chan struct{}) { return f.ranges, nil }
func (f fixedShards) Have(meta.Ranges)                       {}
func (f fixedShards) Leave()                                 {}

// Sharding says where the objects of an informer's ranges are selected.
type Sharding string

const (
	// ShardedByServer: the server selects them. It said so with the last list, or that list had objects of these ranges
	// only.
	ShardedByServer Sharding = "Server"
	// ShardedLocally: the server sends other objects too, which the informer drops.
	ShardedLocally Sharding = "Local"
)
