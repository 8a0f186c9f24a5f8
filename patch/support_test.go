package patch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/proof/randomdoc"
	"github.com/bowline-go/bowline/patch"
)

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// applyOps builds a JSON patch and applies it.
func applyOps(t *testing.T, doc string, ops ...patch.Op) (string, error) {
	t.Helper()
	body, err := patch.JSON(ops...).Body()
	if err != nil {
		t.Fatal(err)
	}
	got, err := patch.ApplyJSON([]byte(doc), body)
	return string(got), err
}

// chance makes random documents.
type chance struct{ *randomdoc.Source }

func newChance(seed uint64) chance { return chance{randomdoc.New(seed)} }

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// isSame compares two documents by a test operation.
func isSame(t *testing.T, a, b []byte) bool {
	t.Helper()
	_, err := applyOps(t, string(a), patch.Test("", json.RawMessage(b)))
	return err == nil
}

func decode(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
