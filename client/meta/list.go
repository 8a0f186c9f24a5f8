package meta

// ListMeta is the metadata of a list. Its resource version is that of the whole collection: a watch can start there.
type ListMeta struct {
	ResourceVersion    string `json:"resourceVersion,omitempty"`
	Continue           string `json:"continue,omitempty"`
	RemainingItemCount *int64 `json:"remainingItemCount,omitempty"`
	// ShardInfo is the zero value unless the server says that it applied a shard selector (KEP-5866).
	ShardInfo ShardInfo `json:"shardInfo,omitzero"`
}

// ShardInfo says that a list has only a part of the objects that the request's other options select: one shard.
type ShardInfo struct {
	// Selector is the shard selector that the server applied, in the server's form: its terms are joined by " || ".
	Selector string `json:"selector"`
}

// List is a list of objects with its metadata.
type List[T any] struct {
	ListMeta `json:"metadata"`
	Items    []T `json:"items"`
}
