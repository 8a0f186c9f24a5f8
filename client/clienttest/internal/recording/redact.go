package recording

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// maxAnnotation is the greatest length of an annotation of a Secret that is kept.
const maxAnnotation = 256

// Redactor replaces the values of Secrets. Equal values have equal replacements, which cannot be guessed from the
// values, because the key of the hash is random and is forgotten with the redactor.
type Redactor struct {
	key  []byte
	omit bool
}

// NewRedactor returns a redactor with a new key. If omit is true, it removes values instead.
func NewRedactor(omit bool) *Redactor {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	return &Redactor{key, omit}
}

// Secret replaces the values of a Secret, and the copies of them that its labels and annotations may have. It removes
// every member that it does not know.
func (r *Redactor) Secret(secret jsontree.Object) {
	values := valuesOf(secret)
	for name := range secret {
		switch name {
		case "apiVersion", "kind", "type", "immutable":
		case "metadata":
			m, ok := secret[name].(jsontree.Object)
			if !ok {
				delete(secret, name)
			}
			r.metadata(m, values)
		case "data", "stringData":
			if secret[name] = r.data(secret[name], name == "data"); secret[name] == nil {
				delete(secret, name)
			}
		default:
			delete(secret, name)
		}
	}
}

// data returns the replacements of data or stringData; nil if nothing is left.
func (r *Redactor) data(v any, encoded bool) any {
	m, ok := v.(jsontree.Object)
	if !ok || r.omit {
		return nil
	}
	out := make(jsontree.Object, len(m))
	for k, e := range m {
		text, _ := e.(string)
		if encoded {
			text = decoded(text) // so that data and stringData have the same hashes
		}
		out[k] = r.hash(text)
		if encoded {
			out[k] = base64.StdEncoding.EncodeToString([]byte(r.hash(text)))
		}
	}
	return out
}

func (r *Redactor) hash(value string) string {
	h := hmac.New(sha256.New, r.key)
	h.Write([]byte(value))
	return "sha256:" + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// metadata replaces the labels and annotations that may have a copy of a value. If values are omitted, it also removes
// managedFields, because their entries name the keys of data.
func (r *Redactor) metadata(m jsontree.Object, values []string) {
	for name, v := range m {
		switch name {
		case "name", "namespace", "generateName", "uid", "resourceVersion", "generation", "ownerReferences", "finalizers",
			"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds":
		case "managedFields":
			if r.omit {
				delete(m, name)
			}
		case "annotations", "labels":
			texts, ok := v.(jsontree.Object)
			if !ok {
				delete(m, name)
			}
			r.texts(texts, values)
		default:
			delete(m, name)
		}
	}
}

// texts replaces the texts that may have a copy of a value.
func (r *Redactor) texts(m jsontree.Object, values []string) {
	for k, v := range m {
		text, ok := v.(string)
		switch {
		case ok && !mayHold(text, values):
		case ok && !r.omit:
			m[k] = r.hash(text)
		default:
			delete(m, k)
		}
	}
}

// mayHold reports whether a text may have one of the values: it has one as it is or in base64, or it is JSON, such as
// the last configuration that kubectl applied, or it is long.
func mayHold(text string, values []string) bool {
	if len(text) > maxAnnotation || strings.HasPrefix(strings.TrimSpace(text), "{") || strings.HasPrefix(strings.TrimSpace(text), "[") {
		return true
	}
	for _, v := range values {
		if strings.Contains(text, v) {
			return true
		}
	}
	return false
}

// valuesOf returns the values of a Secret, as they are and in base64. Empty ones are in every text and are left out.
func valuesOf(secret jsontree.Object) (values []string) {
	for _, name := range []string{"data", "stringData"} {
		m, _ := secret[name].(jsontree.Object)
		for _, e := range m {
			text, _ := e.(string)
			if name == "data" {
				text = decoded(text)
			}
			if text != "" {
				values = append(values, text, base64.StdEncoding.EncodeToString([]byte(text)), base64.RawStdEncoding.EncodeToString([]byte(text)))
			}
		}
	}
	return values
}

func decoded(text string) string {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return text
	}
	return string(b)
}
