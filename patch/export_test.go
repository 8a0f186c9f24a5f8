package patch

import "github.com/bowline-go/bowline/internal/patch/strategic"

// Tests look at what programs need not: the parts of errors, and how a schema changes a member.

type (
	OpError        = opError
	StrategicError = strategic.Error
)

var (
	ErrMergeKey     = strategic.ErrMergeKey
	ErrDirective    = strategic.ErrDirective
	ErrElementOrder = strategic.ErrElementOrder
	ErrMergedList   = strategic.ErrMergedList
	ErrRetainKeys   = strategic.ErrRetainKeys
)

type Strategy struct {
	Merge, Replace, RetainKeys bool
	MergeKey                   string
}

func (s Schema) Strategy(path ...string) (Strategy, bool) {
	f, ok := s.root.At(path)
	return Strategy{f.Merge, f.Replace, f.Retain, f.MergeKey}, ok
}
