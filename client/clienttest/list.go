package clienttest

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/messages"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// get answers with one object.
func (c *call) get(w http.ResponseWriter) error {
	f, err := c.formOf(false)
	if err != nil {
		return err
	}
	wanted := c.query.Get("resourceVersion")
	if wanted != "" {
		version, err := strconv.ParseUint(wanted, 10, 64)
		if err != nil {
			return badVersion(wanted, err)
		}
		if err := c.replica.await(c.r.Context(), version); err != nil {
			return err
		}
	}
	v := c.read(wanted == "")
	if v == nil {
		return status.NotFound(c.res, c.Key.Name)
	}
	return c.writeObject(w, f, http.StatusOK, v)
}

// read returns an object: the present state, or that of the replica's cache.
func (c *call) read(current bool) *object.Revision {
	c.s.store.mu.Lock()
	defer c.s.store.mu.Unlock()
	objects := c.res.objects.tree
	if !current {
		objects, _ = c.replica.cached(&c.res.objects)
	}
	return objects.Get(object.PathOf(c.Key))
}

// badVersion returns the error for a resource version that is no number, which a real server does not expect either.
func badVersion(version string, err error) *status.Error {
	return status.Failure(http.StatusInternalServerError, "", "resourceVersion: Invalid value: %q: %v", version, err)
}

// listOptions are the parameters of a list.
type listOptions struct {
	limit   int
	current bool   // at the present version; exact and version are not set then
	exact   bool   // at version, and no other
	version uint64 // not older than this; 0 means whatever there is
	from    string // path to start at; set by a continue token
}

// continueToken is the position where a list goes on. It has the form that a real server uses, but clients must not read it.
type continueToken struct {
	V       string `json:"v"`
	Version int64  `json:"rv"` // -1 means the present version
	Start   string `json:"start"`
}

const tokenForm = "meta.k8s.io/v1"

func (t continueToken) String() string {
	t.V = tokenForm
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return base64.RawURLEncoding.EncodeToString(b)
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
	start := "/" + strings.TrimPrefix(t.Start, "/")
	switch {
	case t.V != tokenForm:
		return "", 0, bad("server does not recognize this encoded version %s", t.V)
	case t.Version == 0:
		return "", 0, bad("incorrect encoded start resourceVersion (version %s)", tokenForm)
	case t.Start == "":
		return "", 0, bad("encoded start key empty (version %s)", tokenForm)
	case path.Clean(start) != start:
		return "", 0, bad("%s", t.Start)
	}
	return prefix + start[1:], t.Version, nil
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
	var causes []meta.StatusCause
	add := func(cause meta.StatusCause) { causes = append(causes, cause) }
	if match != "" {
		const field = "resourceVersionMatch"
		if version == "" {
			add(status.ForbiddenValue(field, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
		}
		if token != "" {
			add(status.ForbiddenValue(field, "resourceVersionMatch is forbidden when continue is provided"))
		}
		if match != "Exact" && match != "NotOlderThan" {
			add(status.UnsupportedValue(field, match, "Exact", "NotOlderThan", ""))
		}
		if match == "Exact" && version == "0" {
			add(status.ForbiddenValue(field, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`))
		}
	}
	if c.query.Has("sendInitialEvents") {
		add(status.ForbiddenValue("sendInitialEvents", "sendInitialEvents is forbidden for list"))
	}
	if len(causes) > 0 {
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
		from, at, err := parseToken(token, prefix)
		if err != nil {
			return o, err
		}
		o.from, o.version, o.exact, o.current = from, uint64(max(0, at)), at > 0, at < 0
		return o, nil
	}
	o.current = version == ""
	o.exact = match == "Exact" || match == "" && o.limit > 0 && o.version > 0
	return o, nil
}

// page is a part of a list.
type page struct {
	items     []*object.Revision
	version   uint64 // of the list
	next      string // continue token
	remaining int    // how many objects come after this page; -1 is unknown
	shard     string // the shard selector that was applied
}

// page selects the objects of a list's page.
func (c *call) page(sel *selection, o listOptions) (*page, error) {
	await := c.replica.await
	if o.exact {
		await = c.s.await // the store has it, even if the cache does not
	}
	if err := await(c.r.Context(), o.version); err != nil {
		return nil, err
	}
	st := c.s.store
	st.mu.Lock()
	objects, version := c.res.objects.tree, st.version
	if !o.current && !o.exact {
		objects, version = c.replica.cached(&c.res.objects)
	}
	old := o.exact && o.version < st.oldest(&c.res.objects)
	if o.exact && !old {
		objects, version = c.res.objects.snapshot(o.version), o.version
	}
	st.mu.Unlock()
	if old {
		return nil, c.tooOld(o)
	}

	from, to := object.Span(c.Key.Namespace)
	prefix := from
	if o.from != "" {
		from = o.from
	}
	p := &page{version: version, remaining: -1}
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
		p.next = continueToken{Version: int64(version), Start: "/" + strings.TrimPrefix(last, prefix)}.String()
		if sel.everything() {
			p.remaining = rest
		}
	}
	return p, nil
}

// tooOld returns the error for a list whose version is gone. For a later page, the error has a token that goes on regardless.
func (c *call) tooOld(o listOptions) error {
	if o.from == "" {
		return status.Expired("The resourceVersion for the provided list is too old.")
	}
	err := status.Expired("The provided continue parameter is too old to display a consistent list result. You can start a new " +
		"list without the continue parameter, or use the continue token in this response to retrieve the remainder of " +
		"the results. Continuing with the provided token results in an inconsistent list - objects that were created, " +
		"modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	prefix, _ := object.Span(c.Key.Namespace)
	err.Status.Continue = continueToken{Version: -1, Start: "/" + strings.TrimPrefix(o.from, prefix)}.String()
	return err
}

func (c *call) list(w http.ResponseWriter) error {
	f, err := c.formOf(true)
	if err != nil {
		return err
	}
	sel, err := c.selection()
	if err != nil {
		return err
	}
	o, err := c.listOptions(sel)
	if err != nil {
		return err
	}
	p, err := c.page(sel, o)
	if err != nil {
		return err
	}
	for i, v := range p.items {
		p.items[i] = c.shown(v)
	}
	return c.writeList(w, f, p)
}

// writeList writes a page, in the member order of a real server: compiled-in types write metadata before the items,
// custom ones after.
func (c *call) writeList(w http.ResponseWriter, f form, p *page) error {
	if f == asTable {
		return c.writeTable(w, p)
	}
	head, tail := c.listFrame(f, p)
	item := func(v *object.Revision) (string, []byte) { return v.Item(&c.res.Type) }
	if f == asMetadata {
		start := c.partialStart()
		item = func(v *object.Revision) (string, []byte) { return start, v.Metadata() }
	}
	if c.media == mediaProtobuf {
		return c.writeProtobufList(w, f, p, head+tail)
	}
	size := len(head) + len(tail)
	for _, v := range p.items {
		open, rest := item(v)
		size += len(open) + len(rest) + 1
	}
	h := w.Header()
	h.Set("Cache-Control", "no-cache, private")
	h.Set("Content-Type", mediaJSON)
	out, finish := c.s.compressed(w, c.r, size)
	defer finish()
	b := bufio.NewWriterSize(out, 32<<10)
	_, _ = b.WriteString(head)
	for i, v := range p.items {
		if i > 0 {
			_ = b.WriteByte(',')
		}
		open, rest := item(v)
		_, _ = b.WriteString(open)
		_, _ = b.Write(rest)
		if f == asMetadata {
			_ = b.WriteByte('}')
		}
	}
	_, _ = b.WriteString(tail)
	_ = b.Flush() // ignored: the client may have gone
	return nil
}

// writeProtobufList writes a page in protobuf. list is its JSON without items.
func (c *call) writeProtobufList(w http.ResponseWriter, f form, p *page, list string) error {
	apiVersion, kind := c.listKind(f)
	l, err := messages.NewList([]byte(list), apiVersion, kind)
	if err != nil {
		return err
	}
	var partial []byte
	for _, v := range p.items {
		item := v.Raw
		if f == asMetadata {
			partial = append(append(append(partial[:0], c.partialStart()...), v.Metadata()...), '}')
			item = partial
		}
		if err := l.Add(item); err != nil {
			return err
		}
	}
	writeBody(w, http.StatusOK, mediaProtobuf, l.Envelope())
	return nil
}

// listKind returns the apiVersion and the kind of a list.
func (c *call) listKind(f form) (apiVersion, kind string) {
	if f == asMetadata {
		return c.metaVersion(), "PartialObjectMetadataList"
	}
	return c.res.GVK().APIVersion(), c.res.Kind + "List"
}

// listFrame returns the text of a list before and after its items.
func (c *call) listFrame(f form, p *page) (head, tail string) {
	apiVersion, kind := c.listKind(f)
	version := fmt.Sprintf(`"resourceVersion":"%d"`, p.version)
	remaining := ""
	if p.remaining >= 0 {
		remaining = fmt.Sprintf(`,"remainingItemCount":%d`, p.remaining)
	}
	if c.res.Builtin || f == asMetadata {
		if p.next != "" {
			version += fmt.Sprintf(`,"continue":%q`, p.next)
		}
		if p.shard != "" && f != asMetadata { // a real server loses it where it converts the list
			remaining += fmt.Sprintf(`,"shardInfo":{"selector":%q}`, p.shard)
		}
		head = fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{%s%s},"items":[`, kind, apiVersion, version, remaining)
		return head, "]}\n"
	}
	return fmt.Sprintf(`{"apiVersion":%q,"items":[`, apiVersion),
		fmt.Sprintf(`],"kind":%q,"metadata":{"continue":%q%s,%s}}`+"\n", kind, p.next, remaining, version)
}

// writeObject writes one object in the wanted form.
func (c *call) writeObject(w http.ResponseWriter, f form, code int, v *object.Revision) error {
	v = c.shown(v)
	switch f {
	case asTable:
		t, err := c.table([]*object.Revision{v}, meta.ListMeta{ResourceVersion: strconv.FormatUint(v.Version, 10)}, true)
		if err != nil {
			return err
		}
		writeJSON(w, code, t)
	case asMetadata:
		writeBody(w, code, mediaJSON, fmt.Appendf(nil, "%s%s}\n", c.partialStart(), v.Metadata()))
	default:
		c.s.writeRaw(w, c.r, code, v.Raw)
	}
	return nil
}

func (s *Server) writeRaw(w http.ResponseWriter, r *http.Request, code int, raw []byte) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache, private")
	h.Set("Content-Type", mediaJSON)
	out, finish := s.compressed(w, r, len(raw))
	defer finish()
	if h.Get("Content-Encoding") == "" {
		h.Set("Content-Length", strconv.Itoa(len(raw)+1))
	}
	w.WriteHeader(code)
	_, _ = out.Write(raw)
	_, _ = io.WriteString(out, "\n") // ignored: the client may have gone
}
