package meta_test

import (
	"maps"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// The kinds of types that hold labels, and that do not.
type (
	labelledMeta struct {
		meta.Identity
		Labels map[string]string `json:"labels"`
	}
	labelled struct {
		labelledMeta `json:"metadata"`
	}
	labelNames    map[string]string
	labelledOther struct {
		meta.Identity
		Data *struct {
			Tags *labelNames `json:"labels"`
		} `json:"metadata"`
	}
	labelledWrong struct {
		meta.Identity
		Metadata struct {
			Labels []string `json:"labels"`
		} `json:"metadata"`
	}
	labelledFull struct {
		meta.TypeMeta
		meta.ObjectMeta `json:"metadata"`
	}
	labelledMap map[string]any
	unlabelled  struct {
		meta.Identity `json:"metadata"`
	}
)

func (m labelledMap) GetNamespace() string       { return "" }
func (m labelledMap) GetName() string            { return "" }
func (m labelledMap) GetResourceVersion() string { return "" }

func TestLabels(t *testing.T) {
	want := map[string]string{"a": "1"}
	content := map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "1"}}}
	names := labelNames(want)
	other := &labelledOther{}
	other.Data = &struct {
		Tags *labelNames `json:"labels"`
	}{Tags: &names}
	nilLabels := &labelledOther{}
	nilLabels.Data = &struct {
		Tags *labelNames `json:"labels"`
	}{}
	for _, test := range []struct {
		name string
		obj  meta.Object
		want map[string]string
	}{
		{"no object", nil, nil},
		{"a method", &labelledFull{ObjectMeta: meta.ObjectMeta{Labels: want}}, want},
		{"a field of an embedded struct", &labelled{labelledMeta{Labels: want}}, want},
		{"a value", labelled{labelledMeta{Labels: want}}, want},
		{"none of them", &labelled{}, nil},
		{"a pointer to a type of its own", other, want},
		{"a nil pointer", nilLabels, nil},
		{"a nil pointer on the way", &labelledOther{}, nil},
		{"a nil object", (*labelled)(nil), nil},
		{"a field that holds no labels", &labelledWrong{}, nil},
		{"a struct without the field", &unlabelled{}, nil},
		{"an unstructured object", &meta.Unstructured{Object: content}, want},
		{"a map", labelledMap(content), want},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 { // compiled, and remembered
				if got := meta.Labels(test.obj); !maps.Equal(got, test.want) {
					t.Errorf("Labels = %v, want %v", got, test.want)
				}
			}
		})
	}
}
