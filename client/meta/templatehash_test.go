package meta_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

func TestTheHashOfATemplateDependsOnItsContentAlone(t *testing.T) {
	type template struct {
		Spec struct {
			Image    string `json:"image"`
			Replicas int64  `json:"replicas"`
		} `json:"spec"`
		Labels map[string]string `json:"labels,omitempty"`
	}
	var typed template
	typed.Spec.Image, typed.Spec.Replicas = "a<b", math.MaxInt64
	hash := func(v any, collisions int32) string {
		t.Helper()
		h, err := meta.HashTemplate(v, collisions)
		if err != nil || meta.ValidLabelValue(h) != nil || len(h) == 0 || len(h) > 10 || strings.Trim(h, "bcdfghjklmnpqrstvwxz2456789") != "" {
			t.Errorf("the hash is %q, %v", h, err)
		}
		return h
	}
	want := hash(typed, 0)
	if want != "5f6d89cd74" { // it must never change: names of objects have it
		t.Errorf("the hash is now %s", want)
	}
	for _, same := range []any{
		&typed, json.RawMessage(`{"spec":{"replicas":9223372036854775807,"image":"a\u003cb"}}`),
		map[string]any{"spec": map[string]any{"image": "a<b", "replicas": int64(math.MaxInt64)}},
	} {
		if got := hash(same, 0); got != want {
			t.Errorf("%v has %s, want %s", same, got, want)
		}
	}
	seen := map[string]bool{want: true}
	for collisions := int32(1); collisions < 100; collisions++ {
		seen[hash(typed, collisions)] = true
	}
	typed.Spec.Replicas--
	seen[hash(typed, 0)] = true
	typed.Labels = map[string]string{"a": ""}
	seen[hash(typed, 0)] = true
	if len(seen) != 102 {
		t.Errorf("%d values differ, want 102", len(seen))
	}
	if h, err := meta.HashTemplate(math.NaN(), 0); err == nil || h != "" || !strings.HasPrefix(err.Error(), "hash a template: ") {
		t.Errorf("NaN has %q, %v", h, err)
	}
}
