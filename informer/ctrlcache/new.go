package ctrlcache

import (
	"fmt"

	"github.com/bowline-go/bowline/informer"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// New returns a cache for controller-runtime, whose informers are those of package informer. It is a
// cache.NewCacheFunc:
//
//	manager.New(cfg, manager.Options{NewCache: ctrlcache.New})
//
// It takes the options of controller-runtime, and refuses the same ones as controller-runtime. If opts.NewInformer is
// set, New returns controller-runtime's own cache, with the informers that this function makes.
//
// For settings that controller-runtime has no option for, use the method New of [Options].
func New(cfg *rest.Config, opts cache.Options) (cache.Cache, error) { return Options{}.New(cfg, opts) }

// Options extend the options of controller-runtime's cache. The function [New] uses the zero value.
type Options struct {
	// StripManagedFields leaves metadata.managedFields out of all objects. It costs less than the transform
	// cache.TransformStripManagedFields, which has the same effect. If that transform is the only one of a kind, the
	// cache does not call it, and leaves the fields out as StripManagedFields does.
	StripManagedFields bool
	// Fields names, by kind, the members of its objects that are decoded. The objects of other kinds are whole. If an
	// operator reads a few members of many objects, this saves most of their memory, and of the CPU time for their
	// events:
	//
	//	ctrlcache.Options{Fields: map[client.Object][]string{
	//		&corev1.Pod{}: {"spec.nodeName", "status.phase", "spec.containers.image"},
	//	}}.New
	//
	// NEVER CALL Update with an object of such a kind that comes from the cache: that sends the object as it is, so the
	// server clears every member that was not decoded. The section on projections of the package says what to do
	// instead.
	//
	// A path consists of JSON names, separated by dots. Its last member is decoded as a whole. Lists and maps do not
	// appear in it: spec.containers.image is the image of each container. kind, apiVersion and metadata are always
	// decoded, except metadata.managedFields, which are decoded if they are named.
	//
	// The objects have the Go type of the scheme, and handlers, transforms, field indexes and readers see them without
	// the other members. Unstructured objects and metadata stay whole.
	//
	// New returns an error that names the kind and the path for:
	//
	//   - a path that does not exist, with the members that do;
	//   - a path that is empty, is given twice, or includes another one;
	//   - a path into a type that decodes JSON by itself, such as metav1.Time, which can only be taken whole;
	//   - a path into metadata, kind or apiVersion, except metadata.managedFields;
	//   - a kind that the scheme does not have;
	//   - unstructured objects and metadata as a key;
	//   - a kind without paths.
	Fields map[client.Object][]string
	// Compact makes the cache keep all its objects compressed: compact.New of package informer/compact. A whole object
	// then takes a small part of the memory, and each read decodes it. Get and List pass these objects on, without a
	// further copy, even if UnsafeDisableDeepCopy is set: no other code has them. Handlers share their objects as
	// usual. List by labels decodes all objects of the namespace; use a field index, with which it decodes only those
	// that it returns. The objects of a kind in Fields are compressed with all their members; Fields is enough for such
	// a kind. With a transform, a cache compresses the JSON of the object that the transform returns. Nil keeps objects
	// as they are.
	Compact informer.Compact
	// CheckMutations finds handlers and readers that change objects of the cache; see informer.Options. It checks one
	// object in every CheckMutations; 0 checks none. OnError receives the findings.
	CheckMutations int
	// OnError is called with every error of the informers, including those that cache.Options.DefaultWatchErrorHandler
	// receives. Errors of the server are also errors of k8s.io/apimachinery. When a kind is first requested, OnError
	// also receives an error that names any field of its Go type without a name in a json tag, because a server drops
	// such a field. Several goroutines call it at once. If it is nil, errors that no handler receives are logged.
	OnError func(gvk schema.GroupVersionKind, err error)
}

// New is the function [New] with options. The method value is a cache.NewCacheFunc too:
//
//	manager.Options{NewCache: ctrlcache.Options{StripManagedFields: true}.New}
func (o Options) New(cfg *rest.Config, opts cache.Options) (cache.Cache, error) {
	if cfg == nil {
		return nil, fmt.Errorf("ctrlcache.New: cfg must not be nil")
	}
	if o.CheckMutations < 0 {
		return nil, fmt.Errorf("ctrlcache.Options: CheckMutations must be 0 (off) or more, got %d", o.CheckMutations)
	}
	if opts.NewInformer != nil {
		const others = "if cache.Options.NewInformer is set, which makes other informers"
		switch {
		case len(o.Fields) > 0:
			return nil, fmt.Errorf("ctrlcache.Options: Fields must be empty %s", others)
		case o.Compact != nil:
			return nil, fmt.Errorf("ctrlcache.Options: Compact must be nil %s", others)
		}
		return cache.New(cfg, opts)
	}
	s, err := newSettings(cfg, opts)
	if err != nil {
		return nil, err
	}
	projected, err := newProjections(o, s.scheme)
	if err != nil {
		return nil, err
	}
	c, err := connect(cfg, s.through)
	if err != nil {
		return nil, err
	}
	return &caches{
		settings: s, own: o, projections: projected, client: c, json: wantsJSON(cfg), entries: make(map[kind]*entry),
		begun: make(chan struct{}), ended: make(chan struct{}), added: make(chan struct{}, 1),
	}, nil
}

// Status is the condition of one informer of a cache.
type Status struct {
	// GVK is the kind of its objects, and Form how they are held.
	GVK  schema.GroupVersionKind
	Form Form
	// Fields are the paths that Options.Fields names, in order. The objects have no other members but their metadata,
	// so they must not be sent in an Update. Nil means that the objects are whole.
	Fields []string
	// Status is the status of the informer. Its Namespaces are those with their own configuration.
	informer.Status
}

// StatusOf returns the condition of each informer of a cache from [New], ordered by kind and form; false for any other
// cache. A kind has two informers if some namespaces have their own configuration and all others are cached too.
func StatusOf(c cache.Cache) ([]Status, bool) {
	ours, ok := c.(*caches)
	if !ok {
		return nil, false
	}
	return ours.status(), true
}
