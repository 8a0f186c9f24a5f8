package patch

import (
	"bytes"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/patch/strategic"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// CheckKey returns an error, which is [ErrMalformed], if the patch cannot be meant for the object of that key: it gives
// metadata.name or metadata.namespace another value, or removes the name, alone or with what it is in, or gives metadata.uid a
// value that is no string. No patch can do that. A patch that could not be built has the error of [Patch.Body].
//
// What a JSON patch moves or copies to such a place is not known here and not an error. Nor is a uid, as the key does not have
// it: of a patch that sets another one than the object has the server says Invalid.
func (p Patch) CheckKey(key meta.Key) error {
	body, err := p.Body()
	if err != nil {
		return err
	}
	s, err := tree.Read("the patch", body)
	if err != nil {
		return fmt.Errorf("patch: %w", err)
	}
	if p.mediaType != JSONType {
		root := s.Root()
		err := checkPart(&root, "", key, false)
		if err == nil && p.mediaType == StrategicType && strategic.RemovesName(&root) {
			err = nameMustStay(key)
		}
		if err != nil {
			return fmt.Errorf("patch: %w", err)
		}
		return nil
	}
	steps, err := parseSteps(s)
	if err != nil {
		return err
	}
	for i := range steps {
		o, gone := &steps[i], tree.Absent()
		switch o.op {
		case "add", "replace":
			err = checkPart(&o.raw, o.path, key, true)
		case "remove":
			err = checkPart(&gone, o.path, key, true)
		case "move":
			err = checkPart(&gone, o.from, key, true)
		}
		if err != nil {
			return &OpError{i, o.op, o.path, err}
		}
	}
	return nil
}

// checkPart checks what is to be at a place of the object; null is nothing. With whole it takes the place of what is there, so
// that the name must be in it.
func checkPart(n *tree.Node, pointer string, key meta.Key, whole bool) error {
	switch pointer {
	case "", "/metadata":
		if n.Kind() != '{' {
			if pointer == "" {
				return nil // no object at all; the server says so
			}
			return malformed("metadata must stay an object")
		}
		b := n.Open()
		above := map[string]string{"": "metadata", "/metadata": "name"}[pointer]
		if gone := tree.Absent(); whole && b.Find(above) < 0 {
			return checkPart(&gone, "/metadata/name", key, whole)
		}
		for i := range b.Members {
			if m := &b.Members[i]; !m.Gone {
				if err := checkPart(&m.Value, pointer+Pointer(string(m.Name)), key, whole); err != nil {
					return err
				}
			}
		}
	case "/metadata/uid":
		if kind := n.Kind(); kind != '"' && kind != 'n' { // null is nothing to the server, which puts it there again
			return malformed("metadata.uid must stay what it is, a string, which no patch can change")
		}
	case "/metadata/name":
		if n.Kind() != '"' || string(n.Unquoted()) != key.Name {
			return nameMustStay(key)
		}
	case "/metadata/namespace":
		if n.Kind() == 'n' || n.Kind() == '"' && len(n.Unquoted()) == 0 {
			return nil // the server puts it there again
		}
		if n.Kind() != '"' || string(n.Unquoted()) != key.Namespace {
			return malformed("metadata.namespace must stay %s, which no patch can change", quote(key.Namespace))
		}
	}
	return nil
}

func nameMustStay(key meta.Key) error {
	return malformed("metadata.name must stay %s, which no patch can change", quote(key.Name))
}

// sameIdentity returns an error if the change is one of what makes the object this one.
func sameIdentity(a, b *tree.Node) error {
	i, j := a.Open().Find("metadata"), b.Open().Find("metadata")
	if i < 0 || j < 0 {
		return nil
	}
	was, is := &a.Open().Members[i].Value, &b.Open().Members[j].Value
	if was.Kind() != '{' || is.Kind() != '{' || bytes.Equal(was.Text(), is.Text()) {
		return nil
	}
	for _, name := range [...]string{"name", "namespace", "uid"} {
		i, j := was.Open().Find(name), is.Open().Find(name)
		if i < 0 {
			continue
		}
		from := was.Open().Members[i].Value
		if text := string(from.Text()); text == `""` || text == "null" {
			continue
		}
		if j < 0 || !tree.Same(&from, &is.Open().Members[j].Value) {
			return malformed("metadata.%s is not the same in old and new, and no patch can change it", name)
		}
	}
	return nil
}
