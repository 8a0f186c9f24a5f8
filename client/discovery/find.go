package discovery

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Resource returns the resource that holds objects of a kind, such as that of an object in a manifest. Without a version it is
// that of [Catalog.Preferred]. Only the kind's own group is asked for: one request, or two where the server knows only the old
// form, and none while the answers are fresh. The error is a [*NoMatchError] if there is no such kind.
func (c *Catalog) Resource(ctx context.Context, gvk meta.GVK) (Resource, error) {
	if gvk.Kind == "" {
		return Resource{}, &client.UsageError{Err: errors.New("discovery: the kind's Kind must not be empty")}
	}
	return c.lookup(ctx, gvk.Group, gvk.Version, gvk.String(), func(r Resource) bool { return r.Kind == gvk.Kind })
}

// ResourceOf returns the resource that gvr names, as Resource does that of a kind.
func (c *Catalog) ResourceOf(ctx context.Context, gvr meta.GVR) (Resource, error) {
	if gvr.Resource == "" {
		return Resource{}, &client.UsageError{Err: errors.New("discovery: the resource's Resource must not be empty")}
	}
	return c.lookup(ctx, gvr.Group, gvr.Version, gvr.String(), func(r Resource) bool { return r.Name == gvr.Resource })
}

func (c *Catalog) lookup(ctx context.Context, group, version, name string, is func(Resource) bool) (Resource, error) {
	searched := inGroup(group)
	if version != "" {
		searched = "group version " + GroupVersion{group, version}.String()
	}
	var found Resource
	err := c.search(ctx, []string{group}, version, name, searched, func(vs []served, failed []Failure) bool {
		for r := range preferred(vs) {
			if is(r) {
				// A version that the server likes better and did not answer may have it too: then another one would be a
				// choice that differs from the next call's.
				if version == "" && slices.ContainsFunc(failed, func(f Failure) bool { return f.Err != ErrStale }) {
					return false
				}
				found = r.clone()
				return true
			}
		}
		return false
	})
	return found, err
}

func inGroup(group string) string {
	if group == "" {
		return "the core group"
	}
	return fmt.Sprintf("group %q", group)
}

// search looks for something in the groups, and if it is not there, once more in answers that are young enough to prove it.
func (c *Catalog) search(
	ctx context.Context, groups []string, version, name, searched string, match func([]served, []Failure) bool,
) error {
	for maxAge := c.maxAge(); ; maxAge = c.missAge() {
		vs, failed, err := c.walk(ctx, groups, version, maxAge)
		if err != nil {
			return err
		}
		if match(vs, failed) {
			return nil
		}
		// What failed in a way that may pass was asked for just now.
		again := !slices.ContainsFunc(failed, func(f Failure) bool { return f.Err != ErrStale && !refused(f.Err) })
		if maxAge <= c.missAge() || !again {
			return &NoMatchError{Name: name, Searched: searched, Failed: failed}
		}
	}
}

// preferred returns each resource once, in the best version of its group.
func preferred(vs []served) iter.Seq[Resource] {
	return func(yield func(Resource) bool) {
		type name struct{ group, resource string }
		seen := map[name]bool{}
		for _, v := range vs {
			for _, r := range v.resources {
				n := name{r.Group, r.Name}
				if r.Kind == "" || seen[n] {
					continue
				}
				seen[n] = true
				if !yield(r) {
					return
				}
			}
		}
	}
}

// Has reports whether the server serves a kind; without a Kind, a group version; without a version too, a group. A group
// version that is stale counts. An error means that it is not known.
func (c *Catalog) Has(ctx context.Context, gvk meta.GVK) (bool, error) {
	if gvk.Kind != "" {
		_, err := c.Resource(ctx, gvk)
		if no := (*NoMatchError)(nil); errors.As(err, &no) && len(no.Failed) == 0 {
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

// Match is what a name means.
type Match struct {
	// Resource is the best: the first group's in the server's order, the core group before all, in its preferred version. A
	// resource's own name, singular or kind is better than a short name.
	Resource
	// Others are the resources of other groups, or of other names, that match too, best first. A tool may warn about them.
	Others []Resource
}

// Find returns the resource that a name means to kubectl: "deployments", "deployment", "Deployment" or "deploy" alone, with a
// group as in "deployments.apps", or with a version as in "deployments.v1.apps" and "pods.v1". Upper and lower case are
// the same. The error is a [*NoMatchError] if there is none. A name with a group asks for that alone; one without asks for
// everything that the server has.
func (c *Catalog) Find(ctx context.Context, name string) (Match, error) {
	if name == "" {
		return Match{}, &client.UsageError{Err: errors.New("discovery: the name must not be empty")}
	}
	var missed *NoMatchError
	for _, q := range readings(strings.ToLower(name)) {
		var m Match
		err := c.search(ctx, q.groups, q.version, name, q.searched(), func(vs []served, _ []Failure) bool {
			found := q.match(vs)
			if len(found) > 0 {
				m = Match{Resource: found[0], Others: found[1:]}
			}
			return len(found) > 0
		})
		if err == nil {
			return m, nil
		}
		no := (*NoMatchError)(nil)
		if !errors.As(err, &no) {
			return Match{}, err
		}
		if missed != nil {
			no = &NoMatchError{Name: name, Searched: missed.Searched + ", " + no.Searched, Failed: append(missed.Failed, no.Failed...)}
		}
		missed = no
	}
	return Match{}, missed
}

// reading is one way to read a name.
type reading struct {
	name    string
	groups  []string // nil means all
	version string
}

// readings returns the ways to read a name, the likeliest first. A group has dots as well.
func readings(name string) []reading {
	resource, rest, dotted := strings.Cut(name, ".")
	if !dotted {
		return []reading{{name: name}}
	}
	var qs []reading
	if version, group, more := strings.Cut(rest, "."); more && isVersion(version) {
		qs = append(qs, reading{resource, []string{group}, version})
	}
	if group, version, more := strings.Cut(rest, "/"); more { // as meta.GVR writes it in errors
		return append(qs, reading{resource, []string{group}, version})
	}
	if isVersion(rest) {
		qs = append(qs, reading{resource, []string{""}, rest})
	}
	return append(qs, reading{resource, []string{rest}, ""})
}

// isVersion reports whether s looks like a version: "v", a digit, and no dots.
func isVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && '0' <= s[1] && s[1] <= '9' && !strings.Contains(s, ".")
}

func (q reading) searched() string {
	switch {
	case q.groups == nil:
		return "every group"
	case q.version != "":
		return "group version " + GroupVersion{q.groups[0], q.version}.String()
	}
	return inGroup(q.groups[0])
}

// match returns the resources that the name means, the best first.
func (q reading) match(vs []served) []Resource {
	var own, short []Resource
	for r := range preferred(vs) {
		switch {
		case q.name == r.Name, q.name == r.Singular, q.name == strings.ToLower(r.Kind):
			own = append(own, r.clone())
		case slices.Contains(r.ShortNames, q.name):
			short = append(short, r.clone())
		}
	}
	return append(own, short...)
}

// Category returns the resources of a category, such as "all", as Preferred has them. The error is a [*NoMatchError] if no
// resource has it, and a [*PartialError] beside those that were found if there may be more.
func (c *Catalog) Category(ctx context.Context, name string) ([]Resource, error) {
	var found []Resource
	var missing []Failure
	err := c.search(ctx, nil, "", name, "the categories of every group", func(vs []served, failed []Failure) bool {
		for r := range preferred(vs) {
			if slices.Contains(r.Categories, name) {
				found = append(found, r.clone())
			}
		}
		missing = failed
		return len(found) > 0
	})
	if err != nil {
		return nil, err
	}
	return found, partial(missing)
}

// maxAge is how old an answer may be to say that something exists.
func (c *Catalog) maxAge() time.Duration {
	if c == nil {
		return 0
	}
	return c.options.TTL
}

// missAge is how old an answer may be to say that something does not.
func (c *Catalog) missAge() time.Duration {
	if c == nil {
		return 0
	}
	return min(c.options.TTL, c.options.MissTTL)
}
