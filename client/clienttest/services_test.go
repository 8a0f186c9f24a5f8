package clienttest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

const services = "/api/v1/namespaces/default/services"

// service returns a service with a name and the members of a spec, which has one port.
func service(name, spec string) string {
	return `{"metadata":{"name":"` + name + `"},"spec":{` + strings.TrimSuffix(`"ports":[{"port":80}],`+spec, ",") + `}}`
}

func TestAServiceGetsAnAddressThatIsFree(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	first := h.must(t, http.MethodPost, services, service("a", ""))
	if got := at(first, "spec", "clusterIP"); got != "10.0.0.17" {
		t.Errorf("the first address is %s", got)
	}
	second := h.must(t, http.MethodPost, services, service("b", ""))
	if got := at(second, "spec", "clusterIP"); got != "10.0.0.18" {
		t.Errorf("the second address is %s", got)
	}
	if a := h.do(t, http.MethodPost, services, service("c", `"clusterIP":"10.0.0.17"`)); a.code != 422 || !strings.Contains(string(a.body), "spec.clusterIPs") {
		t.Errorf("a taken address: %d %s", a.code, a.body)
	}
	if a := h.do(t, http.MethodPost, services, service("c", `"clusterIP":"10.0.1.17"`)); a.code != 422 {
		t.Errorf("an address out of range: %d %s", a.code, a.body)
	}
	h.must(t, http.MethodDelete, services+"/a", "")
	again := h.must(t, http.MethodPost, services, service("c", `"clusterIP":"10.0.0.17"`))
	if got := at(again, "spec", "clusterIP"); got != "10.0.0.17" {
		t.Errorf("a deleted service keeps its address: got %s", got)
	}
}

func TestAServiceGetsNodePortsThatAreFree(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	created := h.must(t, http.MethodPost, services, service("a", `"type":"NodePort"`))
	if got := nodePortOf(t, created); got != 30086 {
		t.Errorf("the first port is %d", got)
	}
	taken := `{"metadata":{"name":"b"},"spec":{"type":"NodePort","ports":[{"port":80,"nodePort":30086}]}}`
	if a := h.do(t, http.MethodPost, services, taken); a.code != 422 || !strings.Contains(string(a.body), "spec.ports[0].nodePort") {
		t.Errorf("a taken port: %d %s", a.code, a.body)
	}
	if a := h.do(t, http.MethodPost, services, strings.Replace(taken, "30086", "80", 1)); a.code != 422 {
		t.Errorf("a port out of range: %d %s", a.code, a.body)
	}
	// An update that does not name the port keeps it, and one to another type frees it.
	updated := h.must(t, http.MethodPut, services+"/a", service("a", `"type":"NodePort","selector":{"a":"b"}`))
	if got := nodePortOf(t, updated); got != 30086 {
		t.Errorf("the port after an update is %d", got)
	}
	updated = h.must(t, http.MethodPut, services+"/a", service("a", `"type":"ClusterIP"`))
	if got := nodePortOf(t, updated); got != 0 {
		t.Errorf("the port of a service of type ClusterIP is %d", got)
	}
	h.must(t, http.MethodPost, services, taken)
}

func TestAServiceWithoutAnAddress(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	external := h.must(t, http.MethodPost, services, `{"metadata":{"name":"e"},"spec":{"type":"ExternalName","externalName":"example.com"}}`)
	if got := at(external, "spec", "clusterIP"); got != "" {
		t.Errorf("an external name has the address %s", got)
	}
	headless := h.must(t, http.MethodPost, services, service("h", `"clusterIP":"None"`))
	if got := at(headless, "spec", "clusterIP"); got != "None" {
		t.Errorf("a headless service has the address %s", got)
	}
	updated := h.must(t, http.MethodPut, services+"/e", service("e", ""))
	if got := at(updated, "spec", "clusterIP"); got != "10.0.0.17" {
		t.Errorf("an external name that becomes a service has the address %s", got)
	}
}

// nodePortOf returns the node port of the first port of a service.
func nodePortOf(t *testing.T, body string) int {
	t.Helper()
	var s struct {
		Spec struct{ Ports []struct{ NodePort int } }
	}
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		t.Fatal(err)
	}
	return s.Spec.Ports[0].NodePort
}
