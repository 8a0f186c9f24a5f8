package clienttest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/recording"
	"github.com/bowline-go/bowline/client/meta"
)

// recordedObject is an object as the server sent it.
type recordedObject struct {
	meta.Identity `json:"metadata"`
	raw           []byte
}

// UnmarshalJSON keeps the bytes. The client reads the identity from them itself.
func (o *recordedObject) UnmarshalJSON(b []byte) error {
	o.raw = bytes.Clone(b)
	return nil
}

// withKind returns an object in compact form, with its kind, which servers leave out of the items of lists.
func withKind(res *recording.Resource, raw []byte) (json.RawMessage, error) {
	var text bytes.Buffer
	if err := json.Compact(&text, raw); err != nil {
		return nil, err
	}
	var has struct{ Kind, APIVersion string }
	if err := json.Unmarshal(raw, &has); err != nil {
		return nil, err
	}
	if has.Kind != "" && has.APIVersion != "" {
		return text.Bytes(), nil
	}
	head := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,`, res.Kind, res.GVK().APIVersion())
	return append([]byte(head), text.Bytes()[1:]...), nil
}

// changed returns an object after its secrets have been replaced and Change has seen it.
func (r *recordRun) changed(res *recording.Resource, text []byte, secret bool) (json.RawMessage, error) {
	v, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	tree, ok := v.(jsontree.Object)
	if !ok {
		return nil, fmt.Errorf("it must be an object, got %s", jsontree.KindOf(v))
	}
	if secret {
		r.redactor.Secret(tree)
	}
	if r.o.Change == nil {
		return jsontree.Append(nil, tree), nil
	}
	u := &meta.Unstructured{}
	if err := u.UnmarshalJSON(jsontree.Append(nil, tree)); err != nil {
		return nil, err
	}
	before := identityOf(u)
	r.o.Change(u)
	if now := identityOf(u); now != before {
		return nil, fmt.Errorf("clienttest.RecordOptions: Change must not change the identity of an object: it was %v, and "+
			"is %v", before, now)
	}
	return u.MarshalJSON()
}

// unchangeable has the parts of an object that Change must keep.
type unchangeable struct {
	kind          meta.GVK
	key           meta.Key
	uid, revision string
}

func identityOf(u *meta.Unstructured) unchangeable {
	return unchangeable{u.GVK(), meta.KeyOf(u), u.GetUID(), u.GetResourceVersion()}
}
