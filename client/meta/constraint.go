package meta

// The constraints of functions that take objects of any Go type. Structs that embed ObjectMeta satisfy them,
// Unstructured does, and so do the types of k8s.io/api, whose methods have types of their own.

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

// Deletable are objects that know when their deletion began.
type Deletable[D Timestamp] interface {
	Object
	GetDeletionTimestamp() D
}

// Timestamp is a pointer to a time, such as *Time. Nil is the zero time.
type Timestamp interface {
	comparable
	IsZero() bool
}
