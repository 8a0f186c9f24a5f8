package clienttest

import (
	"net/http"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// listOptions are the parameters of a list.
type listOptions struct {
	limit   int
	current bool   // at the present version; exact and version are not set then
	exact   bool   // at version, and no other
	version uint64 // not older than this; 0 means whatever there is
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
func (c *call) checkMatch(version, match, token string) (causes []meta.StatusCause) {
	const field = "resourceVersionMatch"
	if match != "" {
		if version == "" {
			causes = append(causes, status.ForbiddenValue(field, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
		}
		if token != "" {
			causes = append(causes, status.ForbiddenValue(field, matchAndContinue))
		}
		if match != "Exact" && match != "NotOlderThan" {
			causes = append(causes, status.UnsupportedValue(field, match, "Exact", "NotOlderThan", ""))
		}
		if match == "Exact" && version == "0" {
			causes = append(causes, status.ForbiddenValue(field, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`))
		}
	}
	if c.query.Has("sendInitialEvents") {
		causes = append(causes, status.ForbiddenValue("sendInitialEvents", "sendInitialEvents is forbidden for list"))
	}
	return causes
}

// badVersion returns the error for a resource version that is no number, which a real server does not expect either.
func badVersion(version string, err error) *status.Error {
	return status.Failure(http.StatusInternalServerError, "", "resourceVersion: Invalid value: %q: %v", version, err)
}

// matchAndContinue is the refusal of a resourceVersionMatch beside a token.
const matchAndContinue = "resourceVersionMatch is forbidden when continue is provided"
