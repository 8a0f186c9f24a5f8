package clienttest_test

import (
	"net/http"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

func TestANewIngressGetsTheDefaultClass(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	const classes, ingresses = "/apis/networking.k8s.io/v1/ingressclasses", "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
	const spec = `"spec":{"defaultBackend":{"service":{"name":"a","port":{"number":80}}}}}`
	before := h.must(t, http.MethodPost, ingresses, `{"metadata":{"name":"a"},`+spec)
	if got := at(before, "spec", "ingressClassName"); got != "" {
		t.Errorf("without a default class: %s", got)
	}
	h.must(t, http.MethodPost, classes, `{"metadata":{"name":"c","annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}},`+
		`"spec":{"controller":"example.com/a"}}`)
	after := h.must(t, http.MethodPost, ingresses, `{"metadata":{"name":"b"},`+spec)
	if got := at(after, "spec", "ingressClassName"); got != "c" {
		t.Errorf("with a default class: %q", got)
	}
}
