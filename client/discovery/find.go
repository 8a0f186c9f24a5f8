package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// Resource returns the resource that holds objects of a kind, such as that of an object in a manifest. If gvk has no
// version, Resource chooses the one of [Catalog.Preferred]. It asks only for the kind's own group: one request, or two
// if the server knows only the old form, and none while the answers are fresh. The error is a [*NoMatchError] if there
// is no such kind, and a [*DownError] if that cannot be known, because a part of the group is down.
func (c *Catalog) Resource(ctx context.Context, gvk meta.GVK) (Resource, error) {
	if gvk.Kind == "" {
		return Resource{}, &client.UsageError{Err: errors.New("discovery: the kind's Kind must not be empty")}
	}
	return c.lookup(ctx, gvk.Group, gvk.Version, gvk.String(), func(r Resource) bool { return r.Kind == gvk.Kind })
}

// ResourceOf returns the resource that gvr names, in the same way as Resource.
func (c *Catalog) ResourceOf(ctx context.Context, gvr meta.GVR) (Resource, error) {
	if gvr.Resource == "" {
		return Resource{}, &client.UsageError{Err: errors.New("discovery: the resource's Resource must not be empty")}
	}
	return c.lookup(ctx, gvr.Group, gvr.Version, gvr.String(), func(r Resource) bool { return r.Name == gvr.Resource })
}

func (c *Catalog) lookup(ctx context.Context, group, version, name string, is func(Resource) bool) (Resource, error) {
	in := reading{scope: scope{groups: []string{group}, version: version}}
	var found Resource
	err := c.search(ctx, name, "", []reading{in}, func(_ reading, vs []served) bool {
		for r, unsure := range preferred(vs) {
			switch {
			case unsure || !is(r) || found.Kind != "" && r.Version != found.Version:
			case found.Kind == "", r.Can("get") && !found.Can("get"): // a second resource may support only create
				found = r.clone()
			}
		}
		return found.Kind != ""
	})
	return found, err
}

// search tries one reading after the other. If none matches, it tries again with answers recent enough to prove that.
// where, unless it is empty, describes in errors what the readings search.
func (c *Catalog) search(ctx context.Context, name, where string, qs []reading, match func(reading, []served) bool) error {
	for maxAge := c.maxAge(); ; maxAge = c.missAge() {
		var searched []string
		var failed []served
		for _, q := range qs {
			vs, err := c.walk(ctx, q.scope, maxAge)
			if err != nil {
				return err
			}
			if match(q, vs) {
				return nil
			}
			searched = append(searched, q.searched())
			for _, v := range failures(vs) {
				if !errors.Is(v.err, apierrors.NotFound) { // NotFound: the version was removed after it was listed
					failed = append(failed, v)
				}
			}
		}
		// A request that failed temporarily was sent just now, so do not repeat the search.
		again := !slices.ContainsFunc(failed, func(f served) bool { return f.err != errStale && !refused(f.err) })
		if maxAge > c.missAge() && again {
			continue
		}
		if len(failed) > 0 {
			return down(name, failed)
		}
		return noMatch(name, cmp.Or(where, strings.Join(searched, ", ")))
	}
}

// preferred returns each resource once, in the best version of its group. The resource is unsure if a better version of
// the group did not return its resources: that version may have the resource too, and a later call would then choose
// that version. A stale version makes no resource unsure, because the server itself does not know the version's
// resources.
func preferred(vs []served) iter.Seq2[Resource, bool] {
	return func(yield func(r Resource, unsure bool) bool) {
		type name struct{ group, resource string }
		seen := map[name]bool{}
		silent := map[string]bool{} // the groups with a version that did not return its resources
		for _, v := range vs {
			if v.err != nil && v.err != errStale && !errors.Is(v.err, apierrors.NotFound) {
				silent[v.gv.Group] = true
			}
			for _, r := range v.resources {
				n := name{r.Group, r.Name}
				if r.Kind == "" || seen[n] {
					continue
				}
				seen[n] = true
				if !yield(r, silent[r.Group]) {
					return
				}
			}
		}
	}
}

// Has reports whether the server serves a kind. If gvk has no Kind, Has reports whether the server serves the group
// version; if gvk has no version either, the group. A stale group version counts as served. An error means that the
// answer is unknown.
func (c *Catalog) Has(ctx context.Context, gvk meta.GVK) (bool, error) {
	if gvk.Kind != "" {
		_, err := c.Resource(ctx, gvk)
		if errors.As(err, new(*NoMatchError)) {
			return false, nil
		}
		return err == nil, err
	}
	for _, maxAge := range []time.Duration{c.maxAge(), c.missAge()} {
		lists, err := c.listings(ctx, []string{gvk.Group}, maxAge)
		if err != nil {
			return false, err
		}
		if g, ok := lists[0].group(gvk.Group); ok {
			if _, has := g.version(gvk.Version); has || gvk.Version == "" {
				return true, nil
			}
		}
	}
	return false, nil
}

// Find returns the resource that a name means to kubectl, ignoring case. others are further resources that match, of
// other groups or by other names, the best first: a tool may warn about them. The name is one of:
//
//   - "deployments", "deployment", "Deployment" or "deploy" alone;
//   - with a group, as in "deployments.apps";
//   - with the beginning of a group, as in "ingress.networking", if no group has that whole name;
//   - with a version, as in "deployments.v1.apps" and "pods.v1".
//
// A resource's own name, plural or singular, ranks above a short name, and a short name above a kind. Among equals the
// first group in the server's order wins, the core group before all, in its preferred version.
//
// The error is a [*NoMatchError] if there is none, and a [*DownError] if that cannot be known. For a name with a group
// Find asks only for that group; for one without, it asks for everything that the server has.
func (c *Catalog) Find(ctx context.Context, name string) (best Resource, others []Resource, err error) {
	if name == "" || name[0] == '.' {
		return best, nil, &client.UsageError{Err: fmt.Errorf("discovery: the name must not be empty, or begin with a dot, got %q", name)}
	}
	err = c.search(ctx, name, "", readings(strings.ToLower(name)), func(q reading, vs []served) bool {
		found := q.match(vs)
		if len(found) == 0 {
			return false
		}
		best, others = found[0], found[1:]
		return true
	})
	return best, others, err
}

// reading is one interpretation of a name.
type reading struct {
	name string
	scope
}

// readings returns the interpretations of a name, the likeliest first. The dots of a group make it ambiguous.
func readings(name string) []reading {
	resource, rest, _ := strings.Cut(name, ".")
	if rest == "" {
		return []reading{{name: resource}}
	}
	in := func(group, version string) reading {
		return reading{resource, scope{groups: []string{group}, version: version}}
	}
	var qs []reading
	if version, group, more := strings.Cut(rest, "."); more && isVersion(version) {
		qs = append(qs, in(group, version))
	}
	if group, version, more := strings.Cut(rest, "/"); more { // meta.GVR.String has this form
		return append(qs, in(group, version))
	}
	if isVersion(rest) {
		qs = append(qs, in("", rest))
	}
	return append(qs, in(rest, ""), reading{resource, scope{groups: []string{rest}, below: true}})
}

// isVersion reports whether s looks like a version: "v", a digit, and no dots.
func isVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && '0' <= s[1] && s[1] <= '9' && !strings.Contains(s, ".")
}

func (s scope) searched() string {
	switch {
	case s.groups == nil:
		return "every group"
	case s.below:
		return "the groups whose names begin with it"
	case s.version != "":
		return "group version " + meta.GVK{Group: s.groups[0], Version: s.version}.APIVersion()
	case s.groups[0] == "":
		return "the core group"
	}
	return fmt.Sprintf("group %q", s.groups[0])
}

// match returns the resources that the name means, the best first, and none if the best is unsure.
func (q reading) match(vs []served) []Resource {
	type ranked struct {
		Resource
		rank   int
		unsure bool
	}
	var found []ranked
	for r, unsure := range preferred(vs) {
		kind := strings.ToLower(r.Kind)
		rank := 0
		switch {
		case q.name == r.Name, q.name == cmp.Or(r.Singular, kind):
		case slices.Contains(r.ShortNames, q.name):
			rank = 2
		case q.name == kind:
			rank = 4
		default:
			continue
		}
		if q.name != r.Name && !r.Can("get") { // a second resource may support only create
			rank++
		}
		found = append(found, ranked{r, rank, unsure})
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return a.rank - b.rank })
	if len(found) == 0 || found[0].unsure {
		return nil
	}
	all := make([]Resource, 0, len(found))
	for _, r := range found {
		all = append(all, r.clone())
	}
	return all
}

// Category returns the resources of a category, such as "all", as Preferred has them. The error is a [*NoMatchError] if
// no resource has the category, and a [*DownError] if that cannot be known. If there may be more resources, Category
// returns those that it found and a [*DownError].
func (c *Catalog) Category(ctx context.Context, name string) ([]Resource, error) {
	if name == "" {
		return nil, &client.UsageError{Err: errors.New("discovery: the category's name must not be empty")}
	}
	var found []Resource
	var missing []served
	err := c.search(ctx, name, "the categories of every group", []reading{{}}, func(_ reading, vs []served) bool {
		for r := range preferred(vs) {
			if slices.Contains(r.Categories, name) {
				found = append(found, r.clone())
			}
		}
		missing = failures(vs)
		return len(found) > 0
	})
	if err != nil {
		return nil, err
	}
	return found, down("", missing)
}

// maxAge is the maximum age of an answer that shows that something exists.
func (c *Catalog) maxAge() time.Duration {
	if c == nil {
		return 0
	}
	return c.options.TTL
}

// missAge is the maximum age of an answer that shows that something does not exist.
func (c *Catalog) missAge() time.Duration {
	if c == nil {
		return 0
	}
	return min(c.options.TTL, c.options.MissTTL)
}
