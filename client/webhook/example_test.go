package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/bowline-go/bowline/client/webhook"
)

func ExampleDefault() {
	handler := webhook.Default(Sites, func(_ context.Context, r *webhook.Request[*Site]) error {
		if len(r.Object.Spec.Hosts) == 0 {
			r.Object.Spec.Hosts = []string{r.Key.Name + ".example.com"}
		}
		return nil
	})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/default?timeout=10s", strings.NewReader(`{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
			"uid": "1", "kind": {"group": "example.com", "version": "v2", "kind": "Site"}, "operation": "CREATE", "name": "home",
			"object": {"apiVersion": "example.com/v2", "kind": "Site", "metadata": {"name": "home"}, "spec": {"note": "kept"}}}}`)))
	fmt.Println(w.Body)
	// Output:
	// {"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"1","allowed":true,"patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvaG9zdHMiLCJ2YWx1ZSI6WyJob21lLmV4YW1wbGUuY29tIl19XQ==","patchType":"JSONPatch"}}
}
