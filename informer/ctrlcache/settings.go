package ctrlcache

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// settings are the options of a cache, from which it configures each kind. The more specific options win: those of a
// namespace, of a kind, of a default namespace, and then the defaults.
type settings struct {
	opts     cache.Options
	scheme   *runtime.Scheme
	mapper   apimeta.RESTMapper
	through  *http.Client
	byObject map[schema.GroupVersionKind]cache.ByObject
}

// defaultSyncPeriod is the default of controller-runtime.
const defaultSyncPeriod = 10 * time.Hour

// newSettings fills in the defaults that opts leaves out, and refuses invalid options. It may ask the server about the
// kinds of ByObject.
func newSettings(cfg *rest.Config, opts cache.Options) (*settings, error) {
	s := &settings{opts: opts, scheme: opts.Scheme, mapper: opts.Mapper, through: opts.HTTPClient}
	var err error
	if s.through == nil {
		if s.through, err = rest.HTTPClientFor(cfg); err != nil {
			return nil, fmt.Errorf("make the HTTP client of rest.Config: %w", err)
		}
	}
	if s.scheme == nil {
		s.scheme = scheme.Scheme
	}
	if s.mapper == nil {
		if s.mapper, err = apiutil.NewDynamicRESTMapper(cfg, s.through); err != nil {
			return nil, fmt.Errorf("make a RESTMapper of rest.Config: %w", err)
		}
	}
	s.opts.DefaultNamespaces = maps.Clone(opts.DefaultNamespaces)
	s.byObject = make(map[schema.GroupVersionKind]cache.ByObject, len(opts.ByObject))
	for obj, by := range opts.ByObject {
		namespaced, err := apiutil.IsObjectNamespaced(obj, s.scheme, s.mapper)
		if err != nil {
			return nil, fmt.Errorf("cache.Options: ByObject: find out whether %T is namespaced: %w", obj, err)
		}
		if !namespaced && by.Namespaces != nil {
			return nil, fmt.Errorf("cache.Options: ByObject: "+
				"Namespaces of %T must be nil, because it is cluster-scoped", obj)
		}
		gvk, err := apiutil.GVKForObject(obj, s.scheme)
		if err != nil {
			return nil, fmt.Errorf("cache.Options: ByObject: find the kind of %T: %w", obj, err)
		}
		by.Namespaces = maps.Clone(by.Namespaces)
		s.byObject[gvk] = by
	}
	return s, nil
}

// defaults is the configuration of namespaces and kinds that have no other one.
func (s *settings) defaults() cache.Config {
	return cache.Config{
		LabelSelector: s.opts.DefaultLabelSelector, FieldSelector: s.opts.DefaultFieldSelector, Transform: s.opts.DefaultTransform,
		UnsafeDisableDeepCopy: s.opts.DefaultUnsafeDisableDeepCopy, EnableWatchBookmarks: s.opts.DefaultEnableWatchBookmarks,
		SyncPeriod: s.opts.SyncPeriod,
	}
}

// configs returns the configuration of each cached namespace of a kind. The empty name stands for all namespaces
// without another configuration, and for kinds that are not namespaced.
func (s *settings) configs(gvk schema.GroupVersionKind, namespaced bool) map[string]cache.Config {
	by, special := s.byObject[gvk]
	ofKind := cache.Config{
		LabelSelector: by.Label, FieldSelector: by.Field, Transform: by.Transform, UnsafeDisableDeepCopy: by.UnsafeDisableDeepCopy,
		EnableWatchBookmarks: by.EnableWatchBookmarks, SyncPeriod: by.SyncPeriod,
	}
	namespaces := by.Namespaces
	if !special || namespaces == nil {
		namespaces = s.opts.DefaultNamespaces
	}
	if !namespaced || len(namespaces) == 0 {
		return map[string]cache.Config{"": or(ofKind, s.defaults())}
	}
	all := make(map[string]cache.Config, len(namespaces))
	for ns, c := range namespaces {
		all[ns] = or(or(or(c, ofKind), s.opts.DefaultNamespaces[ns]), s.defaults())
	}
	if rest, ok := all[""]; ok {
		rest.FieldSelector = withoutNamespaces(rest.FieldSelector, all)
		all[""] = rest
	}
	return all
}

// hasNamespaces reports whether the options name namespaces for a kind.
func (s *settings) hasNamespaces(gvk schema.GroupVersionKind) bool {
	return len(s.opts.DefaultNamespaces) > 0 || len(s.byObject[gvk].Namespaces) > 0
}

// or returns c with its nil fields replaced by those of other.
func or(c, other cache.Config) cache.Config {
	if c.LabelSelector == nil {
		c.LabelSelector = other.LabelSelector
	}
	if c.FieldSelector == nil {
		c.FieldSelector = other.FieldSelector
	}
	if c.Transform == nil {
		c.Transform = other.Transform
	}
	if c.UnsafeDisableDeepCopy == nil {
		c.UnsafeDisableDeepCopy = other.UnsafeDisableDeepCopy
	}
	if c.EnableWatchBookmarks == nil {
		c.EnableWatchBookmarks = other.EnableWatchBookmarks
	}
	if c.SyncPeriod == nil {
		c.SyncPeriod = other.SyncPeriod
	}
	return c
}

// withoutNamespaces extends a selector so that it leaves out objects of the named namespaces.
func withoutNamespaces(selector fields.Selector, all map[string]cache.Config) fields.Selector {
	var terms []fields.Selector
	for _, ns := range slices.Sorted(maps.Keys(all)) {
		if ns != "" {
			terms = append(terms, fields.OneTermNotEqualSelector("metadata.namespace", ns))
		}
	}
	if selector != nil {
		terms = append(terms, selector)
	}
	return fields.AndSelectors(terms...)
}
