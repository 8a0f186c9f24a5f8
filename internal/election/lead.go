package election

import "context"

type leadKey struct{}

// Lead returns a context for the Run of a leader election whose caller reports by itself if the function lead does not
// return. name describes lead in errors.
func Lead(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, leadKey{}, name)
}

// LeadOf returns the name of [Lead], and false if ctx does not come from there.
func LeadOf(ctx context.Context) (name string, ok bool) {
	name, ok = ctx.Value(leadKey{}).(string)
	return name, ok
}
