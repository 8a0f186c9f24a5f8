package client

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/url"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// Item is one object of a list as [Resource.Each] hands it on.
type Item[T meta.Object] struct {
	// Identity is the object's as the server sent it, whatever T keeps of it.
	Identity meta.Identity
	// Object is the decoded object, or the one that reuse returned; it is the zero T when Err is set.
	Object T
	// Reused says that Object came from reuse and was not decoded.
	Reused bool
	// Err is a *DecodeError when this one object does not fit T.
	Err error
}

// List reads every page and returns all objects, with the list's resource version. An object that does not decode fails
// the list: use [Resource.All] to go on without it.
func (r Resource[T]) List(ctx context.Context, o ListOptions) (meta.List[T], error) {
	list := meta.List[T]{Items: []T{}}
	m, err := r.Each(ctx, o, nil, func(item Item[T]) error {
		list.Items = append(list.Items, item.Object)
		return r.listRequest(o).fail(item.Err)
	})
	if err != nil {
		return meta.List[T]{}, err
	}
	list.ListMeta = m
	return list, nil
}

// All iterates over every object, page by page, while they arrive. An error is final, except a *DecodeError, which is about
// one object and comes with its zero T. Leaving the loop ends the request.
//
// The server waits for a loop that is slower than the network, but not for ever: an API server usually gives up a request
// after a minute, and the list then ends with an error. A loop that does long work for each object starts from List.
func (r Resource[T]) All(ctx context.Context, o ListOptions) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		errLeft := errors.New("loop left")
		_, err := r.Each(ctx, o, nil, func(item Item[T]) error {
			if !yield(item.Object, r.listRequest(o).fail(item.Err)) {
				return errLeft
			}
			return nil
		})
		if err != nil && err != errLeft {
			var none T
			yield(none, err)
		}
	}
}

// Each calls fn with every object, page by page, while they arrive, and returns the list's metadata. The next page is
// requested as soon as the current one has said where it starts, so it is usually there when it is wanted.
//
// Where reuse is not nil it is asked before an object is decoded, with the object's identity; if it returns true its object
// is handed on and the server's is skipped. That is how a cache relists without decoding what has not changed.
//
// An error of fn ends the list and is returned as it is. The error of a list that was cut short is never io.EOF, and the
// metadata is returned only for a list that was read to its end; its resource version is that of the first page, so that
// a watch from there misses nothing.
func (r Resource[T]) Each(
	ctx context.Context, o ListOptions, reuse func(meta.Identity) (T, bool), fn func(Item[T]) error,
) (meta.ListMeta, error) {
	l := listing[T]{r: r, q: r.listRequest(o), o: o, reuse: reuse, fn: fn}
	query, err := o.query()
	if err != nil {
		return meta.ListMeta{}, l.q.fail(&UsageError{Err: err})
	}
	fetching, cancel := context.WithCancel(ctx)
	next := l.fetch(fetching, query)
	defer func() {
		cancel()
		next.discard()
	}()
	var all meta.ListMeta
	tokens := make(map[string]bool)
	for first := true; ; first = false {
		page := next
		next = nil
		resp, err := page.wait()
		if err != nil {
			return meta.ListMeta{}, err
		}
		m, err := l.read(ctx, resp, func(token string) error {
			if tokens[token] {
				return l.q.fail(errors.New("server sent a continue token that leads back to a page that has been read"))
			}
			tokens[token] = true
			next = l.fetch(fetching, o.nextQuery(token))
			return nil
		})
		if err != nil {
			return meta.ListMeta{}, err
		}
		if first {
			all = m
		}
		if m.Continue == "" {
			m.ResourceVersion = all.ResourceVersion
			return m, nil
		}
	}
}

func (r Resource[T]) listRequest(o ListOptions) request {
	q := r.request("list", meta.Key{Namespace: o.Namespace})
	q.collection = true
	return q
}

// listing is one call of Each. Its errors are *OpErrors, except those of fn.
type listing[T meta.Object] struct {
	r     Resource[T]
	q     request
	o     ListOptions
	reuse func(meta.Identity) (T, bool)
	fn    func(Item[T]) error
}

// read hands on the objects of one page and closes it. It calls more once, with the continue token, if there is a further
// page.
func (l *listing[T]) read(ctx context.Context, resp *http.Response, more func(token string) error) (meta.ListMeta, error) {
	defer func() { _ = resp.Body.Close() }()
	list := jsonstream.NewList(resp.Body, l.r.c.streamOptions(l.o.KeepManagedFields))
	if err := list.Open(); err != nil {
		return meta.ListMeta{}, l.q.fail(readError(ctx, resp, err))
	}
	// A server writes kind and metadata before the items; where it does not, they are known at the end.
	h, known := list.Header()
	known = known && h.Kind != ""
	if known {
		if err := l.start(h, more); err != nil {
			return meta.ListMeta{}, err
		}
	}
	for {
		item, err := list.Next()
		if err == io.EOF {
			break
		}
		if err == nil && ctx.Err() != nil { // what is in the buffer is not handed on any more
			err = ctx.Err()
		}
		if err != nil {
			return meta.ListMeta{}, l.q.fail(readError(ctx, resp, err))
		}
		if err := l.fn(l.item(item)); err != nil {
			return meta.ListMeta{}, err
		}
	}
	if !known {
		h, _ = list.Header()
		if err := l.start(h, more); err != nil {
			return meta.ListMeta{}, err
		}
	}
	return h.ListMeta, nil
}

// start checks that a page is of the right kind, and asks for the next one.
func (l *listing[T]) start(h jsonstream.Header, more func(token string) error) error {
	gvk := l.r.t.GVK()
	if err := checkKind(h.APIVersion, h.Kind, gvk.APIVersion(), gvk.Kind+"List"); err != nil {
		return l.q.fail(err)
	}
	if h.Continue == "" {
		return nil
	}
	return more(h.Continue)
}

// item decodes one object, or takes it from reuse.
func (l *listing[T]) item(raw jsonstream.Item) Item[T] {
	it := Item[T]{Identity: raw.Identity}
	if raw.Name == "" {
		it.Err = &DecodeError{Identity: raw.Identity, Err: errors.New("metadata.name is empty")}
		return it
	}
	if l.reuse != nil {
		if it.Object, it.Reused = l.reuse(raw.Identity); it.Reused {
			return it
		}
	}
	it.Object, it.Err = l.r.decodeItem(raw)
	return it
}

// decodeItem decodes an object of a list, which need not say its kind; where it does, it must be the descriptor's.
func (r Resource[T]) decodeItem(raw jsonstream.Item) (T, error) {
	if raw.Kind != "" || raw.APIVersion != "" {
		if err := r.checkKind(raw.APIVersion, raw.Kind); err != nil {
			var none T
			return none, &DecodeError{Identity: raw.Identity, Err: err}
		}
	}
	return r.decodeUnchecked(raw)
}

// page is a page that has been asked for. Its goroutine waits for the headers of the answer, no longer.
type page struct {
	done chan struct{}
	resp *http.Response
	err  error
}

// fetch asks for a page. The caller waits for it or discards it.
func (l *listing[T]) fetch(ctx context.Context, query url.Values) *page {
	q := l.q
	q.query = query
	p := &page{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.resp, p.err = l.r.send(ctx, q)
	}()
	return p
}

func (p *page) wait() (*http.Response, error) {
	<-p.done
	return p.resp, p.err
}

// discard waits for the request to end, which its context must make happen, and closes what it brought.
func (p *page) discard() {
	if p == nil {
		return
	}
	if resp, err := p.wait(); err == nil {
		_ = resp.Body.Close()
	}
}
