package clienttest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

// page is a part of a list.
type page struct {
	items     []*object.Revision
	version   uint64 // of the list
	next      string // continue token
	remaining int    // how many objects come after this page; -1 is unknown
	shard     string // the shard selector that was applied
}

// snapshot returns the objects that a list is about.
func (c *call) snapshot(o listOptions) (store.Snapshot, error) {
	ctx, in := c.r.Context(), c.res.objects
	if o.exact {
		err := c.store.Await(ctx, o.version) // the store has it, even if the cache does not
		if err != nil {
			return store.Snapshot{}, err
		}
		objects, kept := in.At(o.version)
		if !kept {
			err = c.tooOld(o)
		}
		return objects, err
	}
	if err := c.cache.Await(ctx, in, o.version); err != nil {
		return store.Snapshot{}, err
	}
	if o.current {
		return in.Present(), nil
	}
	return c.cache.Present(in), nil
}

// page selects the objects of a list's page.
func (c *call) page(sel *selection, o listOptions) (*page, error) {
	objects, err := c.snapshot(o)
	if err != nil {
		return nil, err
	}
	from, to := object.Span(c.Key.Namespace)
	prefix := from
	if o.from != "" {
		from = o.from
	}
	p := &page{version: objects.Version, remaining: -1}
	if sel.shard != nil {
		p.shard = sel.shard.String()
	}
	for v := range objects.Between(from, to) {
		if !sel.matches(v) {
			continue
		}
		if p.items = append(p.items, v); len(p.items) == o.limit {
			break
		}
	}
	if o.limit == 0 || len(p.items) < o.limit {
		return p, nil
	}
	last := p.items[o.limit-1].Path + "\x00"
	end := objects.Len()
	if to != "" {
		end = objects.Below(to)
	}
	if rest := end - objects.Below(last); rest > 0 {
		p.next = continueToken{Version: int64(p.version), Path: "/" + strings.TrimPrefix(last, prefix)}.String()
		if sel.everything() {
			p.remaining = rest
		}
	}
	return p, nil
}

// tooOld returns the error for a list whose version is gone. For a later page, the error has a token that continues at
// the present version.
func (c *call) tooOld(o listOptions) error {
	if o.from == "" {
		return status.Expired("The resourceVersion for the provided list is too old.")
	}
	err := status.Expired("The provided continue parameter is too old to display a consistent list result. You can start a new " +
		"list without the continue parameter, or use the continue token in this response to retrieve the remainder of " +
		"the results. Continuing with the provided token results in an inconsistent list - objects that were created, " +
		"modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	prefix, _ := object.Span(c.Key.Namespace)
	err.Status.Continue = continueToken{Version: -1, Path: "/" + strings.TrimPrefix(o.from, prefix)}.String()
	return err
}

// listOptions are the parameters of a list.
type listOptions struct {
	limit   int
	current bool   // at the present version; exact and version are not set then
	exact   bool   // at version, and no other
	version uint64 // not older than this; 0 means any version
	from    string // path to start at; set by a continue token
}

// readList reads the parameters of a list or a deletecollection.
func (c *call) readList() (sel *selection, o listOptions, err error) {
	if err = c.negotiate(true); err == nil {
		sel, err = c.selection()
	}
	if err == nil {
		o, err = c.listOptions(sel)
	}
	return sel, o, err
}

// listOptions reads the parameters of a list, and the shard selector of its selection.
func (c *call) listOptions(sel *selection) (o listOptions, err error) {
	version, match := c.query.Get("resourceVersion"), c.query.Get("resourceVersionMatch")
	token := c.query.Get("continue")
	limit, err := intParam(c.query, "limit")
	if err != nil {
		return o, err
	}
	if version != "0" { // a real server answers version 0 from its cache, without pages
		o.limit = max(0, int(limit))
	}
	if causes := c.checkMatch(version, match, token); len(causes) > 0 {
		return o, status.InvalidOptions("ListOptions", causes...)
	}
	if err := c.shard(sel); err != nil {
		return o, err
	}
	if version != "" {
		if o.version, err = strconv.ParseUint(version, 10, 64); err != nil {
			return o, status.BadRequest("invalid resource version: resourceVersion: Invalid value: %q: %v", version, err)
		}
	}
	if token != "" {
		if o.version != 0 {
			return o, status.BadRequest("specifying resource version is not allowed when using continue")
		}
		prefix, _ := object.Span(c.Key.Namespace)
		var at int64
		o.from, at, err = parseToken(token, prefix)
		o.version, o.exact, o.current = uint64(max(0, at)), at > 0, at < 0
		return o, err
	}
	o.current = version == ""
	o.exact = match == "Exact" || match == "" && o.limit > 0 && o.version > 0
	return o, nil
}

// checkMatch returns the causes for which a list's resourceVersionMatch is refused.
func (c *call) checkMatch(version, match, token string) (causes status.Causes) {
	const field = "resourceVersionMatch"
	if match != "" {
		causes.If(version == "", status.ForbiddenValue(field, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
		causes.If(token != "", status.ForbiddenValue(field, matchAndContinue))
		causes.If(match != "Exact" && match != "NotOlderThan", status.UnsupportedValue(field, match, "Exact", "NotOlderThan", ""))
		causes.If(match == "Exact" && version == "0", status.ForbiddenValue(field, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`))
	}
	causes.If(c.query.Has("sendInitialEvents"), status.ForbiddenValue("sendInitialEvents", "sendInitialEvents is forbidden for list"))
	return causes
}

// badVersion returns the error for a resource version that is not a number. As on a real server, the code is 500.
func badVersion(version string, err error) *status.Error {
	return status.Failure(http.StatusInternalServerError, "", "resourceVersion: Invalid value: %q: %v", version, err)
}

// matchAndContinue is the refusal of a resourceVersionMatch beside a token.
const matchAndContinue = "resourceVersionMatch is forbidden when continue is provided"

// continueToken is the position where a list goes on. It has the form that a real server uses, but clients must not
// read it.
type continueToken struct {
	V       string `json:"v"`
	Version int64  `json:"rv"` // -1 means the present version
	Path    string `json:"start"`
}

const tokenForm = "meta.k8s.io/v1"

// String returns the token of a position below a prefix of paths.
func (t continueToken) String() string {
	t.V = tokenForm
	return base64.RawURLEncoding.EncodeToString(encoded(t))
}

// parseToken reads a token for a list below a prefix of paths. A token cannot name a path outside of the prefix.
func parseToken(s, prefix string) (from string, version int64, err error) {
	bad := func(format string, args ...any) error {
		return status.BadRequest("invalid continue token: continue key is not valid: %s", fmt.Sprintf(format, args...))
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return "", 0, bad("%v", err)
	}
	var t continueToken
	if err := json.Unmarshal(b, &t); err != nil {
		return "", 0, bad("%v", err)
	}
	start := "/" + strings.TrimPrefix(t.Path, "/")
	switch {
	case t.V != tokenForm:
		return "", 0, bad("server does not recognize this encoded version %s", t.V)
	case t.Version == 0:
		return "", 0, bad("incorrect encoded start resourceVersion (version %s)", tokenForm)
	case t.Path == "":
		return "", 0, bad("encoded start key empty (version %s)", tokenForm)
	case path.Clean(start) != start:
		return "", 0, bad("%s", t.Path)
	}
	return prefix + start[1:], t.Version, nil
}
