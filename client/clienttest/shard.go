package clienttest

// ShardedLists says how the server treats the shard selectors of lists and watches (KEP-5866).
type ShardedLists int

const (
	// ShardsIgnored ignores the parameter, as servers do that do not know it, and a kube-apiserver whose feature gate
	// ShardedListAndWatch is off.
	ShardsIgnored ShardedLists = iota
	// ShardsServed applies the selector, also to the initial events of a streaming list and to a deletecollection. A list of a
	// built-in kind says so in its shardInfo. As on a real server, lists of custom resources, of metadata and of Tables do not.
	ShardsServed
	// ShardsClaimed sends every object, although the shardInfo of lists says that the selector was applied.
	ShardsClaimed
)

// SetShardedLists replaces Options.ShardedLists for the requests that start from now on.
func (s *Server) SetShardedLists(m ShardedLists) { s.sharded.Store(int32(m)) }
