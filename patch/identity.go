package patch

import (
	"bytes"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/patch/strategic"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// CheckKey returns an error, which is [ErrMalformed], if the patch cannot be meant for the object with the key. No
// patch can do any of these:
//
//   - give metadata.name or metadata.namespace another value;
//   - remove the name, alone or with the object that contains it;
//   - give metadata.uid a value that is not a string.
//
// If the patch could not be built, CheckKey returns the error of [Patch.Body]. It does not see which values a JSON
// patch moves or copies to these places. It cannot compare uids, because the key has none: the server answers Invalid
// to a patch that changes it.
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
			return &opError{i, o.op, o.path, err}
		}
	}
	return nil
}

// checkPart checks the new value of a place in the object; null means that the patch removes it. If whole is set, the
// value replaces the present one, so it must contain the name.
func checkPart(n *tree.Node, pointer string, key meta.Key, whole bool) error {
	switch pointer {
	case "", "/metadata":
		if n.Kind() != '{' {
			if pointer == "" {
				return nil // the value is not an object; the server's answer says so
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
		if kind := n.Kind(); kind != '"' && kind != 'n' { // the server ignores null and restores the uid
			return malformed("metadata.uid must stay a string: no patch can change it")
		}
	case "/metadata/name":
		if n.Kind() != '"' || string(n.Unquoted()) != key.Name {
			return nameMustStay(key)
		}
	case "/metadata/namespace":
		if n.Kind() == 'n' || n.Kind() == '"' && len(n.Unquoted()) == 0 {
			return nil // the server restores it
		}
		if n.Kind() != '"' || string(n.Unquoted()) != key.Namespace {
			return malformed("metadata.namespace must stay %s, which no patch can change", tree.Quote(key.Namespace))
		}
	}
	return nil
}

func nameMustStay(key meta.Key) error {
	return malformed("metadata.name must stay %s, which no patch can change", tree.Quote(key.Name))
}

// sameIdentity returns an error if the change sets another name, namespace or uid, or removes one and keeps metadata.
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
			return malformed("metadata.%s differs between old and new, but no patch can change it", name)
		}
	}
	return nil
}
