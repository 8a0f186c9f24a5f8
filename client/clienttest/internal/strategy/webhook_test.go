package strategy

import (
	"slices"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// parse returns an object that is written as JSON.
func parse(t *testing.T, text string) jsontree.Object {
	t.Helper()
	v, err := jsontree.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := v.(jsontree.Object)
	return m
}

// fieldsOf returns the fields of causes.
func fieldsOf(causes []meta.StatusCause) (fields []string) {
	for _, c := range causes {
		fields = append(fields, c.Field)
	}
	return slices.Compact(fields)
}

// An update of webhooks may keep what an older server allowed. A new configuration may not have it.
func TestOldWebhooksKeepWhatTheyHave(t *testing.T) {
	const client = `"clientConfig":{"url":"https://example.com"}`
	for _, test := range []struct{ name, hook, field string }{
		{"side effects", `"name":"a.example.com","sideEffects":"Some","admissionReviewVersions":["v1"],`, "webhooks[0].sideEffects"},
		{"review versions", `"name":"a.example.com","sideEffects":"None","admissionReviewVersions":["v2"],`, "webhooks[0].admissionReviewVersions"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := Write{
				Kind: meta.GVK{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingWebhookConfiguration"},
				New:  parse(t, `{"webhooks":[{`+test.hook+client+`}]}`),
			}
			s := New()
			if got := fieldsOf(s.Check(w)); !slices.Equal(got, []string{test.field}) {
				t.Errorf("a new configuration: %q", got)
			}
			if w.Old = w.New; len(s.Check(w)) > 0 {
				t.Errorf("an update: %v", s.Check(w))
			}
			w.Old = parse(t, `{"webhooks":[{"name":"a.example.com","sideEffects":"None","admissionReviewVersions":["v1"],`+client+`}]}`)
			if got := fieldsOf(s.Check(w)); !slices.Equal(got, []string{test.field}) {
				t.Errorf("an update of a valid configuration: %q", got)
			}
		})
	}
}

func TestWebhookNamesAreUnique(t *testing.T) {
	const hook = `{"name":"a.example.com","sideEffects":"None","admissionReviewVersions":["v1"],"clientConfig":{"url":"https://example.com"}}`
	w := Write{
		Kind: meta.GVK{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration"},
		New:  parse(t, `{"webhooks":[`+hook+`,`+hook+`]}`),
	}
	if got := fieldsOf(New().Check(w)); !slices.Equal(got, []string{"webhooks[1].name"}) {
		t.Errorf("a new configuration: %q", got)
	}
	if w.Old = w.New; len(New().Check(w)) > 0 {
		t.Errorf("an update: %v", New().Check(w))
	}
}
