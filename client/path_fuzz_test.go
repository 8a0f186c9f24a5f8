package client_test

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// behaviour 6; guarantees S8 and S22: whatever a namespace, a name and a subresource are, a request is about these three, in
// their places, or is not sent; and one of a handle that is bound to a namespace is about that.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"", "a", ".", "..", "a/b", "/", "a%2fb", "a b", "?x=y", "a#b", "a\x00", "\xff", "ü", "system:node", "..;", "a\\..\\b"} {
		f.Add(s, "a", "status")
		f.Add("web", s, "status")
		f.Add("web", "a", s)
	}
	f.Fuzz(func(t *testing.T, namespace, name, subresource string) {
		var sent []string
		c := without(t, func(r *http.Request) (*http.Response, error) {
			if r.URL.RawQuery != "" || r.URL.Fragment != "" || r.URL.Host != "127.0.0.1:1" {
				t.Errorf("the request goes to %s", r.URL)
			}
			sent = append(sent, r.URL.EscapedPath())
			return nil, errors.New("no network")
		})
		r := client.For(c, slims)
		key := meta.Key{Namespace: namespace, Name: name}
		valid := true
		for _, s := range []string{namespace, name, subresource} {
			valid = valid && meta.ValidSegment("x", s) == nil
		}
		check := func(err error, want ...string) {
			t.Helper()
			usage := (*client.UsageError)(nil)
			if refused := errors.As(err, &usage); refused != (want == nil) || refused != (len(sent) == 0) {
				t.Fatalf("%q, %q, %q: error is %v after %q", namespace, name, subresource, err, sent)
			}
			if want == nil {
				return
			}
			var got []string
			for segment := range strings.SplitSeq(sent[0], "/") {
				s, err := url.PathUnescape(segment)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, s)
			}
			if want = append([]string{"", "api", "v1", "namespaces"}, want...); !slices.Equal(got, want) {
				t.Errorf("the path is %q, want %q", got, want)
			}
			sent = nil
		}
		_, err := r.Sub(subresource).Get(t.Context(), key)
		if valid {
			check(err, namespace, "configmaps", name, subresource)
		} else {
			check(err)
		}
		obj := &Slim{Identity: at(key)}
		_, err = r.In("web").Create(t.Context(), obj)
		if (namespace == "" || namespace == "web") && (name == "" || meta.ValidSegment("x", name) == nil) {
			check(err, "web", "configmaps")
		} else {
			check(err)
		}
	})
}
