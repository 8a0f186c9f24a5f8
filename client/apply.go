package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/patch"
)

// ApplyOptions choose what an apply does besides setting the fields of its configuration. The zero value changes
// nothing that another field manager owns.
type ApplyOptions struct {
	// Force takes ownership of fields that another manager owns and has set to another value. Without it such a field
	// is a Conflict that names the field and the manager; see apierrors.FieldConflicts.
	Force bool
	// Known is the object as the caller knows it, with metadata.managedFields, such as from an informer with
	// KeepManagedFields: a T, or any value that encodes to the object. If it proves that the apply would change
	// nothing, the apply sends nothing and returns a copy of it; see [patch.Patch.IsApplied] for the proof. A Known
	// that is nil or proves nothing has no effect.
	Known any
}

// Apply makes the object have the fields of config, and returns it as the server stored it. It creates the object if it
// does not exist. This is a server-side apply (KEP-555): the server records that the handle's
// WriteOptions.FieldManager, which must be set, owns these fields. The server removes fields that this manager applied
// before and that config now leaves out, unless another manager owns them too.
//
// So config has the fields that the caller has an opinion on, and no others. It is any value that [patch.Apply] takes
// (a struct, a map, a meta.Unstructured, a json.RawMessage), or the result of patch.Apply, to send only some paths of a
// struct. Apply sends every field that encoding/json writes, except null, and except the zero of a field tagged
// omitempty or omitzero; Ensure has the same rule. If config leaves out apiVersion, kind, name or namespace, Apply adds
// it; if config has one of them, it must match the descriptor and key. An apply of the object itself leaves out status,
// unless its paths name it; an apply of the status subresource includes it.
//
// Apply returns a [*UsageError] and sends nothing if the configuration cannot be applied. It returns a Conflict if
// another manager owns a field; see ApplyOptions.Force.
func (r Resource[T]) Apply(ctx context.Context, key meta.Key, config any, o ApplyOptions) (T, error) {
	return typed[T](r.untyped.sendApply(ctx, r.untyped.request("apply", key), config, o))
}

func (r resource) sendApply(ctx context.Context, q request, config any, o ApplyOptions) (meta.Object, error) {
	if err := r.usable(); err != nil {
		return nil, q.fail(&UsageError{Err: err})
	}
	if r.write.FieldManager == "" {
		return nil, q.fail(&UsageError{Err: errors.New("client.WriteOptions: FieldManager must be set for an apply")})
	}
	p, err := configuration(config, q.subresource)
	if err == nil {
		q.body, err = r.applyBody(q.key, p)
	}
	if err != nil {
		return nil, q.fail(&UsageError{Err: err})
	}
	if !isNil(o.Known) {
		known, err := r.known(q.key, o.Known)
		if err != nil {
			return nil, q.fail(&UsageError{Err: fmt.Errorf("client.ApplyOptions: Known: %w", err)})
		}
		if p.IsApplied(json.RawMessage(known.Raw), patch.FieldManager{Name: r.write.FieldManager, Subresource: q.subresource}) {
			obj, err := r.decodeUnchecked(known)
			return obj, q.fail(err)
		}
	}
	q.query, q.contentType = r.write.query(), p.MediaType()
	if o.Force {
		q.query.Set("force", "true")
	}
	obj, _, err := r.exchange(ctx, q)
	return obj, err
}

// configuration returns the patch for config.
func configuration(config any, subresource string) (patch.Patch, error) {
	p, ok := config.(patch.Patch)
	if !ok {
		p = patch.Apply(config)
	}
	if _, err := p.Body(); err != nil {
		return p, err
	}
	if p.MediaType() != patch.ApplyType {
		return p, fmt.Errorf("the patch must come from patch.Apply, got %s", p.MediaType())
	}
	return p, p.CheckSubresource(subresource)
}

// applyBody returns the body to send: the configuration with its kind and its key.
func (r resource) applyBody(key meta.Key, p patch.Patch) ([]byte, error) {
	body, err := p.Body()
	if err != nil {
		return nil, err
	}
	var members, metadata map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	if err := decodeMember(members, "", "metadata", "an object", &metadata); err != nil {
		return nil, err
	}
	if metadata == nil {
		metadata = map[string]json.RawMessage{}
	}
	gvk := r.gvk()
	for _, f := range []struct {
		in                    map[string]json.RawMessage
		path, name, want, why string
	}{
		{members, "", "apiVersion", gvk.APIVersion(), "descriptor"},
		{members, "", "kind", gvk.Kind, "descriptor"},
		{metadata, "metadata.", "name", key.Name, "key"},
		{metadata, "metadata.", "namespace", key.Namespace, "key"},
	} {
		var got string
		if err := decodeMember(f.in, f.path, f.name, "a string", &got); err != nil {
			return nil, err
		}
		switch {
		case got == f.want || f.want == "" && f.why == "descriptor": // a subresource may be of any kind
		case got != "":
			return nil, fmt.Errorf("%s%s must be %q, as in the %s, or be left out, got %q", f.path, f.name, f.want, f.why, got)
		default:
			if f.in[f.name], err = json.Marshal(f.want); err != nil {
				return nil, err
			}
		}
	}
	if members["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

// decodeMember decodes one member of an object, if it exists.
func decodeMember(members map[string]json.RawMessage, path, name, want string, into any) error {
	raw, found := members[name]
	if !found {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s%s must be %s: %w", path, name, want, err)
	}
	return nil
}

// known returns the JSON of the object that the caller knows.
func (r resource) known(key meta.Key, obj any) (jsonstream.Item, error) {
	body, err := r.encode(obj)
	if err != nil {
		return jsonstream.Item{}, err
	}
	item, err := jsonstream.ReadObject(bytes.NewReader(body), r.c.streamOptions(true))
	if err == nil && item.Key() != key {
		err = fmt.Errorf("the object must be %q, got %q", key, item.Key())
	}
	return item, err
}

// knownAsT is like known, for an object that the call returns instead of the server's answer. It refuses a struct of
// another type than the handle's, because that struct may lack fields that the handle's type has.
func (r resource) knownAsT(key meta.Key, obj any) (jsonstream.Item, error) {
	if t := reflect.TypeOf(obj); t != r.typ && t.Kind() != reflect.Map && !gotype.EncodesItself(t) {
		return jsonstream.Item{}, fmt.Errorf("the object must be a %s, a map or JSON, got %s", r.typ, t)
	}
	return r.known(key, obj)
}
