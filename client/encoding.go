package client

import "errors"

var errNoProtobuf = errors.New("Config.Protobuf is not set")

// Protobuf reports whether the latest list or watch of the resource, by any handle of the client with the same Go type,
// came as protobuf. If it did not, or if there has been none, why is the reason why lists and watches come as JSON. why
// is nil if the next list will ask for protobuf. A Go type that protobuf cannot be decoded into, because of its Go
// fields or because no table has its kind, is such a reason.
func (r Resource[T]) Protobuf() (used bool, why error) {
	return r.untyped.isProtobuf()
}

// isProtobuf is Resource.Protobuf.
func (r resource) isProtobuf() (used bool, why error) {
	if err := r.usable(); err != nil {
		return false, &UsageError{Err: err}
	}
	b := r.binary()
	if b == nil {
		return false, errNoProtobuf
	}
	if used, why = b.used.Get(); used || why != nil {
		return used, why
	}
	_, why = r.decoder()
	return false, why
}
