package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/pipeline"
)

// Item is one object of a list as [Resource.ListEach] hands it on.
type Item[T meta.Object] struct {
	// Identity is the object's as the server sent it, whatever T keeps of it.
	Identity meta.Identity
	// Object is the decoded object, or the one that reuse returned; it is the zero T when Err is set.
	Object T
	// Reused says that Object came from reuse and was not decoded.
	Reused bool
	// Err is a *DecodeError when this one object does not fit T or exceeds a limit of the client's; of the latter Identity has
	// what could be read.
	Err error
}

// List reads every page and returns all objects, with the list's resource version. An object that does not decode fails
// the list: use [Resource.All] to go on without it.
func (r Resource[T]) List(ctx context.Context, o ListOptions) (meta.List[T], error) {
	list := meta.List[T]{Items: []T{}}
	m, err := r.each(ctx, r.listRequest(o), o, nil, func(item Item[T]) error {
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
		_, err := r.each(ctx, r.listRequest(o), o, nil, func(item Item[T]) error {
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

// ListEach calls fn with every object, page by page, while they arrive, and returns the list's metadata. The next page is
// requested as soon as the current one has said where it starts, so it is usually there when it is wanted.
//
// Where reuse is not nil it is asked before an object is decoded, with the object's identity; if it returns true its object
// is handed on and the server's is skipped. That is how a cache relists without decoding what has not changed.
//
// reuse and fn are called by the calling goroutine, each with the objects in the server's order; reuse may be some hundred
// objects ahead of fn. What is longer than a few objects is decoded by further goroutines too, of which all lists and watches
// of a client share four, or GOMAXPROCS if that is less. So a method of T that decodes, such as UnmarshalJSON, must be safe
// to be called for several objects at once. If it panics, that is the object's *DecodeError, which says where, and not with
// what value. When ListEach returns, however it does, nothing of it runs any more.
//
// At most about 2 MiB of JSON are held at a time, or one object where that is larger; Config.MaxObject bounds the object.
// Nothing bounds the number of objects: a page is never held as a whole, so a server that sends everything at once, which
// it may do whatever PageSize says, costs no more than one that sends pages.
//
// A server that goes on with continue tokens, but not with objects, ends the list with an error: when a token comes again, or
// when 100 pages in a row are empty or begin with an object that an earlier page began with.
//
// An error of fn ends the list and is returned as it is. The error of a list that was cut short is never io.EOF, and the
// objects before it have been handed on by then; on a later page than the first it is a *PageError. The metadata is returned
// only for a list that was read to its end; its resource version is that of the first page, so that a watch from there
// misses nothing.
//
// Each page is asked for once: Config.Retry does not apply, because a caller of ListEach usually recovers by itself. [Resource.List]
// and [Resource.All] ask again.
func (r Resource[T]) ListEach(
	ctx context.Context, o ListOptions, reuse func(meta.Identity) (T, bool), fn func(Item[T]) error,
) (meta.ListMeta, error) {
	q := r.listRequest(o)
	q.once = true
	return r.each(ctx, q, o, reuse, fn)
}

func (r Resource[T]) each(
	ctx context.Context, q request, o ListOptions, reuse func(meta.Identity) (T, bool), fn func(Item[T]) error,
) (meta.ListMeta, error) {
	if err := o.validate(); err != nil {
		return meta.ListMeta{}, q.fail(&UsageError{Err: err})
	}
	l := &listing[T]{r: r, q: q, o: o, reuse: reuse, number: 1, pages: pipeline.NewPages()}
	fetching, cancel := context.WithCancel(ctx)
	l.cancel = cancel
	defer l.end()
	l.q.query = o.query()
	resp, err := r.send(fetching, l.q)
	if o.isFloor() && isTooOld(err) {
		// The API concepts leave this to the client: the server took the least version for the exact one.
		l.q.query = o.pageQuery()
		resp, err = r.send(fetching, l.q)
	}
	if err != nil {
		return meta.ListMeta{}, err
	}
	l.pipe = pipeline.New(&r.c.decoders, l.decode, func(item Item[T]) error {
		if ctx.Err() != nil { // what has been read already is not handed on any more
			return l.fail(conn.ContextError(ctx))
		}
		return fn(item)
	})
	var version string
	for ; ; l.number++ {
		m, err := l.page(ctx, resp, func(token string) error {
			if err := l.pages.Follow(token); err != nil {
				return err
			}
			l.next = l.fetch(fetching, o.nextQuery(token))
			return nil
		})
		if err != nil {
			return meta.ListMeta{}, l.pipe.Finish(l.fail(err))
		}
		if l.number == 1 {
			version = m.ResourceVersion
		}
		if m.Continue == "" {
			m.ResourceVersion = version
			if err := l.pipe.Finish(nil); err != nil {
				return meta.ListMeta{}, err
			}
			return m, nil
		}
		if err := l.pipe.Until(l.next.done); err != nil {
			return meta.ListMeta{}, err
		}
		next := l.next
		l.next = nil
		if resp, err = next.resp, next.err; err != nil {
			l.number++
			if op := (*OpError)(nil); errors.As(err, &op) {
				err = op.Err // fail puts the page between the two
			}
			return meta.ListMeta{}, l.pipe.Finish(l.fail(err))
		}
	}
}

// isTooOld reports whether a server no longer has the version that it was asked for.
func isTooOld(err error) bool {
	return errors.Is(err, apierrors.Expired) || errors.Is(err, apierrors.Gone)
}

func (r Resource[T]) listRequest(o ListOptions) request {
	q := r.request("list", meta.Key{Namespace: o.Namespace})
	q.collection = true
	return q
}

// listing is one call of ListEach. The calling goroutine frames, asks reuse and calls fn. Once a list turns out to be long, the
// body is read by one further goroutine, and objects are decoded by a few (see package pipeline); one more waits for the headers of
// the next page. end waits for all of them.
type listing[T meta.Object] struct {
	r      Resource[T]
	q      request
	o      ListOptions
	reuse  func(meta.Identity) (T, bool)
	pipe   *pipeline.Pipeline[Item[T]]
	cancel func()        // ends the requests
	body   io.ReadCloser // of the page that is being read
	number int           // of the page, from 1
	first  meta.Key      // of the page's objects
	empty  bool          // the page has had none so far
	next   *nextPage     // the page that has been asked for
	pages  *pipeline.Pages
}

// fail returns err as the error of the list, or of the page where that is a later one.
func (l *listing[T]) fail(err error) error {
	if l.number > 1 {
		err = &PageError{Page: l.number, Err: err}
	}
	return l.q.fail(err)
}

// end stops everything that was started for the list, and waits for it. The order matters: a read
// that is waiting ends when its context does, or its body is closed.
func (l *listing[T]) end() {
	l.cancel()
	if l.body != nil {
		_ = l.body.Close()
	}
	if l.pipe != nil {
		l.pipe.Stop()
	}
	l.next.discard()
}

// page sends the objects of one page down the pipeline. It calls more once, with the continue token, if there is a further
// page.
func (l *listing[T]) page(ctx context.Context, resp *http.Response, more func(token string) error) (meta.ListMeta, error) {
	l.body, l.first, l.empty = resp.Body, meta.Key{}, true
	var m meta.ListMeta
	err := l.pipe.Page(l.body, l.r.c.streamOptions(l.o.KeepManagedFields), pipeline.Page[Item[T]]{
		Header: func(h jsonstream.Header) error {
			m = h.ListMeta
			return l.start(h, more)
		},
		Item:   l.item,
		Broken: func(err error) error { return readError(ctx, resp, err) },
	})
	if err != nil {
		return meta.ListMeta{}, err
	}
	l.body = nil
	_ = resp.Body.Close()
	if m.Continue != "" {
		if err := l.pages.End(l.first, l.empty); err != nil {
			return meta.ListMeta{}, err
		}
	}
	return m, nil
}

// start checks that a page is of the right kind, and asks for the next one.
func (l *listing[T]) start(h jsonstream.Header, more func(token string) error) error {
	apiVersion, kind := l.r.wireKind()
	if l.r.partial {
		kind += "List"
	} else {
		kind = l.r.t.listKind()
	}
	if err := checkKind(h.APIVersion, h.Kind, apiVersion, kind); err != nil {
		return err
	}
	if l.number == 1 {
		if err := l.o.checkVersion(h.ResourceVersion); err != nil {
			return err
		}
	}
	if l.o.OnPage != nil {
		l.o.OnPage(h.ListMeta)
	}
	if h.Continue == "" {
		return nil
	}
	return more(h.Continue)
}

// item makes an Item of one object, and says whether it is to be decoded yet.
func (l *listing[T]) item(raw jsonstream.Item) (it Item[T], decode bool, err error) {
	if l.empty {
		l.first, l.empty = raw.Identity.Key(), false
	}
	it.Identity = raw.Identity
	switch {
	case raw.Limit != nil:
		it.Err = &DecodeError{Identity: raw.Identity, Err: publicError(raw.Limit)}
		return it, false, nil
	case raw.Name == "":
		it.Err = &DecodeError{Identity: raw.Identity, Err: lacks(raw.Raw, "name")}
		return it, false, nil
	}
	if l.reuse != nil {
		it.Object, it.Reused = l.reuse(raw.Identity)
	}
	return it, !it.Reused, nil
}

func (l *listing[T]) decode(it *Item[T], raw jsonstream.Item) {
	decodeInto(&it.Object, &it.Err, raw, l.r.decodeItem)
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

// nextPage is a page that has been asked for. Its goroutine waits for the headers of the answer, no longer.
type nextPage struct {
	done chan struct{}
	resp *http.Response
	err  error
}

// fetch asks for a page. The caller waits for it or discards it.
func (l *listing[T]) fetch(ctx context.Context, query url.Values) *nextPage {
	q := l.q
	q.query = query
	p := &nextPage{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.resp, p.err = l.r.send(ctx, q)
	}()
	return p
}

// discard waits for the request to end, which its context must make happen, and closes what it brought.
func (p *nextPage) discard() {
	if p == nil {
		return
	}
	if <-p.done; p.err == nil {
		_ = p.resp.Body.Close()
	}
}

// DefaultPageSize is how many objects a page of a list has when ListOptions.PageSize is 0.
const DefaultPageSize = 500

// ListOptions choose what a list returns. The zero value lists every object of the resource, in all namespaces, as the
// server has it now.
type ListOptions struct {
	// Namespace limits the list to one namespace; empty means all of them.
	Namespace string
	// LabelSelector and FieldSelector are the API's selectors, such as "app=web,tier!=cache"; empty selects everything.
	LabelSelector string
	FieldSelector string
	// PageSize is how many objects the server is asked for at a time, the API's limit; 0 means DefaultPageSize, and a
	// negative number asks for everything in one answer. Every call reads all pages, whatever the size.
	PageSize int
	// ResourceVersion and ResourceVersionMatch relax how fresh the list must be, as "Resource versions" in the Kubernetes API
	// concepts has it. Empty means what the server has now, and "0" whatever it has at hand, however old. Any other version
	// is one that a server has sent, and ResourceVersionMatch says how it is meant; empty means NotOlderThan, which is then
	// sent, because servers otherwise take the same version for the one or the other, depending on the limit.
	ResourceVersion      string
	ResourceVersionMatch ResourceVersionMatch
	// KeepManagedFields leaves metadata.managedFields in the objects. By default it is cut before they are decoded.
	KeepManagedFields bool
	// OnPage, where it is set, is called with the metadata of each page as soon as it is known, before the page's objects if
	// the server sends it before them. Its RemainingItemCount says how many objects there are after the page, where the
	// server knows. It is called by the goroutine that lists.
	OnPage func(meta.ListMeta)
}

// ResourceVersionMatch says how ListOptions.ResourceVersion is meant.
type ResourceVersionMatch string

const (
	// NotOlderThan asks for data at least as new as the version. A server older than 1.19 takes it for Exact where the list
	// has pages; if it then says that the version is too old (410), the list is asked for as the server has it now, which is
	// not older either.
	NotOlderThan ResourceVersionMatch = "NotOlderThan"
	// Exact asks for the data at exactly the version, and gets an [*AnswerError] of reason [WrongVersion] from a server that sends another one, as
	// those before 1.19 do where the list has no pages. One that has been forgotten meanwhile is an Expired error (410).
	Exact ResourceVersionMatch = "Exact"
)

// match returns what is sent as resourceVersionMatch.
func (o ListOptions) match() ResourceVersionMatch {
	if o.ResourceVersionMatch == "" && o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return NotOlderThan
	}
	return o.ResourceVersionMatch
}

// checkVersion returns an error if a list came at another version than the one that it had to come at.
func (o ListOptions) checkVersion(version string) error {
	if o.ResourceVersionMatch == Exact && version != o.ResourceVersion {
		return &AnswerError{Reason: WrongVersion, Got: version, Want: o.ResourceVersion}
	}
	return nil
}

// isFloor reports whether the version is the least that the list may have, so that the present one will do as well.
func (o ListOptions) isFloor() bool { return o.ResourceVersion != "" && o.match() == NotOlderThan }

func (o ListOptions) validate() error {
	switch {
	case o.ResourceVersionMatch == "":
	case o.ResourceVersionMatch != NotOlderThan && o.ResourceVersionMatch != Exact:
		return fmt.Errorf("client.ListOptions: ResourceVersionMatch must be NotOlderThan, Exact or empty, got %q", o.ResourceVersionMatch)
	case o.ResourceVersion == "":
		return fmt.Errorf("client.ListOptions: ResourceVersion must be set where ResourceVersionMatch is %s", o.ResourceVersionMatch)
	case o.ResourceVersionMatch == Exact && o.ResourceVersion == "0":
		return errors.New(`client.ListOptions: ResourceVersion must be a version that a server has sent where ResourceVersionMatch is Exact, got "0"`)
	}
	return nil
}

// query returns the parameters of the first page.
func (o ListOptions) query() url.Values {
	q := o.pageQuery()
	set(q, "resourceVersion", o.ResourceVersion)
	set(q, "resourceVersionMatch", string(o.match()))
	return q
}

// pageQuery returns what every page's request carries.
func (o ListOptions) pageQuery() url.Values {
	q := url.Values{}
	set(q, "labelSelector", o.LabelSelector)
	set(q, "fieldSelector", o.FieldSelector)
	switch {
	case o.PageSize == 0:
		q.Set("limit", strconv.Itoa(DefaultPageSize))
	case o.PageSize > 0:
		q.Set("limit", strconv.Itoa(o.PageSize))
	}
	return q
}

// nextQuery returns the parameters of the page that a continue token leads to. The server refuses a resource version there:
// the token holds it. Selectors go along.
func (o ListOptions) nextQuery(token string) url.Values {
	q := o.pageQuery()
	q.Set("continue", token)
	return q
}

func set(q url.Values, key, value string) {
	if value != "" {
		q.Set(key, value)
	}
}
