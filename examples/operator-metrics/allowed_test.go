package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

const scraper = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"scraper"},
	"rules":[{"nonResourceURLs":["/metrics"],"verbs":["get"]}]}`

const scraperBinding = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"scraper"},
	"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"scraper"},
	"subjects":[{"kind":"ServiceAccount","namespace":"default","name":"prometheus"}]}`

// Metrics go to an account whose role allows the path, and to nobody else.
func TestMetricsAreForThoseWhoMayGetThem(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{Token: "administrator", RBAC: true})
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for kind, text := range map[string]string{"ClusterRole": scraper, "ClusterRoleBinding": scraperBinding} {
		object := &meta.Unstructured{}
		if err := object.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		resource := map[string]string{"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings"}[kind]
		of := client.Type[*meta.Unstructured]{
			Group: "rbac.authorization.k8s.io", Version: "v1", Kind: kind, Resource: resource, Scope: meta.Cluster,
		}
		if _, err := client.For(c, of).Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	accounts := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"})
	token := func(name string) string {
		t.Helper()
		key := meta.Key{Namespace: "default", Name: name}
		if _, err := accounts.Create(t.Context(), &meta.Partial{ObjectMeta: key.ObjectMeta()}); err != nil {
			t.Fatal(err)
		}
		credential, err := client.RequestToken(t.Context(), accounts, key, client.TokenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return string(credential.Token)
	}
	prometheus, other := token("prometheus"), token("other")
	h := allowed(server.Config(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	for _, test := range []struct {
		authorization, path string
		want                int
	}{
		{"Bearer " + prometheus, "/metrics", http.StatusOK},
		{"Bearer " + prometheus, "/other", http.StatusForbidden},
		{"Bearer " + other, "/metrics", http.StatusForbidden},
		{"Bearer nobody", "/metrics", http.StatusUnauthorized},
		{"Bearer a\nb", "/metrics", http.StatusBadRequest},
		{"Basic YTpi", "/metrics", http.StatusUnauthorized},
		{"", "/metrics", http.StatusUnauthorized},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.path, nil)
		request.Header["Authorization"] = []string{test.authorization}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, request)
		if answer.Code != test.want {
			t.Errorf("%s with %.20q: the answer is %d, want %d: %s", test.path, test.authorization, answer.Code, test.want, answer.Body)
		}
	}
	down := server.Config()
	down.Server = "http://127.0.0.1:1"
	down.Dial, down.Retry.Attempts = nil, 1
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	request.Header.Set("Authorization", "Bearer "+prometheus)
	answer := httptest.NewRecorder()
	if allowed(down, h).ServeHTTP(answer, request); answer.Code != http.StatusServiceUnavailable {
		t.Errorf("without an API server the answer is %d", answer.Code)
	}
}
