package meta

// The constraints of functions that take objects of any Go type. Structs that embed ObjectMeta satisfy them, and so do
// Unstructured and the types of k8s.io/api, whose methods use the types of k8s.io/apimachinery.

// Identified are objects with a uid.
type Identified[U ~string] interface {
	Object
	GetUID() U
}

// Owned are objects with owner references.
type Owned[R any] interface {
	Object
	GetOwnerReferences() []R
}

// Ownable are objects whose owner references can be set.
type Ownable[R any] interface {
	Owned[R]
	SetOwnerReferences(owners []R)
}

// Deletable are objects with a deletion timestamp.
type Deletable[D Timestamp] interface {
	Object
	GetDeletionTimestamp() D
}

// Timestamp is a pointer to a time, such as *Time. Nil is the zero time.
type Timestamp interface {
	comparable
	IsZero() bool
}
