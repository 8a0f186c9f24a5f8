package clienttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// mediaApply is the media type of a server-side apply.
const mediaApply = "application/apply-patch+yaml"

// patchMedia returns the media type of a patch, which must be one that the resource takes.
func (c *call) patchMedia() (string, error) {
	media, _, _ := strings.Cut(c.r.Header.Get("Content-Type"), ";")
	accepted := []string{patch.JSONType, patch.MergeType, patch.StrategicType, mediaApply}
	if !c.res.builtin {
		accepted = slices.Delete(accepted, 2, 3)
	}
	switch {
	case slices.Contains(accepted, media):
		return media, nil
	case c.res.builtin:
		return "", status.Failure(http.StatusUnsupportedMediaType, "UnsupportedMediaType", "415: Unsupported Media Type").
			With(meta.StatusDetails{})
	}
	return "", status.UnsupportedMediaType(accepted...)
}

// patch answers a patch of an object, or of a part of it.
func (c *call) patch(w http.ResponseWriter) error {
	media, err := c.patchMedia()
	if err != nil {
		return err
	}
	f, err := c.formOf(false)
	if err != nil {
		return err
	}
	body, err := bodyOf(c.r)
	if err != nil {
		return err
	}
	o, err := c.patchOptions(media, body)
	if err != nil {
		return err
	}
	if media == mediaApply {
		v, code, err := c.apply(w, body, o)
		if err != nil {
			return err
		}
		return c.writeObject(w, f, code, v)
	}
	v, err := c.change(w, media, body, o)
	if err != nil {
		return err
	}
	return c.writeObject(w, f, http.StatusOK, v)
}

// checkSyntax refuses a patch that cannot be written to an audit log, which is JSON. A real server does so before it looks for the
// object. It takes an apply that begins with a brace for JSON without looking further.
func checkSyntax(media string, body []byte) error {
	switch {
	case media != mediaApply && !json.Valid(body):
		return status.BadRequest("invalid JSON patch")
	case media == mediaApply && !bytes.HasPrefix(bytes.TrimLeftFunc(body, unicode.IsSpace), []byte("{")):
		if _, _, err := jsontree.ParseYAML(body); err != nil {
			return status.BadRequest("error encoding patch: %v", err)
		}
	}
	return nil
}

// change applies a patch to an object's present state. A resource version in the result is a precondition.
func (c *call) change(w http.ResponseWriter, media string, body []byte, o writeOptions) (*revision, error) {
	c.s.store.mu.Lock()
	defer c.s.store.mu.Unlock()
	cur := c.res.objects.tree.get(pathOf(c.Key))
	if cur == nil {
		return nil, status.NotFound(c.res, c.Key.Name)
	}
	p, err := c.applied(media, cur.raw, body, c.res.GVK())
	if err != nil {
		return nil, err
	}
	d, err := c.patchedDraft(w, p)
	if err != nil {
		return nil, err
	}
	if err := c.checkNamespace(d); err != nil {
		return nil, err
	}
	if err := c.checkName(d.meta.Name); err != nil {
		return nil, err
	}
	d.uniteOwners(w, "duplicate entries after mutating admission happens")
	old := cur.draft()
	v, err := c.replace(cur, old, d, o)
	if err == nil && c.Subresource == "" {
		c.warnFinalizers(w, d.meta.Finalizers, old.meta.Finalizers)
	}
	return v, err
}

// patchedDraft reads the object that a patch makes.
func (c *call) patchedDraft(w http.ResponseWriter, p applied) (*draft, error) {
	d, err := parseDraft(p.doc)
	known := c.res.shape()
	if err == nil && c.res.builtin && d.apiVersion == "" {
		known, d.meta = schema.Nameless(), meta.ObjectMeta{}
	}
	if err == nil {
		err = c.checkKind(d, p.doc)
	}
	if err == nil {
		err = d.normalize(c.res)
	}
	var bad *decodeError
	if errors.As(err, &bad) {
		return nil, p.invalid(bad)
	}
	if err != nil {
		return nil, err
	}
	if known != nil && p.value != nil && known.Knows(p.value) {
		known.Prune(d.content)
		return d, p.report(c, w, nil)
	}
	return d, p.report(c, w, c.unknown(p.doc, d, known))
}

// applied is what a patch has made of a document.
type applied struct {
	doc    []byte
	value  any             // the same, where it is at hand; no member is there twice
	wrong  []string        // what a strict server says about the members of the patch
	sorted bool            // and whether it sorts what it says about those of the document
	shown  string          // what it shows in an error
	before []byte          // of a merge patch, which shows in place of shown: the document,
	merged jsontree.Object // and what was merged into it
}

// invalid is a patch that makes of an object what cannot be read.
func (p applied) invalid(why error) error {
	if p.merged != nil {
		object, _ := p.value.(jsontree.Object)
		p.shown = string(appendMerged(nil, p.before, object, p.merged))
	}
	return status.Invalid("", "", "", []meta.StatusCause{status.InvalidValue("patch", p.shown, why.Error())})
}

// report does what fieldValidation says about members: of the patch, and of what it has made.
func (p applied) report(c *call, w http.ResponseWriter, unknown []string) error {
	if p.sorted {
		slices.Sort(unknown)
	}
	if err := c.report(w, slices.Concat(p.wrong, unknown)); err != nil {
		return p.invalid(err)
	}
	return nil
}

// applied applies a patch to the JSON of an object of a kind.
func (c *call) applied(media string, doc, body []byte, kind meta.GVK) (applied, error) {
	lenient := c.query.Get("fieldValidation") == "Ignore"
	switch media {
	case patch.JSONType:
		return jsonApplied(doc, body, lenient)
	case patch.MergeType:
		return mergeApplied(doc, body, lenient)
	}
	return strategicApplied(doc, body, kind)
}

func jsonApplied(doc, body []byte, lenient bool) (applied, error) {
	v, err := jsontree.Parse(body)
	if err == nil && !lenient {
		err = notOperations(v, "[]handlers.jsonPatchOp", "handlers.jsonPatchOp", "op", "path", "from")
	}
	if err != nil {
		return applied{}, status.BadRequest("error decoding patch: %v", err)
	}
	if err := notOperations(v, "jsonpatch.Patch", "jsonpatch.Operation"); err != nil {
		return applied{}, status.BadRequest("%v", err)
	}
	var loose []map[string]json.RawMessage
	if err := json.Unmarshal(body, &loose); err != nil {
		return applied{}, err
	}
	if len(loose) > maxOperations {
		return applied{}, status.Failure(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			"Request entity too large: The allowed maximum operations in a JSON patch is %d, got %d", maxOperations, len(loose))
	}
	operations := make([]*operation, 0, len(loose))
	for _, members := range loose {
		o := &operation{Value: members["value"]}
		for name, into := range map[string]**string{"op": &o.Op, "path": &o.Path, "from": &o.From} {
			if json.Unmarshal(members[name], into) != nil {
				*into = nil
			}
		}
		operations = append(operations, o)
	}
	result, err := jsonPatched(doc, operations)
	if err != nil {
		return applied{}, status.Failure(http.StatusUnprocessableEntity, "Invalid",
			"the server rejected our request due to an error in our request").With(meta.StatusDetails{})
	}
	p := applied{doc: result, shown: string(result)}
	for _, text := range schema.FieldErrors(body, schema.JSONPatch()) {
		p.wrong = append(p.wrong, "json patch "+text)
	}
	return p, nil
}

// notOperations says why JSON is not a list of operations whose named members are texts. A server gives the words of
// encoding/json, with the names of its own types; they are written here because each release of Go has others.
func notOperations(v any, list, item string, texts ...string) error {
	if v == nil {
		return nil
	}
	items, isList := v.([]any)
	if !isList {
		return fmt.Errorf("json: cannot unmarshal %s into Go value of type %s", jsontree.KindOf(v), list)
	}
	for _, v := range items {
		operation, isObject := v.(jsontree.Object)
		if !isObject && v != nil {
			return fmt.Errorf("json: cannot unmarshal %s into Go value of type %s", jsontree.KindOf(v), item)
		}
		for _, name := range texts {
			if _, isText := operation[name].(string); !isText && operation[name] != nil {
				_, of, _ := strings.Cut(item, ".")
				return fmt.Errorf("json: cannot unmarshal %s into Go struct field %s.%s of type string", jsontree.KindOf(operation[name]), of, name)
			}
		}
	}
	return nil
}

func mergeApplied(doc, body []byte, lenient bool) (applied, error) {
	v, err := jsontree.Parse(body)
	change, isObject := v.(jsontree.Object)
	_, isList := v.([]any)
	switch {
	case isObject:
	case lenient && isList:
		return applied{doc: body, shown: string(body)}, nil // which cannot be read as an object
	case lenient, err == nil && v == nil:
		return applied{}, status.BadRequest("Invalid JSON Patch")
	default:
		return applied{}, status.BadRequest("error decoding patch: %v", notAnObject(v, err))
	}
	whole, err := jsontree.Parse(doc)
	if err != nil {
		return applied{}, err
	}
	target, _ := whole.(jsontree.Object)
	mergeMembers(target, change)
	result := jsontree.Append(nil, target)
	return applied{doc: result, value: target, wrong: schema.Duplicates(body), before: doc, merged: change}, nil
}

// appendMerged writes what a merge patch has made of a document as a real server shows it: the objects that it went through
// have their members in the order of the names, and all else is as it was.
func appendMerged(b, before []byte, after, change jsontree.Object) []byte {
	var was map[string]json.RawMessage
	jsontree.MustDecode(before, &was)
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(after)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsontree.AppendString(b, name), ':')
		inner, changed := change[name]
		object, isObject := after[name].(jsontree.Object)
		deeper, isMerged := inner.(jsontree.Object)
		switch {
		case !changed:
			b = append(b, was[name]...)
		case isObject && isMerged && bytes.HasPrefix(was[name], []byte("{")):
			b = appendMerged(b, was[name], object, deeper)
		default:
			b = jsontree.Append(b, after[name])
		}
	}
	return append(b, '}')
}

// notAnObject says why a body that has to be an object is none.
func notAnObject(v any, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("json: cannot unmarshal %s into Go value of type map[string]interface {}", jsontree.KindOf(v))
}

// mergeMembers applies a merge patch as a real server does, which drops nulls also from the objects in new lists.
func mergeMembers(into, change jsontree.Object) {
	for k, v := range change {
		was, wasObject := into[k].(jsontree.Object)
		now, isObject := v.(jsontree.Object)
		switch {
		case v == nil:
			delete(into, k)
		case wasObject && isObject:
			mergeMembers(was, now)
		case wasObject:
			into[k] = v
		default:
			dropNulls(v)
			into[k] = v
		}
	}
}

func dropNulls(v any) {
	switch v := v.(type) {
	case jsontree.Object:
		maps.DeleteFunc(v, func(_ string, v any) bool { return v == nil })
		for _, v := range v {
			dropNulls(v)
		}
	case []any:
		for _, v := range v {
			dropNulls(v)
		}
	}
}

func strategicApplied(doc, body []byte, kind meta.GVK) (applied, error) {
	v, err := jsontree.Parse(body)
	change, isObject := v.(jsontree.Object)
	switch {
	case err == nil && v == nil:
		change, body = jsontree.Object{}, []byte("{}")
	case !isObject:
		return applied{}, status.BadRequest("%v", notAnObject(v, err))
	}
	strategy, err := schema.Builtin().Strategy(kind)
	if err != nil {
		return applied{}, err
	}
	result, err := patch.ApplyStrategic(doc, body, strategy)
	var wrong *patch.StrategicError
	switch {
	case errors.As(err, &wrong) && (errors.Is(err, patch.ErrRetainKeys) || strings.HasSuffix(wrong.Path, "/$retainKeys")):
		return applied{}, status.BadRequest("invalid patch format of retainKeys")
	case err != nil:
		return applied{}, status.Failure(http.StatusInternalServerError, "", "%v", err)
	}
	v, err = jsontree.Parse(result)
	object, isObject := v.(jsontree.Object)
	if err != nil || !isObject {
		return applied{}, status.Failure(http.StatusInternalServerError, "", "a strategic merge patch makes %s", result)
	}
	// A real server reads the result as of this kind, whatever it says.
	for name, is := range map[string]string{"kind": kind.Kind, "apiVersion": kind.APIVersion()} {
		if v, isText := object[name].(string); v != is && (isText || object[name] == nil) {
			object[name] = is
		}
	}
	return applied{
		doc: jsontree.Append(nil, object), value: object, wrong: schema.Duplicates(body), sorted: true, shown: fmt.Sprintf("%+v", jsontree.GoValue(change)),
	}, nil
}
