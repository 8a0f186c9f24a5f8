package meta

// Partial is an object of any kind of which only the metadata is read; client.Metadata returns it. Its kind is that of
// the object itself, not PartialObjectMetadata. *Partial is an [Object].
type Partial struct {
	TypeMeta   `json:",inline"`
	ObjectMeta `json:"metadata"`
}
