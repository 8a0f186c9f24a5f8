package election

import "context"

type leadKey struct{}

// Lead returns a context for the Run of a leader election. It decides who reports a function lead that does not return:
// the caller of Run while the election holds the lease, and the election after the lease is lost. name describes lead
// in errors.
func Lead(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, leadKey{}, name)
}

// LeadOf returns the name that [Lead] has put into ctx, and false if there is none.
func LeadOf(ctx context.Context) (name string, ok bool) {
	name, ok = ctx.Value(leadKey{}).(string)
	return name, ok
}
