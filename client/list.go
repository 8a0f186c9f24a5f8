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

// Item is one object of a list that [Resource.ListEach] hands on.
type Item[T meta.Object] struct {
	// Identity is the object's identity as the server sent it, whatever T keeps of it.
	Identity meta.Identity
	// Object is the decoded object, or the one that reuse returned; it is the zero T when Err is set.
	Object T
	// Reused says that Object came from reuse and was not decoded.
	Reused bool
	// Err is a *DecodeError when this one object does not fit T or exceeds a limit of the client's. If it exceeds a
	// limit, Identity has the fields that could be read.
	Err error

	carried
}

// List reads every page and returns all objects, with the list's resource version. An object that does not decode fails
// the list. [Resource.All] can go on without that object.
func (r Resource[T]) List(ctx context.Context, o ListOptions) (meta.List[T], error) {
	list := meta.List[T]{Items: []T{}}
	m, err := r.untyped.all(ctx, o, func(obj meta.Object, err error) error {
		object, err := typed[T](obj, err)
		list.Items = append(list.Items, object)
		return err
	})
	if err != nil {
		return meta.List[T]{}, err
	}
	list.ListMeta = m
	return list, nil
}

// All iterates over every object, page by page, as they arrive. An error is final, except a *DecodeError, which is
// about one object and comes with its zero T. Leaving the loop ends the request.
//
// The server waits for a loop that is slower than the network, but not forever: an API server usually gives up on a
// request after a minute, and the list then ends with an error. If a loop does long work for each object, use List
// first.
func (r Resource[T]) All(ctx context.Context, o ListOptions) iter.Seq2[T, error] {
	objects := r.untyped.iterate(ctx, o)
	return func(yield func(T, error) bool) {
		objects(func(obj meta.Object, err error) bool { return yield(typed[T](obj, err)) })
	}
}

func (r resource) iterate(ctx context.Context, o ListOptions) iter.Seq2[meta.Object, error] {
	return sequence(func(hand func(meta.Object, error) error) error {
		_, err := r.all(ctx, o, hand)
		return err
	})
}

// all calls hand with every object of a list, and with the error about that object.
func (r resource) all(ctx context.Context, o ListOptions, hand func(meta.Object, error) error) (meta.ListMeta, error) {
	return r.each(ctx, r.listRequest(o), o, nil, func(item Item[meta.Object]) error {
		return hand(item.Object, r.listRequest(o).fail(item.Err))
	})
}

// sequence iterates over the values that the function each passes to hand, with the error about each value. The error
// that each returns comes last. If the loop is left, hand returns an error, so that each returns.
func sequence[E any](each func(hand func(E, error) error) error) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		errLeft := errors.New("loop left")
		err := each(func(e E, err error) error {
			if !yield(e, err) {
				return errLeft
			}
			return nil
		})
		if err != nil && err != errLeft {
			var none E
			yield(none, err)
		}
	}
}

// ListEach calls fn with every object, page by page, as they arrive, and returns the list's metadata. It requests the
// next page as soon as the current one has said where the next one starts, so the next page has usually arrived when it
// is needed.
//
// If reuse is not nil, ListEach calls it with the identity of each object before it decodes the object. If reuse
// returns true, ListEach hands on the object that reuse returned and skips the server's. So a cache can relist without
// decoding unchanged objects.
//
// The calling goroutine calls reuse and fn, each with the objects in the server's order; reuse may be some hundred
// objects ahead of fn. If the list is longer than a few objects, further goroutines decode too. All lists and watches
// of a client share four of them, or GOMAXPROCS if that is less. So a method of T that decodes, such as UnmarshalJSON,
// must be safe for concurrent calls on several objects. A panic in it becomes the object's *DecodeError, which says
// where it happened, but not the panic value. When ListEach returns, for whatever reason, none of its goroutines is
// running.
//
// ListEach holds at most about 2 MiB of JSON at a time, or one object if that is larger; Config.MaxObject bounds the
// object. The number of objects is not bounded. ListEach never holds a whole page: a server may send everything at
// once, whatever PageSize says, and that costs no more than pages do.
//
// A server that sends further continue tokens but no further objects ends the list with an error: when a token is
// repeated, or when 100 pages in a row are empty or begin with an object that an earlier page began with.
//
// An error of fn ends the list, and ListEach returns it unchanged. The error of a list that was cut short is never
// io.EOF, and the objects before it have been handed on. If the error is about a later page than the first, it has
// OpError.Page. ListEach returns the metadata only after it has read the list to its end. The metadata's resource
// version is that of the first page, so a watch from there misses nothing. Its ShardInfo is empty unless all pages have
// the same.
//
// ListEach asks for each page once: Config.Retry does not apply, because its callers usually recover by themselves.
// [Resource.List] and [Resource.All] retry.
func (r Resource[T]) ListEach(
	ctx context.Context, o ListOptions, reuse func(meta.Identity) (T, bool), fn func(Item[T]) error,
) (meta.ListMeta, error) {
	q := r.untyped.listRequest(o)
	q.once = true
	return r.untyped.each(ctx, q, o, untypedReuse(reuse), func(i Item[meta.Object]) error {
		obj, _ := i.Object.(T)
		return fn(Item[T]{Identity: i.Identity, Object: obj, Reused: i.Reused, Err: i.Err, carried: i.carried})
	})
}

// untypedReuse returns reuse, or nil for nil.
func untypedReuse[T meta.Object](reuse func(meta.Identity) (T, bool)) func(meta.Identity) (meta.Object, bool) {
	if reuse == nil {
		return nil
	}
	return func(id meta.Identity) (meta.Object, bool) { return reuse(id) }
}

func (r resource) each(
	ctx context.Context, q request, o ListOptions, reuse func(meta.Identity) (meta.Object, bool), fn func(Item[meta.Object]) error,
) (meta.ListMeta, error) {
	l, resp, err := r.begin(ctx, q, o, reuse, fn)
	if err != nil {
		return meta.ListMeta{}, err
	}
	defer l.end()
	var version string
	var shard meta.ShardInfo
	for ; ; l.number++ {
		m, err := l.page(ctx, resp, func(token string) error {
			if err := l.pages.Follow(token); err != nil {
				return err
			}
			l.next = l.fetch(o.nextQuery(token))
			return nil
		})
		if err != nil {
			return meta.ListMeta{}, l.pipe.Finish(l.fail(err))
		}
		if l.number == 1 {
			version, shard = m.ResourceVersion, m.ShardInfo
		} else if m.ShardInfo != shard {
			shard = meta.ShardInfo{} // replicas may differ in what they support
		}
		if m.Continue == "" {
			m.ResourceVersion, m.ShardInfo = version, shard
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
			return meta.ListMeta{}, l.pipe.Finish(l.fail(err))
		}
	}
}

// isTooOld reports whether a server no longer has the version that it was asked for.
func isTooOld(err error) bool {
	return errors.Is(err, apierrors.Expired) || errors.Is(err, apierrors.Gone)
}

func (r resource) listRequest(o ListOptions) request {
	q := r.request("list", meta.Key{Namespace: o.Namespace})
	q.collection, q.keeps = true, o.KeepManagedFields
	return q
}

// listing is one call of ListEach. The calling goroutine splits the body into objects, and calls reuse and fn. Once a
// list turns out to be long, one further goroutine reads the body and a few decode objects (see package pipeline); one
// more waits for the headers of the next page. end waits for all of them.
type listing struct {
	r        resource
	q        request
	o        ListOptions
	reuse    func(meta.Identity) (meta.Object, bool)
	pipe     *pipeline.Pipeline[Item[meta.Object]]
	fetching context.Context // the context of the requests
	cancel   func()          // ends the requests
	body     io.ReadCloser   // the body of the page that is being read
	number   int             // the number of that page, from 1
	first    meta.Key        // the key of the page's first object
	empty    bool            // no object of the page has arrived yet
	next     *nextPage       // the page that has been asked for
	pages    *pipeline.Pages
	frames   listFrames
}

// fail returns err as the error of the list. If the current page is not the first, the error names the page.
func (l *listing) fail(err error) error { return l.q.failPage(l.number, err) }

// begin asks for the first page, and hands its objects to fn once they are read. The caller ends the listing.
func (r resource) begin(
	ctx context.Context, q request, o ListOptions, reuse func(meta.Identity) (meta.Object, bool), fn func(Item[meta.Object]) error,
) (*listing, *http.Response, error) {
	if err := o.validate(); err != nil {
		return nil, nil, q.fail(&UsageError{Err: err})
	}
	l := &listing{r: r, q: q, o: o, reuse: reuse, number: 1, pages: pipeline.NewPages()}
	l.fetching, l.cancel = context.WithCancel(ctx)
	l.q.query = o.query()
	resp, err := r.sendForBody(l.fetching, l.q)
	if o.isFloor() && isTooOld(err) {
		// The server treated the minimum version as the exact one. The API concepts leave the next step to the client:
		// here a list of the present version.
		l.q.query = o.pageQuery()
		resp, err = r.sendForBody(l.fetching, l.q)
	}
	if err != nil {
		l.cancel()
		return nil, nil, err
	}
	l.pipe = pipeline.New(&r.c.decoders, l.decode, func(item Item[meta.Object]) error {
		if ctx.Err() != nil { // nothing is handed on after ctx has ended
			return l.fail(conn.ContextError(ctx))
		}
		return fn(item)
	})
	return l, resp, nil
}

// end stops everything that was started for the list, and waits for it. The order matters: a blocked read ends when its
// context ends or its body is closed.
func (l *listing) end() {
	l.cancel()
	if l.body != nil {
		_ = l.body.Close()
	}
	l.pipe.Stop()
	l.next.discard()
}

// page sends the objects of one page down the pipeline. It calls more once, with the continue token, if there is
// another page.
func (l *listing) page(ctx context.Context, resp *http.Response, more func(token string) error) (meta.ListMeta, error) {
	l.body, l.first, l.empty = resp.Body, meta.Key{}, true
	var m meta.ListMeta
	frames := l.frames.of(l.r.c.protobuf, resp, l.r.c.streamOptions(l.o.KeepManagedFields))
	err := l.pipe.Page(l.body, frames, pipeline.Page[Item[meta.Object]]{
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
func (l *listing) start(h jsonstream.Header, more func(token string) error) error {
	apiVersion, kind := l.r.wireKind()
	if l.r.partial {
		kind += "List"
	} else {
		kind = listKind(l.r.t)
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

// item makes an Item from one object, and reports whether the object must still be decoded.
func (l *listing) item(raw jsonstream.Item) (it Item[meta.Object], decode bool, err error) {
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

func (l *listing) decode(it *Item[meta.Object], raw jsonstream.Item) {
	decodeInto(&it.Object, &it.Err, raw, l.r.decodeItem)
	if it.Err == nil {
		it.carried = l.r.carry(raw)
	}
}

// decodeItem decodes an object of a list. The object may leave out its kind; if it has one, it must be the
// descriptor's.
func (r *resource) decodeItem(raw jsonstream.Item) (meta.Object, error) {
	if raw.Kind != "" || raw.APIVersion != "" {
		if err := r.checkKind(raw.APIVersion, raw.Kind); err != nil {
			return nil, &DecodeError{Identity: raw.Identity, Err: err}
		}
	}
	return r.decodeUnchecked(raw)
}

// nextPage is a page that has been asked for. Its goroutine waits only for the headers of the answer.
type nextPage struct {
	done chan struct{}
	resp *http.Response
	err  error
}

// fetch asks for a page. The caller waits for it or discards it.
func (l *listing) fetch(query url.Values) *nextPage {
	q := l.q
	q.query = query
	p := &nextPage{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.resp, p.err = l.r.sendForBody(l.fetching, q)
	}()
	return p
}

// discard waits for the request to end, which requires that its context ends, and closes the body of the answer.
func (p *nextPage) discard() {
	if p == nil {
		return
	}
	if <-p.done; p.err == nil {
		_ = p.resp.Body.Close()
	}
}

// defaultPageSize is the number of objects in a page of a list when ListOptions.PageSize is 0.
const defaultPageSize = 500

// ListOptions choose what a list returns. The zero value lists every object of the resource, in all namespaces, as the
// server has it now.
type ListOptions struct {
	// Namespace limits the list to one namespace; empty means all of them.
	Namespace string
	// LabelSelector and FieldSelector are the API's selectors, such as "app=web,tier!=cache"; empty selects everything.
	LabelSelector string
	FieldSelector string
	// ShardSelector lists only the objects with a hash in some ranges (KEP-5866); [meta.ShardBy.Selector] returns it.
	// Empty lists all of them. Every page's request has it.
	//
	// A server without the feature, which is alpha in Kubernetes 1.36 and 1.37 (feature gate ShardedListAndWatch),
	// ignores it and lists every object. ShardInfo of the list's metadata says that the server applied it. If ShardInfo
	// is empty, the server may have applied it or not: Kubernetes leaves it out of lists of custom resources, of
	// metadata alone and of Tables. So a caller that must not receive other objects checks each object against the
	// range; see [meta.ShardBy.Range].
	//
	// A server that applies selectors answers a malformed one with InternalError (500).
	ShardSelector string
	// PageSize is the number of objects to ask the server for at a time, the API's limit; 0 means 500, and a negative
	// number asks for everything in one answer. Every call reads all pages, whatever the size.
	PageSize int
	// ResourceVersion and ResourceVersionMatch relax how fresh the list must be; see "Resource versions" in the
	// Kubernetes API concepts. An empty ResourceVersion means the server's present state, and "0" means any state that
	// the server has at hand, however old. Any other value is a version that a server has sent, and
	// ResourceVersionMatch says how to match it. An empty ResourceVersionMatch then means NotOlderThan, and the client
	// sends that, because servers otherwise treat the same version differently, depending on the limit.
	ResourceVersion      string
	ResourceVersionMatch ResourceVersionMatch
	// KeepManagedFields leaves metadata.managedFields in the objects. By default the client cuts it before it decodes
	// the objects.
	KeepManagedFields bool
	// OnPage, if set, is called with the metadata of each page as soon as the metadata has arrived. If the server sends
	// the metadata first, the call precedes the page's objects. RemainingItemCount is the number of objects after the
	// page, if the server knows it. The goroutine that lists calls OnPage.
	OnPage func(meta.ListMeta)
}

// ResourceVersionMatch says how to match ListOptions.ResourceVersion.
type ResourceVersionMatch string

const (
	// NotOlderThan asks for data at least as new as the version. A server older than 1.19 takes it for Exact if the
	// list has pages. If such a server then says that the version is too old (410), the client asks for the list as the
	// server has it now, which is not older either.
	NotOlderThan ResourceVersionMatch = "NotOlderThan"
	// Exact asks for the data at exactly the version. If the server sends another version, the error is an
	// [*AnswerError] of reason [WrongVersion]; servers before 1.19 do so if the list has no pages. If the server no
	// longer has the version, the error is Expired (410).
	Exact ResourceVersionMatch = "Exact"
)

// match returns the value of resourceVersionMatch to send.
func (o ListOptions) match() ResourceVersionMatch {
	if o.ResourceVersionMatch == "" && o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return NotOlderThan
	}
	return o.ResourceVersionMatch
}

// checkVersion returns an error if Exact was asked for and the list came at another version.
func (o ListOptions) checkVersion(version string) error {
	if o.ResourceVersionMatch == Exact && version != o.ResourceVersion {
		return &AnswerError{Reason: WrongVersion, Got: version, Want: o.ResourceVersion}
	}
	return nil
}

// isFloor reports whether the version is a minimum, so that the present version satisfies it too.
func (o ListOptions) isFloor() bool { return o.ResourceVersion != "" && o.match() == NotOlderThan }

func (o ListOptions) validate() error {
	switch {
	case o.ResourceVersionMatch == "":
	case o.ResourceVersionMatch != NotOlderThan && o.ResourceVersionMatch != Exact:
		return fmt.Errorf("client.ListOptions: ResourceVersionMatch must be NotOlderThan, Exact or empty, got %q", o.ResourceVersionMatch)
	case o.ResourceVersion == "":
		return fmt.Errorf("client.ListOptions: ResourceVersion must be set if ResourceVersionMatch is %s", o.ResourceVersionMatch)
	case o.ResourceVersionMatch == Exact && o.ResourceVersion == "0":
		return errors.New(`client.ListOptions: ResourceVersion must be a version from the server if ResourceVersionMatch is Exact, got "0"`)
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

// pageQuery returns the parameters of every page's request.
func (o ListOptions) pageQuery() url.Values {
	q := url.Values{}
	set(q, "labelSelector", o.LabelSelector)
	set(q, "fieldSelector", o.FieldSelector)
	set(q, "shardSelector", o.ShardSelector)
	switch {
	case o.PageSize == 0:
		q.Set("limit", strconv.Itoa(defaultPageSize))
	case o.PageSize > 0:
		q.Set("limit", strconv.Itoa(o.PageSize))
	}
	return q
}

// nextQuery returns the parameters of the page that a continue token leads to. They have no resource version, because
// the token contains it, and a server refuses a request that has both. Selectors are sent again.
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
