package clienttest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	apierrors "github.com/bowline-go/bowline/errors"
)

// writeJSON sends a JSON document, and returns the answer.
func writeJSON(t *testing.T, c *client.Client, method, path, doc string) (map[string]any, error) {
	t.Helper()
	kind := "application/json"
	if method == http.MethodPatch {
		kind = "application/merge-patch+json"
	}
	resp, err := c.Raw(t.Context(), client.RawRequest{
		Method: method, Path: path, Header: http.Header{"Content-Type": {kind}}, Body: []byte(doc),
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(b, &answer); err != nil {
		t.Fatal(err)
	}
	return answer, nil
}

func TestClaimsHaveTheDefaultClassAndGrowIfItAllowsThat(t *testing.T) {
	c, err := client.New(clienttest.Start(t, clienttest.Options{}).Config())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	do := func(method, path, doc string) map[string]any {
		t.Helper()
		answer, err := writeJSON(t, c, method, path, doc)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	const classes, claims = "/apis/storage.k8s.io/v1/storageclasses", "/api/v1/namespaces/default/persistentvolumeclaims"
	do("POST", classes, `{"metadata":{"name":"fast","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},
		"provisioner":"example.com/disk"}`)
	claim := do("POST", claims, `{"metadata":{"name":"data"},
		"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`)
	if class := claim["spec"].(map[string]any)["storageClassName"]; class != "fast" {
		t.Errorf("class %v, want fast", class)
	}
	do("PATCH", claims+"/data/status", `{"status":{"phase":"Bound"}}`)
	more := `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`
	_, err = writeJSON(t, c, "PATCH", claims+"/data", more)
	if apierrors.ReasonOf(err) != apierrors.Forbidden || !strings.Contains(err.Error(), "resize") {
		t.Errorf("a class that does not allow it: %v", err)
	}
	do("PATCH", classes+"/fast", `{"allowVolumeExpansion":true}`)
	do("PATCH", claims+"/data", more)
	do("DELETE", claims+"/data", `{}`)
	if _, err := writeJSON(t, c, "GET", claims+"/data", ""); apierrors.ReasonOf(err) != apierrors.NotFound {
		t.Errorf("the claim is still there: %v", err)
	}
}
