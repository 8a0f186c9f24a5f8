package client_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// The server's answer about a resource that it does not serve names nothing. A user whose CustomResourceDefinition was missing saw
// "404 page not found".
func TestAResourceThatIsNotServedIsNamed(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{Resources: []clienttest.Resource{
		{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"},
	}})
	c, key := dial(t, server.Config()), meta.Key{Namespace: "default", Name: "a"}
	of := func(group, version, resource string) client.Resource[*Slim] {
		return client.For(c, client.Type[*Slim]{Group: group, Version: version, Kind: "Slim", Resource: resource})
	}
	get := func(r client.Resource[*Slim]) error { return drop(r.Get(t.Context(), key)) }
	const defined, typed = "; its CustomResourceDefinition may be missing, or have another version or scope", "; check the version and the scope of the Type"
	widgets := of("example.com", "v1", "widgets")
	for _, test := range []struct {
		name string
		err  error
		want string // the end of the text
	}{
		{"get", get(widgets), "the server does not serve widgets.example.com/v1" + defined},
		{"list", drop(widgets.List(t.Context(), client.ListOptions{})), "the server does not serve widgets.example.com/v1" + defined},
		{"create", drop(widgets.Create(t.Context(), &Slim{Identity: meta.Identity{Namespace: "default", Name: "a"}})), "the server does not serve widgets.example.com/v1" + defined},
		{"modify", drop(widgets.Modify(t.Context(), key, func(*Slim) error { return nil })), "the server does not serve widgets.example.com/v1" + defined},
		{
			"the status", drop(widgets.Status().Get(t.Context(), key)),
			`the server does not serve widgets.example.com/v1, or its subresource "status"` + defined,
		},
		{"another version", get(of("example.com", "v2", "pages")), "the server does not serve pages.example.com/v2" + defined},
		{"another group", get(of("nobody.example.com", "v1", "pages")), "the server does not serve pages.nobody.example.com/v1" + defined},
		{"another version of a built-in one", get(of("apps", "v9", "deployments")), "the server does not serve deployments.apps/v9" + typed},
		{"another scope", get(of("", "v1", "nodes")), "the server does not serve nodes.v1" + typed},
		{"another scope of a group of Kubernetes", get(of("storage.k8s.io", "v1", "storageclasses")), "the server does not serve storageclasses.storage.k8s.io/v1" + typed},
		{
			"a subresource of a built-in one", drop(of("", "v1", "configmaps").Status().Get(t.Context(), key)),
			`the server does not serve configmaps.v1, or its subresource "status"` + typed,
		},
	} {
		if !errors.Is(test.err, apierrors.NotFound) {
			t.Errorf("%s: %v is not a NotFound", test.name, test.err)
		}
		if text := test.err.Error(); !strings.HasSuffix(text, " ("+test.want+")") || strings.Count(text, "does not serve") != 1 {
			t.Errorf("%s: the error is %q, want %q at its end, once", test.name, text, test.want)
		}
	}
}

func TestNestedErrorsNameTheUnservedResourceOnce(t *testing.T) {
	err := error(apierrors.FromResponse(404, http.Header{}, []byte("404 page not found"), "GET"))
	for _, verb := range []string{"get", "modify"} {
		err = &client.OpError{Verb: verb, Resource: meta.GVR{Group: "example.com", Version: "v1", Resource: "pages"}, Err: err}
	}
	if n := strings.Count(err.Error(), "does not serve"); n != 1 {
		t.Errorf("%d times: %v", n, err)
	}
}

// Other answers with the code 404 say nothing about the resource.
func TestANotFoundAboutSomethingElse(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{})
	c, gone := dial(t, server.Config()), meta.Key{Namespace: "default", Name: "gone"}
	page := func(contentType, body string) client.Resource[*Slim] {
		return client.For(connect(t, answers(answer{code: 404, header: http.Header{"Content-Type": {contentType}}, body: body})), slims)
	}
	answered, err := c.Raw(t.Context(), client.RawRequest{Path: "/nothing"})
	if err == nil {
		answered.Body.Close()
	}
	for name, err := range map[string]error{
		"an object":         drop(client.For(c, slims).Get(t.Context(), gone)),
		"a path":            err,
		"a proxy's page":    drop(page("text/html", "<html><title>404 Not Found</title>").Get(t.Context(), gone)),
		"a proxy's text":    drop(page("text/plain", "no such backend").Get(t.Context(), gone)),
		"another server":    drop(page("application/json", `{"kind":"Status","code":404,"reason":"NotFound","message":"no"}`).Get(t.Context(), gone)),
		"an answer of 410":  &client.OpError{Verb: "get", Resource: meta.GVR{Version: "v1", Resource: "pods"}, Err: apierrors.FromResponse(410, nil, []byte("404 page not found"), "GET")},
		"a network failure": &client.OpError{Verb: "get", Resource: meta.GVR{Version: "v1", Resource: "pods"}, Err: errors.New("404 page not found")},
	} {
		if err == nil || strings.Contains(err.Error(), "does not serve") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
