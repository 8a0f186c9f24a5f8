package client_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
)

// A pod behind the proxy of an API server answered with a redirect to a Secret. It was followed with the client's token, and the
// Secret came back as the answer of the service.
func TestARedirectOfAProxiedTargetStaysBelowIt(t *testing.T) {
	const service, secret = "/api/v1/namespaces/web/services/a:80/proxy", "/api/v1/namespaces/kube-system/secrets/s"
	for _, test := range []struct {
		name, base, path, location string
		follows                    bool
	}{
		{"to a Secret", "", service + "/x", "SERVER" + secret, false},
		{"to a Secret, without a host", "", service + "/x", secret, false},
		{"to itself", "", service + "/x", service + "/login", true},
		{"to itself, with the host", "", service + "/x", "SERVER" + service + "/login?a=b", true},
		{"to itself, relatively", "", service + "/x/y", "../login", true},
		{"to itself, escaped otherwise", "", service + "/x", strings.Replace(service, ":", "%3a", 1) + "/login", true},
		{"to itself, escaped in capitals", "", service + "/x", strings.Replace(service, ":", "%3A", 1) + "/login", true},
		{"to itself without a path", "", service + "/", service, true},
		{"relatively out of it", "", service + "/x", "../../../../../kube-system/secrets/s", false},
		{"out of it, escaped", "", service + "/x", service + "/%2e%2e/%2e%2e/%2e%2e/secrets/s", false},
		{"out of it, escaped in capitals", "", service + "/x", service + "/%2E%2E/%2E%2E/secrets/s", false},
		{"out of it, with escaped slashes", "", service + "/x", service + "/..%2f..%2f..%2fsecrets%2fs", false},
		{"out of it, escaped twice", "", service + "/x", service + "/%252e%252e/%252e%252e/secrets/s", false},
		{"out of it with parameters", "", service + "/x", service + "/..;a/..;b/secrets/s", false},
		{"out of it with backslashes", "", service + "/x", service + "/%5c..%5c..%5csecrets", false},
		{"to another target whose name begins with its own", "", service + "/x", service + "x/login", false},
		{"to another port of it", "", service + "/x", strings.Replace(service, ":80", ":81", 1) + "/", false},
		{"to the service itself", "", service + "/x", strings.TrimSuffix(service, "/proxy"), false},
		{"with capitals in its path", "", service + "/x", strings.Replace(service, "/proxy", "/Proxy", 1) + "/x", false},
		{"with two slashes first", "", service + "/x", "SERVER/" + secret, false},
		{"asked for with two slashes", "", "/" + strings.Replace(service, "/services", "//services", 1) + "/x", secret, false},
		{"of a pod", "", "/api/v1/namespaces/web/pods/a/proxy/x", secret, false},
		{"of a pod to itself", "", "/api/v1/namespaces/web/pods/a/proxy/x", "/api/v1/namespaces/web/pods/a/proxy/y", true},
		{"of a node", "", "/api/v1/nodes/n/proxy/x", "/api/v1/nodes/n/proxy/y", true},
		{"of a node to another", "", "/api/v1/nodes/n/proxy/x", "/api/v1/nodes/m/proxy/y", false},
		{"of a namespace that is called proxy", "", "/api/v1/namespaces/proxy/services/a/proxy/x", "/api/v1/namespaces/proxy/secrets/s", false},
		{"of a service that is called proxy", "", "/api/v1/namespaces/web/services/proxy/proxy/x", "/api/v1/namespaces/web/services/proxy", false},
		{"of a target with proxy in its path", "", service + "/a/proxy/b", service + "/c", true},
		{"of a pod that is called proxy, with proxy in its path", "", "/api/v1/namespaces/web/pods/proxy/proxy/a/proxy/b", "/api/v1/namespaces/web/pods/proxy/proxy/c", true},
		{"of a cluster behind an aggregated API", "", "/apis/g.dev/v1/clusters/c/proxy/x", secret, false},
		{"of a cluster behind an aggregated API, with proxy in its path", "", "/apis/g.dev/v1/clusters/c/proxy/a/proxy/b", "/apis/g.dev/v1/clusters/c/proxy/z", true},
		{"of a path that nobody knows", "", "/v0/proxy/x", secret, false},
		{"below the server's path", "/k8s/c-1", service + "/x", "/k8s/c-1" + service + "/login", true},
		{"below the server's path, to a Secret", "/k8s/c-1", service + "/x", "/k8s/c-1" + secret, false},
		{"below a server's path that is called so", "/proxy", "/healthz", "/proxy/livez", true},
		{"of no target", "", "/healthz", "/livez", true},
		{"of no target, into one", "", "/healthz", service + "/login", true},
		{"of no target, out of the server's path", "/k8s/c-1", "/healthz", "/k8s/c-2/healthz", false},
		{"of no target, upwards out of the server's path", "/k8s/c-1", "/healthz", "/k8s/c-1/%2e%2e/c-2/healthz", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{}
			cfg := serve(t, s)
			cfg.BearerToken = "s3cret"
			s.answers = []answer{
				{code: 302, header: http.Header{"Location": {strings.Replace(test.location, "SERVER", cfg.Server, 1)}}}, {body: "there"},
			}
			cfg.Server += test.base
			resp, err := dial(t, cfg).Raw(t.Context(), client.RawRequest{Path: test.path})
			if calls := s.all(); test.follows != (len(calls) == 2) {
				t.Errorf("sent %v", calls)
			}
			if !test.follows {
				wantErr(t, err, "redirects to ")
				wantErr(t, err, "which is not below ")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "there" {
				t.Errorf("got %q, %v", b, err)
			}
		})
	}
}

// A target that the server itself redirects to is held to its own path too.
func TestASecondRedirectOfAProxiedTargetStaysBelowIt(t *testing.T) {
	const service = "/api/v1/namespaces/web/services/a/proxy"
	s := answers(
		answer{code: 302, header: http.Header{"Location": {service + "/"}}},
		answer{code: 302, header: http.Header{"Location": {"/api/v1/namespaces/web/secrets/s"}}},
		answer{body: "the Secret"},
	)
	_, err := connect(t, s).Raw(t.Context(), client.RawRequest{Path: "/"})
	wantErr(t, err, `the proxied server redirects to "/api/v1/namespaces/web/secrets/s", which is not below its own path "`+service+`"`)
	if calls := s.all(); len(calls) != 2 {
		t.Errorf("sent %v", calls)
	}
}

// A Location with a user made net/http send that user's password in place of the client's token, and the answer was believed.
func TestARedirectMustNotBringCredentials(t *testing.T) {
	s := &script{}
	cfg := serve(t, s)
	cfg.BearerToken = "s3cret"
	location := strings.Replace(cfg.Server, "http://", "http://somebody:else@", 1) + "/x"
	s.answers = []answer{{code: 302, header: http.Header{"Location": {location}}}, {body: "there"}}
	_, err := dial(t, cfg).Raw(t.Context(), client.RawRequest{Path: "/start"})
	wantErr(t, err, "server redirects to a URL with a user, which would replace the client's credentials")
	if strings.Contains(err.Error(), "else") {
		t.Errorf("the error shows the password: %v", err)
	}
	if calls := s.all(); len(calls) != 1 {
		t.Errorf("sent %v", calls)
	}
}

// A host that a server had made up took all the room that an error has, and the error did not say what was wrong.
func TestTheErrorOfARedirectIsBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, location := range []string{
		"http://" + long + "/", "http://" + long + "\x1b[2J/", "http://a:" + long, "/%zz" + long, "http://[" + long, long + "://a/",
		"//" + long, "/../" + long, "http:" + long, "?" + long + "\x7f",
	} {
		s := &script{answers: []answer{{code: 302, header: http.Header{"Location": {location}}}}}
		_, err := dial(t, serve(t, s)).Raw(t.Context(), client.RawRequest{Path: "/start"})
		if err == nil || len(err.Error()) > 10_000 || strings.ContainsAny(err.Error(), "\x1b\x7f") {
			t.Errorf("%.20q: an error of %d bytes: %.300v", location, len(fmt.Sprint(err)), err)
		}
		if location == "http://"+long+"/" {
			wantErr(t, err, "which is not its own origin")
		}
	}
}
