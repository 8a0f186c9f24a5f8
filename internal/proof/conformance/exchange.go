package conformance

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// exchange is one request as it is on the wire, and its expected answer.
type exchange struct {
	name  string
	path  string // the method, a blank, and the path with its query; for PATCH, only the path
	media string // without "application/"; empty for JSON
	body  string

	code     int
	reason   apierrors.Reason
	message  string // the end of the Status's message; * stands for any text
	at       string // a path in the answer, such as "spec.parts.0.name"
	is       string // the JSON of the value there; empty for no check
	warnings string // separated by ;
	accept   string // the header of that name; empty means JSON
	text     string // the whole answer, if it is not JSON; * stands for any text
	causes   string // the fields of the causes of a failure, separated by blanks; empty for no check

	then *exchange // the answer of Kubernetes 1.36, if it differs
}

// The media types of patches, without "application/".
const (
	asJSON      = "json-patch+json"
	asMerge     = "merge-patch+json"
	asStrategic = "strategic-merge-patch+json"
)

// applied returns an exchange that succeeds. The parameters at and is are the fields of exchange: a path in the answer,
// and the JSON expected there.
func applied(name, path, media, body, at, is string) exchange {
	return exchange{name: name, path: path, media: media, body: body, code: http.StatusOK, at: at, is: is}
}

// refused returns an exchange that is refused.
func refused(name, path, media, body string, code int, reason apierrors.Reason, message string) exchange {
	return exchange{name: name, path: path, media: media, body: body, code: code, reason: reason, message: message}
}

// warned adds the warnings of an answer, separated by ;.
func (e exchange) warned(text string) exchange {
	e.warnings = text
	return e
}

// in136 adds how a server of Kubernetes 1.36 refuses the request instead.
func (e exchange) in136(code int, reason apierrors.Reason, message string) exchange {
	then := e
	then.code, then.reason, then.message = code, reason, message
	e.then = &then
	return e
}

// run sends the request and checks the answer. names replaces names in paths, such as "{core}/configmaps".
func (e exchange) run(t *testing.T, s suite, names *strings.Replacer) {
	t.Helper()
	if s.is136 && e.then != nil {
		e = *e.then
	}
	where := names.Replace(e.path)
	method, rest, found := strings.Cut(where, " ")
	if !found {
		method, rest = http.MethodPatch, where
	}
	path, query, _ := strings.Cut(rest, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	media := "application/" + e.media
	if e.media == "" {
		media += "json"
	}
	header := http.Header{"Content-Type": {media}}
	if e.accept != "" {
		header.Set("Accept", e.accept)
	}
	resp, err := s.client.Raw(t.Context(), client.RawRequest{
		Method: method, Path: path, Query: values, Header: header, Body: []byte(names.Replace(e.body)),
	})
	if e.code >= 300 {
		e.failed(t, resp, err)
		return
	}
	if err != nil {
		t.Errorf("%s: %v", e.name, err)
		return
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, e.name+": the code", resp.StatusCode, e.code)
	var warnings []string
	for _, w := range resp.Header["Warning"] {
		text := strings.TrimPrefix(w, "299 - ")
		_ = json.Unmarshal([]byte(text), &text)
		warnings = append(warnings, text)
	}
	equal(t, e.name+": the warnings", strings.Join(warnings, "; "), names.Replace(e.warnings))
	if e.text != "" && !matches(string(b), names.Replace(e.text)) {
		t.Errorf("%s: the answer is %s, want %s", e.name, b, e.text)
	}
	if e.is == "" {
		return
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v in %s", e.name, err, b)
	}
	for name := range strings.SplitSeq(e.at, ".") {
		switch outer := v.(type) {
		case map[string]any:
			v = outer[name]
		case []any: // this member of each item
			v = slices.Collect(func(yield func(any) bool) {
				for _, item := range outer {
					m, _ := item.(map[string]any)
					if !yield(m[name]) {
						return
					}
				}
			})
		default:
			v = nil
		}
	}
	got, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, e.name+": "+e.at, string(got), names.Replace(e.is))
}

func (e exchange) failed(t *testing.T, resp *http.Response, err error) {
	t.Helper()
	if err == nil {
		_ = resp.Body.Close()
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.Status.Code != e.code || status.Status.Reason != string(e.reason) {
		t.Errorf("%s: %v, want %s (%d)", e.name, err, e.reason, e.code)
		return
	}
	start, end, open := strings.Cut(e.message, "*")
	got := status.Status.Message
	if !open {
		start, end = "", start
	}
	if !strings.HasPrefix(got, start) || !strings.HasSuffix(got, end) {
		t.Errorf("%s: the message is %q, want %q at its end", e.name, got, e.message)
	}
	if e.causes == "" {
		return
	}
	var fields []string
	if d := status.Status.Details; d != nil {
		for _, c := range d.Causes {
			fields = append(fields, c.Field)
		}
	}
	equal(t, e.name+": the causes", strings.Join(fields, " "), e.causes)
}

// matches reports whether a text matches a pattern, in which * stands for any text.
func matches(text, pattern string) bool {
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for i, part := range parts[1:] {
		if i == len(parts)-2 {
			return strings.HasSuffix(text, part)
		}
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return text == ""
}

// answered adds the Accept header, and the whole answer, in which * stands for any text.
func (e exchange) answered(accept, text string) exchange {
	e.accept, e.text = accept, text
	return e
}

// caused adds the fields of the causes of a refusal, separated by blanks.
func (e exchange) caused(fields string) exchange {
	e.causes = fields
	return e
}

// field is a JSON patch with one operation on a field.
func field(op, path, value string) string {
	return `[{"op":"` + op + `","path":"` + path + `","value":` + value + `}]`
}

// paths returns the replacements for the names in the paths of exchanges.
func paths(namespace string) *strings.Replacer {
	return strings.NewReplacer(
		"{ns}", namespace, "{core}", "/api/v1/namespaces/"+namespace, "{apps}", "/apis/apps/v1/namespaces/"+namespace,
		"{widgets}", "/apis/conformance.bowline.example/v1/namespaces/"+namespace+"/widgets",
	)
}

// widget makes a custom resource.
func (s suite) widget(t *testing.T, namespace, name, spec string) *meta.Unstructured {
	t.Helper()
	w := new(meta.Unstructured)
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"`+name+`","namespace":"`+namespace+`"},"spec":`+spec+`}`), w); err != nil {
		t.Fatal(err)
	}
	return must[*meta.Unstructured](t)(client.For(s.client, Widgets).Create(t.Context(), w))
}
