package clienttest

import (
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/sharding"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// selection is the set of objects of a list, a watch or a deletecollection: the objects of one namespace, or of all,
// that its selectors match.
type selection struct {
	namespace string
	name      string // set if the path of a watch has a name
	labels    meta.Selector
	fields    meta.FieldSelector
	paths     []string // of Revision.Fields
	shard     *sharding.Selector
	all       bool // shard is reported as applied but has no effect: see ShardsClaimed
}

// selection reads the selectors of a request.
func (c *call) selection() (*selection, error) {
	sel := &selection{namespace: c.Key.Namespace, name: c.Key.Name, paths: c.res.SelectableFields}
	var err error
	if sel.labels, err = meta.ParseSelector(c.query.Get("labelSelector")); err != nil {
		return nil, status.BadRequest("unable to parse requirement: %v", err)
	}
	text := c.query.Get("fieldSelector")
	if sel.fields, err = meta.ParseFieldSelector(text); err != nil {
		return nil, status.BadRequest("invalid selector: '%s'; %v", text, err)
	}
	for _, term := range sel.fields.Terms() {
		switch f := term.Field; {
		case f == "metadata.name", f == "metadata.namespace" && c.res.Scope == meta.Namespaced, slices.Contains(sel.paths, f):
		case c.res.AnyField:
			return nil, status.BadRequest(`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, f)
		default:
			return nil, status.BadRequest("field label not supported: %s", f)
		}
	}
	return sel, nil
}

// shard reads the shard selector of a request. A real server does so after it has checked the other parameters.
func (c *call) shard(sel *selection) (err error) {
	text, mode := c.query.Get("shardSelector"), ShardedLists(c.sharded.Load())
	if text == "" || mode == ShardsIgnored {
		return nil
	}
	if sel.shard, err = sharding.Parse(text); err != nil {
		return status.Failure(http.StatusInternalServerError, "", "invalid shard selector: %v", err)
	}
	sel.all = mode == ShardsClaimed
	return nil
}

// everything reports whether there are no selectors.
func (s *selection) everything() bool {
	return s.labels.Everything() && s.fields.Everything() && s.shard == nil
}

// matches reports whether the selection has v; false if v is nil.
func (s *selection) matches(v *object.Revision) bool {
	if v == nil || s.namespace != "" && v.Key.Namespace != s.namespace || s.name != "" && v.Key.Name != s.name {
		return false
	}
	if s.shard != nil && !s.all && !s.shard.Matches(v.Key.Namespace, v.UID) {
		return false
	}
	return s.labels.Matches(v.Labels) && (s.fields.Everything() || s.fields.Matches(func(field string) (string, bool) {
		switch field {
		case "metadata.name":
			return v.Key.Name, true
		case "metadata.namespace":
			return v.Key.Namespace, true
		}
		i := slices.Index(s.paths, field)
		return v.Fields[i], true
	}))
}
