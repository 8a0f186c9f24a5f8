package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// get sends a GET to the API server, with a bearer token if there is one, and returns the status and the body.
func get(t *testing.T, path, token string) (int, []byte) {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(plane.CA) {
		t.Fatalf("no certificate in the authority %q", plane.CA)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, plane.Server+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("GET %s: read the body: %v", path, err)
	}
	return resp.StatusCode, body
}

func TestTheServerTellsItsVersion(t *testing.T) {
	code, body := get(t, "/version", plane.Token)
	if code != http.StatusOK {
		t.Fatalf("GET /version: status %d, want 200: %s", code, body)
	}
	var got struct{ Major, Minor string }
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("GET /version: %v in %s", err, body)
	}
	if got.Major+"."+got.Minor != plane.Kubernetes {
		t.Errorf("version is %q.%q, want %s", got.Major, got.Minor, plane.Kubernetes)
	}
}

func TestTheServerKnowsWhoMayDoWhat(t *testing.T) {
	const pods = "/api/v1/namespaces/default/pods"
	for _, tc := range []struct {
		name   string
		path   string
		token  string
		code   int
		reason string
	}{
		{"the admin may list", pods, plane.Token, http.StatusOK, ""},
		{"the outsider may not list", pods, plane.OutsiderToken, http.StatusForbidden, "Forbidden"},
		{"the outsider may discover", "/apis", plane.OutsiderToken, http.StatusOK, ""},
		{"a wrong token is nobody", pods, "wrong", http.StatusUnauthorized, "Unauthorized"},
		{"no token is the anonymous user", pods, "", http.StatusForbidden, "Forbidden"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, body := get(t, tc.path, tc.token)
			var got struct{ Reason string }
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatalf("GET %s: %v in %s", tc.path, err, body)
			}
			if code != tc.code || got.Reason != tc.reason {
				t.Errorf("GET %s: status %d, reason %q, want %d, %q: %s", tc.path, code, got.Reason, tc.code, tc.reason, body)
			}
		})
	}
}

// kubectl runs kubectl, which has to succeed, and returns the lines that it printed.
func kubectl(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := plane.Kubectl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(out), "\n")
}

func TestKubectlListsNamespaces(t *testing.T) {
	if got := kubectl(t, "get", "namespaces", "-o", "name"); !slices.Contains(got, "namespace/default") {
		t.Errorf("kubectl get namespaces printed %q, want namespace/default in it", got)
	}
}

func TestKubectlCreatesAConfigMapAndDeletesIt(t *testing.T) {
	const name = "kubectl-round-trip"
	kubectl(t, "create", "configmap", name, "--from-literal=knot=bowline")
	if got := kubectl(t, "get", "configmap", name, "-o", "jsonpath={.data.knot}"); got[0] != "bowline" {
		t.Errorf("kubectl get printed %q, want bowline", got)
	}
	kubectl(t, "delete", "configmap", name)

	_, err := plane.Kubectl(t.Context(), "get", "configmap", name)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(err.Error(), "NotFound") {
		t.Errorf("kubectl get after the delete returned %v, want exit status 1 and NotFound", err)
	}
}

func TestKubectlIsTheOutsiderWhenAsked(t *testing.T) {
	_, err := plane.Kubectl(t.Context(), "--context=outsider", "get", "pods")
	if err == nil || !strings.Contains(err.Error(), `User "outsider" cannot list resource "pods"`) {
		t.Errorf("kubectl get pods as the outsider returned %v, want Forbidden", err)
	}
}
