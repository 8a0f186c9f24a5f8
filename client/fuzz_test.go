package client_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// Whatever a server answers, a call returns the object or an error that can be shown, and the objects that come before an
// error are whole.
func FuzzAnswer(f *testing.F) {
	const jsonType = "application/json"
	list := listOf("5", "", object("a", "1"), `{"metadata":{"name":"b"},"data":7}`)
	for _, body := range []string{
		object("a", "1", "k"), list, list[:len(list)-3], listOf("5", "next", object("a", "1")), status(410, "Expired", "x\\u001b[2J"),
		event("ADDED", object("a", "1")) + event("BOOKMARK", object("", "2")), event("ERROR", status(410, "Gone", "x")), "<html>\x1b[2J", "", "{}",
	} {
		f.Add(200, jsonType, body)
		f.Add(409, jsonType, body)
	}
	f.Add(200, "text/html; \x1b", "<html>")
	f.Add(200, jsonType, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[{"metadata":{"name":"a"}}]}`)
	f.Add(200, "", "null")
	f.Fuzz(func(t *testing.T, code int, contentType, body string) {
		if code = code % 500; code < 0 {
			code = -code
		}
		code += 100
		c := without(t, func(r *http.Request) (*http.Response, error) {
			h := http.Header{"Content-Type": {contentType}}
			return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})
		check := func(err error) {
			if err == nil {
				return
			}
			if said := (*apierrors.StatusError)(nil); (code < 200 || code > 299) && !errors.As(err, &said) {
				t.Errorf("the answer %d gives %v", code, err)
			}
			if text := err.Error(); !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\n\r\x00\u202e\u009b") || len(text) > 16<<10 {
				t.Errorf("the text is not clean: %q", text)
			}
			if op := (*client.OpError)(nil); !errors.As(err, &op) {
				t.Errorf("%T has no OpError in it", err)
			}
		}
		r := client.For(c, configMaps)
		obj, err := r.Get(t.Context(), web)
		if check(err); (obj == nil) != (err != nil) {
			t.Errorf("got %v and %v", obj, err)
		}
		sent := 0
		got, err := r.Modify(t.Context(), web, func(obj *ConfigMap) error {
			if sent++; sent > 1 {
				return io.EOF // or a conflict would go on for half a minute
			}
			obj.Data = map[string]string{"new": "1"}
			return nil
		})
		if check(err); (got == nil) != (err != nil) {
			t.Errorf("modified %v and %v", got, err)
		}
		check(r.Delete(t.Context(), web, client.DeleteOptions{}))
		for obj, err := range r.All(t.Context(), client.ListOptions{}) {
			if check(err); (obj == nil) != (err != nil) {
				t.Fatalf("listed %v and %v", obj, err)
			}
		}
		list, err := r.List(t.Context(), client.ListOptions{})
		if check(err); err != nil && list.Items != nil {
			t.Errorf("a failed list has %d objects", len(list.Items))
		}
		for e, err := range r.Watch(t.Context(), client.WatchOptions{}) {
			check(err)
			switch {
			case err != nil:
			case e.Identity.ResourceVersion == "":
				t.Errorf("an event %+v has no version", e)
			case e.Type == client.Bookmark:
			case e.Object == nil || e.Identity.Name == "" || meta.KeyOf(e.Object) != e.Identity.Key():
				t.Errorf("an event is %+v", e)
			}
		}
		raw, err := client.For(c, client.Type[*meta.Raw](configMaps)).Get(t.Context(), web)
		if check(err); err == nil {
			if _, err := json.Marshal(raw); err != nil && raw.CreationTimestamp.IsZero() && raw.DeletionTimestamp == nil && raw.ManagedFields == nil {
				t.Errorf("what was read cannot be written: %v", err)
			}
		}
		for obj, err := range client.Metadata(r).All(t.Context(), client.ListOptions{}) {
			if check(err); err == nil && obj.GVK() != configMaps.GVK() {
				t.Errorf("the metadata is of %v", obj.GVK())
			}
		}
	})
}
