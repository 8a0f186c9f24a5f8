package clienttest

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

func (c *call) patch(w http.ResponseWriter) error {
	body, media, err := readBody(c.r, mediaMergePatch, mediaApplyPatch)
	if err != nil {
		return err
	}
	f, err := formOf(c.r, false)
	if err != nil {
		return err
	}
	o, err := c.writeOptions("PatchOptions")
	if err != nil {
		return err
	}
	if media == mediaApplyPatch {
		v, code, err := c.apply(w, body, o)
		if err != nil {
			return err
		}
		return c.writeObject(w, f, code, v)
	}
	v, err := c.merge(w, body, o)
	if err != nil {
		return err
	}
	return c.writeObject(w, f, http.StatusOK, v)
}

// merge applies a merge patch to an object's present state. A resource version in the patch is a precondition.
func (c *call) merge(w http.ResponseWriter, body []byte, o writeOptions) (*revision, error) {
	p, err := parseJSON(body)
	if err == nil {
		if _, ok := p.(members); !ok {
			err = fmt.Errorf("json: cannot unmarshal %s into an object", jsonKind(p))
		}
	}
	if err != nil {
		return nil, badRequest("error decoding patch: %v", err)
	}
	c.s.store.mu.Lock()
	defer c.s.store.mu.Unlock()
	cur := c.res.objects.tree.get(pathOf(c.Key))
	if cur == nil {
		return nil, notFound(c.res, c.Key.Name)
	}
	whole, err := parseJSON(cur.raw)
	if err != nil {
		return nil, err
	}
	merged := appendValue(nil, patch.MergeValue(whole, p))
	d, err := parseDraft(merged)
	if err == nil {
		err = c.checkKind(d, body)
	}
	if err == nil {
		err = d.normalize(c.res)
	}
	var bad *decodeError
	if errors.As(err, &bad) {
		return nil, invalidPatch(merged, bad)
	}
	if err != nil {
		return nil, err
	}
	if err := c.strict(w, body); err != nil {
		return nil, invalidPatch(merged, err)
	}
	if err := c.checkName(d); err != nil {
		return nil, err
	}
	if err := c.checkNamespace(d); err != nil {
		return nil, err
	}
	return c.replace(cur, cur.draft(), d, o)
}

// invalidPatch is one that makes of an object what cannot be read.
func invalidPatch(merged []byte, why error) error {
	return invalid("", "", "", []meta.StatusCause{invalidValue("patch", string(merged), why.Error())})
}
