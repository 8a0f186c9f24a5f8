package clienttest

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/apiversion"
)

// registry holds the resources that the server serves. Each change replaces the whole list, within a transaction of the
// store, so a reader needs no lock.
type registry struct{ list atomic.Pointer[resources] }

// resources are the registered ones: the core group first, the rest by group, version and resource.
type resources struct {
	sorted []*resource
	named  map[meta.GVR]*resource
}

func (g *registry) replace(all []*resource) {
	slices.SortFunc(all, func(a, b *resource) int {
		return cmp.Or(
			cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version),
			cmp.Compare(a.Resource.Resource, b.Resource.Resource),
		)
	})
	named := make(map[meta.GVR]*resource, len(all))
	for _, r := range all {
		named[r.GVR()] = r
	}
	g.list.Store(&resources{all, named})
}

// named returns a resource, or nil.
func (g *registry) named(name meta.GVR) *resource { return g.list.Load().named[name] }

// ofKind returns the resource of the objects of a kind.
func (g *registry) ofKind(apiVersion, kind string) (*resource, error) {
	group, _ := meta.SplitAPIVersion(apiVersion)
	err := fmt.Errorf("the server has no kind %s of apiVersion %q", kind, apiVersion)
	for _, r := range g.registered() {
		switch {
		case r.Kind != kind || r.review || r.hidden:
		case r.GVK().APIVersion() == apiVersion:
			return r, nil
		case r.Group == group:
			err = fmt.Errorf("the apiVersion must be %s, got %s", r.GVK().APIVersion(), apiVersion)
		}
	}
	return nil, err
}

// core returns a built-in resource of the core group.
func (g *registry) core(name string) *resource {
	return g.named(meta.GVR{Version: "v1", Resource: name})
}

// registered returns all resources in order. The caller must not change the slice.
func (g *registry) registered() []*resource { return g.list.Load().sorted }

// compiledIn reports whether a group has built-in resources.
func (g *registry) compiledIn(group string) bool {
	return group == "" || slices.ContainsFunc(g.registered(), func(r *resource) bool { return r.Group == group && r.Builtin })
}

// taken returns why a custom resource cannot be registered beside the others, or "".
func (g *registry) taken(r *resource) string {
	for _, old := range g.registered() {
		if old.Group != r.Group || old.Resource.Resource != r.Resource.Resource && old.Kind != r.Kind {
			continue
		}
		why := "only one version of a resource can be registered; a CustomResourceDefinition may have several"
		if old.Builtin {
			why = "it is built in, so leave it out"
		}
		return fmt.Sprintf("%s is registered already: %s", old.GVR(), why)
	}
	return ""
}

// inventory has every group version with resources, as GVRs without a resource, and the resources of each. The core
// group comes first, then the other built-in groups in the order of a real server, then the rest by name. Within a
// group, the version that a real server prefers comes first.
type inventory struct {
	versions []meta.GVR
	of       map[meta.GVR][]*resource
}

func (g *registry) inventory() inventory {
	var vs []meta.GVR
	of := map[meta.GVR][]*resource{}
	builtin := map[string]int{"": -1 << 30}
	for _, r := range g.registered() {
		v := meta.GVR{Group: r.Group, Version: r.Version}
		if of[v] == nil {
			vs = append(vs, v)
		}
		of[v] = append(of[v], r)
		if r.Builtin {
			builtin[r.Group] = min(builtin[r.Group], r.order-1<<20)
		}
	}
	slices.SortFunc(vs, func(a, b meta.GVR) int {
		return cmp.Or(
			cmp.Compare(builtin[a.Group], builtin[b.Group]), cmp.Compare(a.Group, b.Group), apiversion.Compare(a.Version, b.Version),
		)
	})
	return inventory{vs, of}
}
