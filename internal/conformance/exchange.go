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

// exchange is one request as it is on the wire, and what has to come of it.
type exchange struct {
	name  string
	path  string // and the query: method POST and PUT go before it, with a blank; else it is PATCH
	media string // what is before its slash is application; for JSON it may be empty
	body  string

	code     int
	reason   apierrors.Reason
	message  string // the end of it; * stands for anything
	at       string // a path in the answer, such as "spec.parts.0.name"
	is       string // and the JSON of what is there; empty where nothing is asked
	warnings string // with a ; between them
	accept   string // the header of that name; empty means JSON
	text     string // the whole of the answer, where it is not JSON; * stands for anything
	causes   string // the fields of the causes of a failure, with blanks between them; empty where nothing is asked

	then *exchange // how a server of Kubernetes 1.36 answers, where that is not the same
}

// The media types of patches, without what is before the slash.
const (
	asJSON      = "json-patch+json"
	asMerge     = "merge-patch+json"
	asStrategic = "strategic-merge-patch+json"
)

// applied makes the exchange that changes an object: is is what has to be at a path in it.
func applied(name, path, media, body, at, is string) exchange {
	return exchange{name: name, path: path, media: media, body: body, code: http.StatusOK, at: at, is: is}
}

// refused makes the exchange that is refused.
func refused(name, path, media, body string, code int, reason apierrors.Reason, message string) exchange {
	return exchange{name: name, path: path, media: media, body: body, code: code, reason: reason, message: message}
}

// warned adds the warnings that come with an answer, with a ; between them.
func (e exchange) warned(text string) exchange {
	e.warnings = text
	return e
}

// in136 says how a server of Kubernetes 1.36 refuses the request instead.
func (e exchange) in136(code int, reason apierrors.Reason, message string) exchange {
	then := e
	then.code, then.reason, then.message = code, reason, message
	e.then = &then
	return e
}

// run sends the request and looks at what is answered. names stand for paths, as in "{core}/configmaps".
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
	equal(t, e.name+": the warnings", strings.Join(warnings, "; "), e.warnings)
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
		case []any: // of each item that member
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
	equal(t, e.name+": "+e.at, string(got), e.is)
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

// matches reports whether a text is as a pattern has it, in which * stands for anything.
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

// answered adds the Accept header, and the whole answer, in which * stands for anything.
func (e exchange) answered(accept, text string) exchange {
	e.accept, e.text = accept, text
	return e
}

// caused adds the fields of the causes of a refusal, with blanks between them.
func (e exchange) caused(fields string) exchange {
	e.causes = fields
	return e
}

// field is a JSON patch with one operation on a field.
func field(op, path, value string) string {
	return `[{"op":"` + op + `","path":"` + path + `","value":` + value + `}]`
}

// paths returns what the names in the paths of exchanges stand for.
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
