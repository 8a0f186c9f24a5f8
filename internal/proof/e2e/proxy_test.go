package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

var (
	nodes          = client.Type[object]{Version: "v1", Kind: "Node", Resource: "nodes", Scope: meta.Cluster}
	endpoints      = client.Type[object]{Version: "v1", Kind: "Endpoints", Resource: "endpoints"}
	endpointSlices = client.Type[object]{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice", Resource: "endpointslices"}
)

// serve serves HTTP at an address of the cluster's network: it says where it is and what it was asked.
func serve(t *testing.T, address string, secure bool) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("who is behind the proxy is shown the client's credential")
		}
		switch r.URL.Path {
		case "/teapot":
			w.WriteHeader(http.StatusTeapot)
		case "/private":
			w.WriteHeader(http.StatusUnauthorized)
		case "/elsewhere":
			http.Redirect(w, r, "/here", http.StatusFound)
			return
		case "/slow": // until somebody has read the start
			fmt.Fprintln(w, "start")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s: %s %s %s%s", address, r.Method, r.URL.RequestURI(), body, r.Header.Get("X-Note"))
	}))
	_ = server.Listener.Close()
	server.Listener = must(plane.Listen(address))(t)
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
}

// answerOf sends a request and returns the status and the body of the answer.
func answerOf(t *testing.T, transport http.RoundTripper, method, url, body string) (int, string) {
	t.Helper()
	req := must(http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body)))(t)
	req.Header.Set("X-Note", "note")
	resp := must((&http.Client{Transport: transport}).Do(req))(t)
	defer resp.Body.Close()
	return resp.StatusCode, string(must(io.ReadAll(resp.Body))(t))
}

// A pod, a service in front of it, and a node, none of which runs: they have addresses behind which there is a server.
func TestRequestsArePassedOnToPodsServicesAndNodes(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	const podIP, nodeIP = "10.20.30.40", "10.20.30.1"
	serve(t, podIP+":8080", false)
	serve(t, podIP+":8443", true)
	serve(t, nodeIP+":10250", true)
	key := meta.KeyOf(runPod(t, c, ns, podIP))
	create(t, client.For(c, services), ns, `{"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [
		{"name": "plain", "port": 80, "targetPort": 8080}, {"name": "secure", "port": 443, "targetPort": 8443}
	]}}`)
	// The controller manager would write both. kube-apiserver reads the endpoints until 1.36, and the slice since.
	create(t, client.For(c, endpoints), ns, `{"metadata": {"name": "web"}, "subsets": [{
		"addresses": [{"ip": "`+podIP+`", "targetRef": {"kind": "Pod", "namespace": "`+ns+`", "name": "web"}}],
		"ports": [{"name": "plain", "port": 8080}, {"name": "secure", "port": 8443}]
	}]}`)
	create(t, client.For(c, endpointSlices), ns, `{"metadata": {"name": "web", "labels": {"kubernetes.io/service-name": "web"}}, "addressType": "IPv4",
		"endpoints": [{"addresses": ["`+podIP+`"], "targetRef": {"kind": "Pod", "namespace": "`+ns+`", "name": "web"}}],
		"ports": [{"name": "plain", "port": 8080}, {"name": "secure", "port": 8443}]
	}`)
	eventually(t, func() error { // the slice comes to the server by a watch
		through := c.Proxy(client.ProxyTarget{Resource: "services", Key: key, Port: "plain"})
		if code, got := answerOf(t, through, http.MethodGet, "http://any/", ""); code != http.StatusOK {
			return fmt.Errorf("the answer is %d, %s", code, got)
		}
		return nil
	})
	node := create(t, client.For(c, nodes), "", `{"metadata": {"generateName": "e2e-"}}`)
	must(client.For(c, nodes).Status().Patch(t.Context(), meta.KeyOf(node), patch.Merge(map[string]any{"status": map[string]any{
		"addresses":       []any{map[string]any{"type": "InternalIP", "address": nodeIP}},
		"daemonEndpoints": map[string]any{"kubeletEndpoint": map[string]any{"Port": 10250}},
	}})))(t)

	for _, test := range []struct {
		name   string
		target client.ProxyTarget
		at     string
	}{
		{"a pod", client.ProxyTarget{Resource: "pods", Key: key}, podIP + ":8080"},
		{"a port of a pod", client.ProxyTarget{Resource: "pods", Key: key, Port: "8080"}, podIP + ":8080"},
		{"a pod that speaks TLS", client.ProxyTarget{Resource: "pods", Key: key, Scheme: "https", Port: "8443"}, podIP + ":8443"},
		{"a service", client.ProxyTarget{Resource: "services", Key: key, Port: "plain"}, podIP + ":8080"},
		{"a port of a service", client.ProxyTarget{Resource: "services", Key: key, Port: "80"}, podIP + ":8080"},
		{"a service that speaks TLS", client.ProxyTarget{Resource: "services", Key: key, Scheme: "https", Port: "secure"}, podIP + ":8443"},
		{"a node", client.ProxyTarget{Resource: "nodes", Key: meta.KeyOf(node)}, nodeIP + ":10250"},
	} {
		t.Run(test.name, func(t *testing.T) {
			through := c.Proxy(test.target)
			for _, r := range []struct{ method, path, body string }{
				{http.MethodGet, "/a/b%20c%2Fd?q=1&q=%2B", ""},
				{http.MethodPost, "/", "body, "},
				{http.MethodDelete, "/a/", ""},
			} {
				code, got := answerOf(t, through, r.method, "http://any"+r.path, r.body)
				equal(t, "status", code, http.StatusOK)
				// The API server takes the path apart and puts it together again, so that an escaped slash becomes one.
				path := strings.ReplaceAll(r.path, "%2F", "/")
				equal(t, "the answer", got, fmt.Sprintf("%s: %s %s %snote", test.at, r.method, path, r.body))
			}
			code, _ := answerOf(t, through, http.MethodGet, "http://any/teapot", "")
			equal(t, "status", code, http.StatusTeapot)
			code, _ = answerOf(t, through, http.MethodGet, "http://any/private", "")
			equal(t, "status", code, http.StatusUnauthorized)
			_, got := answerOf(t, through, http.MethodGet, "http://any/elsewhere", "")
			equal(t, "the answer after a redirect", got, test.at+": GET /here note")
		})
	}
	t.Run("an answer that goes on", func(t *testing.T) {
		through := &http.Client{Transport: c.Proxy(client.ProxyTarget{Resource: "pods", Key: key})}
		resp := must(through.Do(must(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://any/slow", http.NoBody))(t)))(t)
		defer resp.Body.Close()
		start := make([]byte, len("start\n"))
		must(io.ReadFull(resp.Body, start))(t)
		equal(t, "the start", string(start), "start\n")
	})
	t.Run("who may not", func(t *testing.T) {
		nobody := adminConfig()
		nobody.BearerToken = client.Secret(plane.OutsiderToken)
		code, got := answerOf(t, open(t, nobody).Proxy(client.ProxyTarget{Resource: "pods", Key: key}), http.MethodGet, "http://any/", "")
		if code != http.StatusForbidden || !strings.Contains(got, `cannot get resource \"pods/proxy\"`) {
			t.Errorf("the answer is %d, %s, want Forbidden", code, got)
		}
	})
	t.Run("where nobody listens", func(t *testing.T) {
		code, got := answerOf(t, c.Proxy(client.ProxyTarget{Resource: "pods", Key: key, Port: "9"}), http.MethodGet, "http://any/", "")
		if code != http.StatusServiceUnavailable || !strings.Contains(got, "error trying to reach service") {
			t.Errorf("the answer is %d, %s, want that the pod cannot be reached", code, got)
		}
	})
}

// The server passes nothing on to itself: an address of loopback is refused.
func TestNothingIsPassedOnToLoopback(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	made := create(t, client.For(c, pods), ns, pod)
	through := c.Proxy(client.ProxyTarget{Resource: "pods", Key: meta.KeyOf(made)})
	code, got := answerOf(t, through, http.MethodGet, "http://any/", "") // it has no address yet
	if code != http.StatusBadRequest || !strings.Contains(got, "address not allowed") {
		t.Errorf("the answer is %d, %s, want that the address is not allowed", code, got)
	}
	must(client.For(c, pods).Status().Patch(t.Context(), meta.KeyOf(made), patch.Merge(map[string]any{
		"status": map[string]any{"podIP": "127.0.0.1", "podIPs": []any{map[string]any{"ip": "127.0.0.1"}}},
	})))(t)
	code, got = answerOf(t, through, http.MethodGet, "http://any/", "")
	if code != http.StatusBadRequest || !strings.Contains(got, "address not allowed") {
		t.Errorf("the answer is %d, %s, want that the address is not allowed", code, got)
	}
}

func TestAPathOutsideTheResourcesIsRead(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	cfg := adminConfig()
	cfg.Hooks.Request = func(_ context.Context, r client.RequestInfo) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprint(r.Method, " ", r.Code))
	}
	c := open(t, cfg)
	read := func(r client.RawRequest) string {
		t.Helper()
		resp := must(c.Raw(t.Context(), r))(t)
		defer resp.Body.Close()
		return string(must(io.ReadAll(resp.Body))(t))
	}
	plain := http.Header{"Accept": {"text/plain"}}
	equal(t, "/healthz", read(client.RawRequest{Path: "/healthz", Header: plain}), "ok")
	if got := read(client.RawRequest{Path: "/readyz", Query: url.Values{"verbose": {""}, "exclude": {"ping", "log"}}, Header: plain}); !strings.Contains(got, "[+]log excluded: ok") ||
		!strings.Contains(got, "readyz check passed") {
		t.Errorf("/readyz is %s, want that one is left out", got)
	}
	if got := read(client.RawRequest{Path: "/metrics", Header: plain}); !strings.Contains(got, "apiserver_request_total{") {
		t.Error("/metrics has no apiserver_request_total")
	}
	got := read(client.RawRequest{
		Method: http.MethodPost, Path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", Header: http.Header{"Content-Type": {"application/json"}},
		Body: []byte(`{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}`), As: &client.Subject{User: "raw"},
	})
	if !strings.Contains(got, `"username":"raw"`) {
		t.Errorf("the answer is %s, want the user raw in it", got)
	}
	status := 0
	for tries := 0; status != http.StatusNotModified && tries < 20; tries++ { // other tests make kinds, which change the document
		document := must(c.Raw(t.Context(), client.RawRequest{Path: "/openapi/v2"}))(t)
		etag := document.Header.Get("Etag")
		_ = document.Body.Close()
		unchanged := must(c.Raw(t.Context(), client.RawRequest{Path: "/openapi/v2", Header: http.Header{"If-None-Match": {etag}}}))(t)
		_ = unchanged.Body.Close()
		status = unchanged.StatusCode
	}
	equal(t, "the status of what has not changed", status, http.StatusNotModified)
	_, err := c.Raw(t.Context(), client.RawRequest{Path: "/absent"})
	wantReason(t, err, apierrors.NotFound)

	nobody := open(t, adminConfig().Anonymous())
	_, err = nobody.Raw(t.Context(), client.RawRequest{Path: "/metrics", Header: plain})
	wantReason(t, err, apierrors.Forbidden)
}
