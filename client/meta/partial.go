package meta

// Partial is an object of which only the metadata is known, whatever its kind: what client.Metadata reads. It says the kind
// of the object itself, not that it is partial. *Partial is an [Object].
type Partial struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
}
