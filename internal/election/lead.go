package election

import "context"

type leadKey struct{}

// Lead returns a context for the Run of a leader election. With it, the election leaves it to the caller of Run to
// report a function lead that does not return, as long as the election holds the lease. After the lease is lost, the
// election reports such a function. name describes lead in errors.
func Lead(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, leadKey{}, name)
}

// LeadOf returns the name that [Lead] has put into ctx, and false if there is none.
func LeadOf(ctx context.Context) (name string, ok bool) {
	name, ok = ctx.Value(leadKey{}).(string)
	return name, ok
}
