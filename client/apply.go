package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
)

// applyType is the media type of a server-side apply. JSON is YAML too.
const applyType = "application/apply-patch+yaml"

// ApplyOptions choose what an apply does beside what its configuration says. The zero value changes nothing that another
// field manager owns.
type ApplyOptions struct {
	// Force takes fields over that another manager owns and has set to another value. Without it such a field is a Conflict
	// that names it; see apierrors.CauseFieldManagerConflict.
	Force bool
}

// Apply makes the object have the fields of config, and returns it as the server stored it; it creates the object if there is
// none. That is a server-side apply (KEP-555): the server remembers that the handle's WriteOptions.FieldManager, which must be
// set, owns these fields, and those that it applied before and that config leaves out now are removed, unless somebody else
// owns them too.
//
// So config has the fields that the caller has an opinion on, and no others. It may be a map, a json.RawMessage, or a struct
// whose fields vanish from its JSON where they are not meant: a zero that does not is an opinion. It encodes to a JSON object,
// to which apiVersion, kind, name and namespace are added where it leaves them out; where it says them they must be those of
// the descriptor and of key. It must not have metadata.managedFields. What is not so is a [*UsageError], and nothing is sent.
func (r Resource[T]) Apply(ctx context.Context, key meta.Key, config any, o ApplyOptions) (T, error) {
	return r.sendApply(ctx, r.request("apply", key), config, o)
}

func (r Resource[T]) sendApply(ctx context.Context, q request, config any, o ApplyOptions) (T, error) {
	var none T
	if err := r.usable(); err != nil {
		return none, q.fail(&UsageError{Err: err})
	}
	if r.write.FieldManager == "" {
		return none, q.fail(&UsageError{Err: errors.New("client.WriteOptions: FieldManager must be set for an apply")})
	}
	body, err := r.applyBody(q.key, config)
	if err != nil {
		return none, q.fail(&UsageError{Err: err})
	}
	q.query, q.contentType, q.body = r.write.query(), applyType, body
	if o.Force {
		q.query.Set("force", "true")
	}
	obj, _, err := r.exchange(ctx, q)
	return obj, err
}

// applyBody returns config as it is sent: with its kind and its key.
func (r Resource[T]) applyBody(key meta.Key, config any) ([]byte, error) {
	body, err := r.encode(config)
	if err != nil {
		return nil, err
	}
	var members, metadata map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, fmt.Errorf("encode %T: %w", config, err)
	}
	if err := decodeMember(members, "metadata", &metadata); err != nil {
		return nil, err
	}
	if metadata == nil {
		metadata = map[string]json.RawMessage{}
	}
	if managed := string(metadata["managedFields"]); managed != "" && managed != "null" {
		return nil, errors.New("metadata.managedFields must be left out of a configuration that is applied")
	}
	for _, f := range []struct{ name, want string }{{"name", key.Name}, {"namespace", key.Namespace}} {
		var got string
		if err := decodeMember(metadata, f.name, &got); err != nil {
			return nil, fmt.Errorf("metadata.%w", err)
		}
		switch {
		case got == f.want:
		case got != "":
			return nil, fmt.Errorf("metadata.%s must be %q, as in the key, or be left out, got %q", f.name, f.want, got)
		default:
			if metadata[f.name], err = json.Marshal(f.want); err != nil {
				return nil, err
			}
		}
	}
	if members["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

// decodeMember decodes one member of an object, if it is there.
func decodeMember(members map[string]json.RawMessage, name string, into any) error {
	raw, found := members[name]
	if !found {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s must be of another JSON type: %w", name, err)
	}
	return nil
}
