package handle

import "sync/atomic"

// Encoding remembers the form of the latest answer, protobuf or JSON. It is safe for use by several goroutines at once.
// The zero Encoding and a nil one have no answer yet.
type Encoding struct{ last atomic.Pointer[answer] }

type answer struct{ why error }

// Set notes an answer: protobuf if why is nil, and otherwise JSON, for that reason.
func (e *Encoding) Set(why error) {
	if last := e.last.Load(); last == nil || last.why != why {
		e.last.Store(&answer{why})
	}
}

// Get returns whether the latest answer was protobuf, and the reason if it was not and should have been.
func (e *Encoding) Get() (protobuf bool, why error) {
	if e == nil {
		return false, nil
	}
	last := e.last.Load()
	if last == nil {
		return false, nil
	}
	return last.why == nil, last.why
}
