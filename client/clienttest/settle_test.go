package clienttest_test

import (
	"net/http"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

func TestANamespaceWaitsForFinalizersInItsSpec(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	const path = "/api/v1/namespaces"
	h.must(t, http.MethodPost, path, `{"metadata":{"name":"a"},"spec":{"finalizers":["example.com/a"]}}`)
	h.must(t, http.MethodDelete, path+"/a", "")
	h.must(t, http.MethodGet, path+"/a", "")
	h.must(t, http.MethodPut, path+"/a/finalize", `{"metadata":{"name":"a"},"spec":{}}`)
	if a := h.do(t, http.MethodGet, path+"/a", ""); a.code != http.StatusNotFound {
		t.Errorf("the namespace is there: %d %s", a.code, a.body)
	}
}
