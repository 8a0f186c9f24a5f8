package handle

import "sync/atomic"

// Encoding remembers whether the latest answer was protobuf or JSON. It is safe for use by several goroutines at once.
// A zero or nil Encoding remembers no answer.
type Encoding struct{ last atomic.Pointer[answer] }

type answer struct{ why error }

// Set notes an answer. It was protobuf if why is nil; otherwise it was JSON, and why is the reason.
func (e *Encoding) Set(why error) {
	if last := e.last.Load(); last == nil || last.why != why {
		e.last.Store(&answer{why})
	}
}

// Get returns whether the latest answer was protobuf, and if it was JSON, the reason.
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
