package meta

// ListMeta is the metadata of a list. Its resource version is that of the whole collection: a watch can start there.
type ListMeta struct {
	ResourceVersion    string `json:"resourceVersion,omitempty"`
	Continue           string `json:"continue,omitempty"`
	RemainingItemCount *int64 `json:"remainingItemCount,omitempty"`
}

// List is a list of objects with its metadata.
type List[T any] struct {
	ListMeta `json:"metadata"`
	Items    []T `json:"items"`
}
