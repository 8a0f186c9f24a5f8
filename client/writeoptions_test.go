package client_test

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// behaviours 10 and 22; guarantee S9: a field manager cannot inject anything.
func TestInvalidWriteOptionsAreRefused(t *testing.T) {
	srv := says(object("a", "1"))
	r := client.For(connect(t, srv), slims)
	const in = `get configmaps "web/a": client.WriteOptions: `
	for _, test := range []struct {
		options client.WriteOptions
		want    string
	}{
		{client.WriteOptions{FieldValidation: "Some"}, `FieldValidation must be Ignore, Warn, Strict or empty, got "Some"`},
		{client.WriteOptions{FieldManager: strings.Repeat("é", 65)}, "FieldManager must have at most 128 bytes, got 130"},
		{client.WriteOptions{FieldManager: "a\r\nX-Remote-User: root"}, `FieldManager must be printable text, got "a\r\nX-Remote-User: root"`},
		{client.WriteOptions{FieldManager: "a\x00"}, `FieldManager must be printable text, got "a\x00"`},
		{client.WriteOptions{FieldManager: "a\u202eb"}, `FieldManager must be printable text, got "a\u202eb"`},
		{client.WriteOptions{FieldManager: "\xff"}, `FieldManager must be printable text, got "\xff"`},
		{
			client.WriteOptions{FieldManager: "\n", FieldValidation: "x"},
			`FieldValidation must be Ignore, Warn, Strict or empty, got "x"` + "\nclient.WriteOptions: " + `FieldManager must be printable text, got "\n"`,
		},
	} {
		h := r.With(test.options)
		for _, err := range []error{drop(h.Get(t.Context(), web)), drop(h.Status().Get(t.Context(), web))} {
			is[*client.UsageError](t, err)
			if !strings.HasSuffix(err.Error(), ": client.WriteOptions: "+test.want) {
				t.Errorf("error is %v\n        want %s%s", err, in, test.want)
			}
		}
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
	if err := drop(r.With(client.WriteOptions{FieldManager: strings.Repeat("a", 126) + "é"}).Get(t.Context(), web)); err != nil {
		t.Error(err)
	}
}

// behaviour 22: the options of a handle are those of its subresources too, and With sets those that it is given.
func TestWithMergesTheOptionsOfACopy(t *testing.T) {
	srv := says(object("a", "1"))
	r := client.For(connect(t, srv), slims)
	first := r.With(client.WriteOptions{FieldManager: "one", FieldValidation: client.ValidateIgnore})
	second := first.With(client.WriteOptions{FieldValidation: client.ValidateWarn})
	third := second.With(client.WriteOptions{DryRun: true}).With(client.WriteOptions{FieldManager: "two"}).With(client.WriteOptions{})
	for _, h := range []client.Resource[*Slim]{r, first, second, third} {
		must[*Slim](t)(h.Update(t.Context(), &Slim{Identity: at(web)}))
		must[*Slim](t)(h.Status().Update(t.Context(), &Slim{Identity: at(web)}))
		must[*meta.Unstructured](t)(client.SubOf[*meta.Unstructured](h, "status").Get(t.Context(), web))
		must[*meta.Unstructured](t)(client.SubOf[*meta.Unstructured](h, "custom").Patch(t.Context(), web, noChange))
	}
	var got []string
	for _, c := range srv.all() {
		got = append(got, strings.TrimPrefix(c.uri, "/api/v1/namespaces/web/configmaps/a"))
	}
	var want []string
	for _, query := range []string{"", "?fieldManager=one&fieldValidation=Ignore", "?fieldManager=one&fieldValidation=Warn", "?dryRun=All&fieldManager=two&fieldValidation=Warn"} {
		want = append(want, query, "/status"+query, "/status", "/custom"+query)
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the server got %q, want %q", got, want)
	}
}
