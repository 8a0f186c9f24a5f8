package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
)

const (
	corePath   = "/api"
	groupsPath = "/apis"

	// accepted are the requested media types; a server ignores those that it does not know.
	accepted = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
		"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

	// maxDocument bounds the size of one document, in bytes after decompression.
	maxDocument = 64 << 20

	// atOnce bounds how many group versions are requested at the same time from a server of the old form.
	atOnce = 8
)

// Options say how a Catalog remembers answers. The zero value suits long-running programs.
type Options struct {
	// TTL is how long an answer is used before the server is asked whether it has changed; 0 means one minute.
	TTL time.Duration
	// MissTTL is the maximum age of an answer that proves that something does not exist, or that a group version is
	// still stale; 0 means 10 s.
	MissTTL time.Duration
	// Dir is a folder that keeps answers for the next run of the program, for command-line tools. The first lookup of
	// that run then only asks the server to confirm that nothing has changed, or, within TTL, sends no request. Empty
	// means no folder.
	//
	// The folder is for one user and one server. An answer is used only if it came from the server with the same URL,
	// verified by the same authorities and name. Any other answer is replaced. If the folder is missing it is created
	// with mode 0700; files have mode 0600. A folder that others may write, or that another user owns, is not used.
	//
	// A fault of the folder or of a file in it costs only a request. But a call waits for a folder that does not
	// answer, as on a network mount whose server is gone: for 5 s or until the call's context ends. Until the folder
	// answers, later calls do not use it.
	Dir string
	// OnError, if set, is called with each reason why Dir could not be used. It must be safe for use by several
	// goroutines at once.
	OnError func(error)
}

func (o Options) validate() error {
	var errs []error
	for _, f := range []struct {
		name string
		d    time.Duration
	}{{"TTL", o.TTL}, {"MissTTL", o.MissTTL}} {
		if f.d < 0 {
			errs = append(errs, fmt.Errorf("discovery.Options: %s must not be negative, got %v", f.name, f.d))
		}
	}
	return errors.Join(errs...)
}

// Catalog is a client-side cache of what a server serves, filled on demand. It is safe for use by several goroutines at
// once. It runs no goroutine between calls, except while a system call on Options.Dir does not return.
type Catalog struct {
	client  *client.Client
	options Options
	disk    disk
	invalid error // why the Catalog cannot be used; every call returns it

	maxDocument int // the constant maxDocument, except in tests

	mu      sync.Mutex // protects the fields below and the entries' fields; never held during I/O
	entries map[string]*entry
	fields  map[string]fields // the key is the path of the group version
	since   time.Time         // the time of the last Invalidate
}

// New returns a catalog of c's server. It does no I/O. If the options are invalid, every call returns an error.
func New(c *client.Client, o Options) *Catalog {
	d := &Catalog{client: c, invalid: o.validate(), maxDocument: maxDocument, entries: map[string]*entry{}}
	if c == nil {
		d.invalid = errors.New("discovery.New: the client must not be nil; client.New makes one")
	}
	o.TTL, o.MissTTL = cmp.Or(o.TTL, time.Minute), cmp.Or(o.MissTTL, 10*time.Second)
	d.options = o
	if c != nil {
		d.disk = disk{dir: o.Dir, server: c.String(), trust: c.Trust, max: maxDocument, fail: o.OnError, held: new(atomic.Int32)}
	}
	return d
}

func (c *Catalog) usable() error {
	if c == nil || c.entries == nil {
		return &client.UsageError{Err: errors.New("the zero discovery.Catalog has no client; use discovery.New")}
	}
	if c.invalid != nil {
		return &client.UsageError{Err: c.invalid}
	}
	return nil
}

// Invalidate makes every later call ask the server again, even if a request for the same document is already under way.
// The server does not send unchanged documents again.
func (c *Catalog) Invalidate() {
	if c.usable() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = time.Now()
	for _, e := range c.entries {
		e.flight = nil
		if e.doc == nil {
			continue
		}
		if e.doc.err != nil {
			e.doc = nil
			continue
		}
		old := *e.doc
		old.at = time.Time{}
		e.doc = &old
	}
}

// Resources returns every resource in every version of the given groups, or of all groups if none is given. Groups are
// in the server's order, the core group first; within a group its preferred version comes first; within a version
// resources are in the server's order. A group that is not served has no resources. If a group version could not be
// asked, Resources returns the others with a [*DownError].
func (c *Catalog) Resources(ctx context.Context, groups ...string) ([]Resource, error) {
	vs, err := c.walk(ctx, scope{groups: groups}, c.options.TTL)
	if err != nil {
		return nil, err
	}
	var resources []Resource
	for _, v := range vs {
		for _, r := range v.resources {
			resources = append(resources, r.clone())
		}
	}
	return resources, down("", failures(vs))
}

// Preferred returns every resource once: in its group's preferred version, or else in the first version that has it.
// Names that have only subresources are left out. The order and the [*DownError] are those of Resources.
func (c *Catalog) Preferred(ctx context.Context) ([]Resource, error) {
	vs, err := c.walk(ctx, scope{}, c.options.TTL)
	if err != nil {
		return nil, err
	}
	var resources []Resource
	for r := range preferred(vs) {
		resources = append(resources, r.clone())
	}
	return resources, down("", failures(vs))
}

// served are the resources of one group version, or the reason why they are unknown.
type served struct {
	gv        meta.GVK
	resources []Resource
	err       error
}

// failures returns the failed group versions of vs.
func failures(vs []served) []served {
	return slices.DeleteFunc(slices.Clone(vs), func(v served) bool { return v.err == nil })
}

// scope restricts a search to some groups and one version. Without groups it has every group, and without a version
// every version. If below is set, it has the groups whose names begin with a name in groups, but not the groups that
// are called so exactly.
type scope struct {
	groups  []string
	below   bool
	version string
}

func (s scope) has(gv meta.GVK) bool {
	switch {
	case s.version != "" && s.version != gv.Version:
		return false
	case len(s.groups) == 0:
		return true
	case s.below:
		return slices.ContainsFunc(s.groups, func(g string) bool { return g != gv.Group && strings.HasPrefix(gv.Group, g) })
	}
	return slices.Contains(s.groups, gv.Group)
}

// listings returns the server's answers about the core group, the other groups, or both, as the groups require. No
// groups means all.
func (c *Catalog) listings(ctx context.Context, groups []string, maxAge time.Duration) ([]*listing, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	var paths []string
	if len(groups) == 0 || slices.Contains(groups, "") {
		paths = append(paths, corePath)
	}
	if len(groups) == 0 || slices.ContainsFunc(groups, func(g string) bool { return g != "" }) {
		paths = append(paths, groupsPath)
	}
	lists, errs := make([]*listing, len(paths)), make([]error, len(paths))
	each(len(paths), func(i int) { lists[i], errs[i] = c.listing(ctx, paths[i], maxAge) })
	return lists, errors.Join(errs...)
}

func (c *Catalog) listing(ctx context.Context, path string, maxAge time.Duration) (*listing, error) {
	doc, err := c.load(ctx, page{path: path, accept: accepted, parse: parseListing}, func(d *document) bool {
		return c.fresh(d, maxAge)
	})
	switch {
	case err == nil:
		return doc.value.(*listing), nil
	case !errors.Is(err, apierrors.NotFound):
		return nil, err
	case path == corePath: // an extension API server has no core group, but it must have /apis
		if _, err := c.listing(ctx, groupsPath, maxAge); err != nil {
			return nil, err
		}
		return &listing{}, nil
	}
	// The error does not match apierrors.NotFound, because it says nothing about the server's resources.
	return nil, fmt.Errorf("found no Kubernetes API at %s; check the URL's path: %v", strings.TrimPrefix(c.client.String(), "client of "), err)
}

// walk returns the group versions of a scope, each group's preferred version first, and at the end those with invalid
// names. It returns an error if nothing is known.
func (c *Catalog) walk(ctx context.Context, in scope, maxAge time.Duration) ([]served, error) {
	lists, err := c.listings(ctx, in.groups, maxAge)
	if err != nil {
		return nil, err
	}
	var all []served
	var ask []int // the indexes, in the slice all, of the group versions to request
	for _, l := range lists {
		for _, g := range l.groups {
			for _, v := range g.byPreference() {
				gv := meta.GVK{Group: g.name, Version: v.name}
				if !in.has(gv) {
					continue
				}
				s := served{gv: gv, resources: l.resources[gv]}
				switch {
				case v.stale:
					s.err = errStale
				case l.resources == nil:
					ask = append(ask, len(all))
				}
				all = append(all, s)
			}
		}
	}
	each(len(ask), func(i int) {
		s := &all[ask[i]]
		s.resources, s.err = c.resources(ctx, s.gv, maxAge)
	})
	if ctx.Err() != nil && slices.ContainsFunc(all, func(s served) bool { return s.err != nil }) {
		return nil, failure(page{path: groupsPath}, conn.ContextError(ctx))
	}
	for _, l := range lists {
		all = append(all, slices.DeleteFunc(slices.Clone(l.invalid), func(s served) bool { return !in.has(s.gv) })...)
	}
	return all, nil
}

// resources requests one group version from a server of the old form.
func (c *Catalog) resources(ctx context.Context, gv meta.GVK, maxAge time.Duration) ([]Resource, error) {
	doc, err := c.load(ctx, page{path: pathOf(gv), parse: parseResources(gv)}, func(d *document) bool { return c.fresh(d, maxAge) })
	if err != nil {
		return nil, err
	}
	return doc.value.([]Resource), nil
}

// prune forgets the group versions, or OpenAPI documents, that are missing in doc, the new listing or index. So the
// server's content bounds the memory. c.mu is held.
func (c *Catalog) prune(p page, doc *document) {
	switch value := doc.value.(type) {
	case *listing:
		for path := range c.entries {
			root, rest, below := strings.Cut(strings.TrimPrefix(path, "/"), "/")
			if !below || "/"+root != p.path {
				continue
			}
			var gv meta.GVK
			if gv.Version = rest; p.path == groupsPath {
				gv.Group, gv.Version, _ = strings.Cut(rest, "/")
			}
			g, ok := value.group(gv.Group)
			if _, has := g.version(gv.Version); !ok || !has || value.resources != nil {
				delete(c.entries, path)
			}
		}
	case index:
		for path := range c.entries {
			if key, below := strings.CutPrefix(path, openAPIPath+"/"); below {
				if _, ok := value[key]; !ok {
					delete(c.entries, path)
				}
			}
		}
		for path := range c.fields {
			if _, ok := value[strings.TrimPrefix(path, "/")]; !ok {
				delete(c.fields, path)
			}
		}
	}
}

// each calls f with 0 to n-1, a few at the same time, and returns when all have returned. It repeats the first panic of
// f.
func each(n int, f func(int)) {
	if n == 1 {
		f(0)
		return
	}
	var (
		wg       sync.WaitGroup
		first    sync.Once
		panicked any
	)
	turns := make(chan struct{}, atOnce)
	for i := range n {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() {
				if value := recover(); value != nil {
					first.Do(func() { panicked = value })
				}
				<-turns
			}()
			f(i)
		})
	}
	wg.Wait()
	if panicked != nil {
		panic(panicked)
	}
}
