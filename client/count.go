package client

import (
	"context"

	"github.com/bowline-go/bowline/client/meta"
)

// Count returns how many objects a list with the same options would have, and whether the server says so. It asks for
// one object and for its metadata only, and the server tells how many come after it (remainingItemCount). So it costs
// the same for any number of objects. The API does not promise that the number is exact.
//
// If the server's answer has all objects, such as when at most one matches, n is known. Otherwise known is false, and n
// is 0, if the server does not say how many objects come after the first, and always with a LabelSelector, a
// FieldSelector, a ShardSelector or a handle of [Resource.One]. Use [Resource.ListEach] to count the objects that a
// selector selects.
//
// Count does not use PageSize, which is 1. A ResourceVersion of "0" may make the server send every object's metadata.
func (r Resource[T]) Count(ctx context.Context, o ListOptions) (n int, known bool, err error) {
	return r.untyped.count(ctx, o)
}

func (r resource) count(ctx context.Context, o ListOptions) (n int, known bool, err error) {
	o.PageSize = 1
	m := r.metadata()
	undecoded := func(meta.Identity) (meta.Object, bool) { return nil, true }
	l, resp, err := m.begin(ctx, m.listRequest(o), o, undecoded, func(Item[meta.Object]) error {
		n++
		return nil
	})
	if err != nil {
		return 0, false, err
	}
	defer l.end()
	page, err := l.page(ctx, resp, func(string) error { return nil })
	if err != nil {
		err = l.fail(err)
	}
	if err := l.pipe.Finish(err); err != nil {
		return 0, false, err
	}
	switch rest := page.RemainingItemCount; {
	case page.Continue == "":
		return n, true, nil
	case rest == nil, *rest < 0, o.LabelSelector != "", o.FieldSelector != "", o.ShardSelector != "", r.name != "":
		return 0, false, nil // with a selector, the server's number would count objects that do not match
	default:
		return n + int(*rest), true, nil
	}
}
