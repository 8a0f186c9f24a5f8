package debug

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/shown"
)

// objectView is the page of one object of a cache.
type objectView struct {
	At       time.Time      `json:"at"`
	Cache    string         `json:"cache"`
	Key      string         `json:"key"`
	UID      string         `json:"uid,omitempty"`
	Version  string         `json:"resourceVersion,omitempty"`
	Redacted bool           `json:"redacted"`
	Object   map[string]any `json:"object"`
	text     string
	cut      int // bytes of text that are not shown
}

// mostText is how many bytes of an object are on its page.
const mostText = 512 << 10

func (p *Page) objectView(id, key string) (view, error) {
	if !p.o.Objects {
		return nil, errNotAllowed
	}
	e, ok := p.caches.find(id)
	if !ok || !e.running {
		return nil, fmt.Errorf("%w: no running cache is named %q", errNotFound, id)
	}
	k, ok := parseKey(key)
	if !ok {
		return nil, fmt.Errorf("%w: object must be namespace/name or /name, got %q", errNotFound, key)
	}
	identity, obj, ok := object(e.info, k)
	if !ok {
		return nil, fmt.Errorf("%w: the cache has no object %q", errNotFound, objectName(k))
	}
	v := objectView{
		At: time.Now(), Cache: e.id, Key: clean(objectName(k)), UID: clean(identity.UID), Version: clean(identity.ResourceVersion),
	}
	var err error
	if v.Object, v.Redacted, err = p.content(e.info.Resource, obj); err != nil {
		return nil, fmt.Errorf("%w: object %q does not encode as JSON: %v", errNotFound, objectName(k), err)
	}
	v.text = indented(v.Object)
	if v.cut = max(0, len(v.text)-mostText); v.cut > 0 {
		v.text = strings.ToValidUTF8(v.text[:mostText], "")
	}
	return v, nil
}

func object(r informer.RunInfo, k meta.Key) (id meta.Identity, obj meta.Object, ok bool) {
	for id, obj := range r.Objects() {
		if id.Namespace == k.Namespace && id.Name == k.Name {
			return id, obj, true
		}
	}
	return id, nil, false
}

// content returns the part of an object that may be shown.
func (p *Page) content(resource meta.GVR, obj meta.Object) (content map[string]any, redacted bool, err error) {
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, false, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&content); err != nil {
		return nil, false, err
	}
	if isSecret(resource, content) {
		redacted = true
		redactSecret(content)
	}
	if p.o.Redact != nil {
		p.o.Redact(resource, content)
	}
	return content, redacted, nil
}

// indented returns decoded JSON as text. It escapes characters that are not shown, or that change how others are shown.
func indented(v map[string]any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil { // Options.Redact has added a value that does not encode
		return err.Error()
	}
	text := b.String()
	b.Reset()
	for _, c := range text {
		switch {
		case c == '\n' || c == ' ' || unicode.IsPrint(c):
			b.WriteRune(c)
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default: // within a string
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}

// isSecret reports whether an object is a Secret, by its resource or by its own kind.
func isSecret(resource meta.GVR, content map[string]any) bool {
	kind, _ := content["kind"].(string)
	version, _ := content["apiVersion"].(string)
	return resource.Group == "" && strings.EqualFold(resource.Resource, "secrets") || kind == "Secret" && !strings.Contains(version, "/")
}

// lastApplied is the annotation in which kubectl keeps a copy of the whole object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// redactSecret removes the values of a Secret, and keeps their names. A value of an unexpected form is removed as a
// whole.
func redactSecret(content map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		values, ok := content[field].(map[string]any)
		if !ok {
			if content[field] != nil {
				content[field] = shown.Redacted
			}
			continue
		}
		for name := range values {
			values[name] = shown.Redacted
		}
	}
	metadata, _ := content["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if _, ok := annotations[lastApplied]; ok {
		annotations[lastApplied] = shown.Redacted
	}
	delete(metadata, "managedFields")
}
