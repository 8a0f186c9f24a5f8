package clienttest_test

import (
	"encoding/binary"
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

// The messages below are built by hand, field by field, from the generated.proto files of k8s.io/api v0.36.3.

func protoField(number int, value []byte) []byte {
	b := binary.AppendUvarint(nil, uint64(number)<<3|2)
	b = binary.AppendUvarint(b, uint64(len(value)))
	return append(b, value...)
}

func protoNumber(number int, value uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(number)<<3), value)
}

func join(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func protoText(number int, value string) []byte { return protoField(number, []byte(value)) }

func protoEntry(number int, key, value string) []byte {
	return protoField(number, join(protoText(1, key), protoText(2, value)))
}

// protoBody wraps a message as a body.
func protoBody(apiVersion, kind string, message []byte) string {
	return "k8s\x00" + string(join(
		protoField(1, join(protoText(1, apiVersion), protoText(2, kind))), protoField(2, message), protoText(3, ""), protoText(4, "")))
}

func TestProtobufBodies(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	const protobuf = "application/vnd.kubernetes.protobuf"
	metadata := protoField(1, join(
		protoText(1, "a"), protoText(3, "default"), protoText(6, ""), protoField(8, nil),
		protoEntry(11, "l", "1"), protoEntry(12, "n", "x"), protoEntry(12, "m", "y"),
		protoField(13, join(protoText(5, "v1"), protoText(1, "Pod"), protoText(3, "p"), protoText(4, "u"), protoNumber(6, 1))),
		protoText(14, "x.io/f"),
	))
	got := h.must(t, http.MethodPost, configMaps, protoBody("v1", "ConfigMap", join(
		metadata, protoEntry(2, "k", "v"), protoEntry(3, "b", "\x00\x01"), protoNumber(4, 0),
	)), "Content-Type", protobuf)
	for _, field := range []struct {
		path []string
		want string
	}{
		{[]string{"metadata", "labels"}, `{"l":"1"}`},
		{[]string{"metadata", "annotations"}, `{"m":"y","n":"x"}`},
		{[]string{"metadata", "finalizers"}, `["x.io/f"]`},
		{[]string{"metadata", "ownerReferences"}, `[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true}]`},
		{[]string{"data"}, `{"k":"v"}`},
		{[]string{"binaryData"}, `{"b":"AAE="}`},
		{[]string{"immutable"}, "false"},
	} {
		if got := at(got, field.path...); got != field.want {
			t.Errorf("%v: got %s, want %s", field.path, got, field.want)
		}
	}
	options := func(uid string) string {
		return protoBody("meta.k8s.io/v1", "DeleteOptions", join(
			protoNumber(1, 5), protoField(2, protoText(1, uid)), protoText(4, "Background"), protoText(5, "All")))
	}
	if a := h.do(t, http.MethodDelete, configMaps+"/a", options("other"), "Content-Type", protobuf); a.code != 409 {
		t.Errorf("delete with another uid: got %d %s", a.code, a.body)
	}
	h.must(t, http.MethodDelete, configMaps+"/a", options(at(got, "metadata", "uid")), "Content-Type", protobuf)
	if at(h.must(t, http.MethodGet, configMaps+"/a", ""), "metadata", "deletionTimestamp") != "" {
		t.Error("a dry run deleted the object")
	}
	good := protoBody("v1", "ConfigMap", metadata)
	for i, body := range []string{"", "k8s", "k8s\x00", "k8s\x00\xff", good[:len(good)/2], good[:40] + "\xff" + good[40:]} {
		if a := h.do(t, http.MethodPut, configMaps+"/a", body+" ", "Content-Type", protobuf); a.code != 400 {
			t.Errorf("bad body %d: got %d %s", i, a.code, a.body)
		}
	}
	h.must(t, http.MethodPut, configMaps+"/a", protoBody("v1", "ConfigMap", join(metadata, protoText(99, "new"))), "Content-Type", protobuf)
	const pods = "/api/v1/namespaces/default/pods"
	if a := h.do(t, http.MethodPost, pods, good, "Content-Type", protobuf); a.code != 400 || !strings.HasSuffix(messageOf(a.body),
		`no kind "ConfigMap" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`) {
		t.Errorf("another kind: got %d %s", a.code, a.body)
	}
	for _, path := range []string{"pods/p", "pods/p/binding", "pods/p/eviction"} {
		path = "/api/v1/namespaces/default/" + path
		container := protoField(2, join(protoText(1, "a"), protoText(2, "b")))
		body := protoBody("v1", "Pod", join(protoField(1, protoText(1, "p")), protoField(2, container)))
		switch method := http.MethodPost; {
		case strings.HasSuffix(path, "binding"):
			body = protoBody("v1", "Binding", join(protoField(1, protoText(1, "p")), protoField(2, protoText(3, "n"))))
			h.must(t, method, path, body, "Content-Type", protobuf)
		case strings.HasSuffix(path, "eviction"):
			body = protoBody("policy/v1", "Eviction", join(protoField(1, protoText(1, "p")), protoField(2, protoNumber(1, 0))))
			h.must(t, method, path, body, "Content-Type", protobuf)
		default:
			h.must(t, method, pods, body, "Content-Type", protobuf)
		}
	}
}

// Errors are protobuf too, for the first form that the client accepts without asking for another object.
func TestErrorsAreInTheFormThatIsAccepted(t *testing.T) {
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{{Group: "example.com", Version: "v1", Kind: "Widget", Resource: "widgets"}}})
	const protobuf = "application/vnd.kubernetes.protobuf"
	const widgets = "/apis/example.com/v1/namespaces/default/widgets"
	const partial = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	for _, test := range []struct {
		path, accept, want string
		code               int
	}{
		{configMaps + "/none", protobuf, protobuf, 404},
		{configMaps + "/none", protobuf + ",application/json", protobuf, 404},
		{configMaps + "/none", "application/json," + protobuf, "application/json", 404},
		{configMaps + "/none", "application/yaml;q=0.9," + protobuf + ";q=0.3", "application/yaml", 404},
		{configMaps + "/none", protobuf + partial, "application/json", 404},
		{configMaps + "/none", protobuf + partial + ",application/yaml", "application/yaml", 404},
		{configMaps + "/none", protobuf + ";q=0.3,*/*", "application/json", 404},
		{configMaps + "/none", "*/*," + protobuf + ";q=0.3", protobuf, 404},
		{widgets + "/none", protobuf, protobuf, 406},
		{widgets + "/none", protobuf + ",application/json", protobuf, 404},
		{widgets + "/none", protobuf + partial, "application/json", 404},
	} {
		resp := h.open(t, http.MethodGet, test.path, "", "Accept", test.accept)
		resp.Body.Close()
		if got := resp.Header.Get("Content-Type"); resp.StatusCode != test.code || got != test.want {
			t.Errorf("%s with %q: got %d in %s, want %d in %s", test.path, test.accept, resp.StatusCode, got, test.code, test.want)
		}
	}
}

// A watch was never answered if the client accepted protobuf first and the kind had none.
func TestWatchFallsBackToJSON(t *testing.T) {
	servers(t, clienttest.Options{Resources: []clienttest.Resource{gadgets()}}, func(t *testing.T, h *harness) {
		w := h.watch(t, gadgetsPath, "Accept", "application/vnd.kubernetes.protobuf,application/json")
		defer w.resp.Body.Close()
		if got := w.resp.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("the watch comes as %q", got)
		}
		h.createGadget(t, "a", "")
		if got := w.next(t).brief(); got != "ADDED a" {
			t.Errorf("got the event %s, want ADDED a", got)
		}
	})
}

// FuzzProtobuf looks for a body that the server does not answer.
func FuzzProtobuf(f *testing.F) {
	h := newHarness(f, clienttest.Options{})
	f.Add(protoBody("v1", "ConfigMap", protoField(1, protoText(1, "a"))))
	f.Add("k8s\x00\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
	f.Fuzz(func(t *testing.T, body string) {
		a := h.do(t, http.MethodPost, configMaps+"?dryRun=All", body+" ", "Content-Type", "application/vnd.kubernetes.protobuf")
		if a.code != 201 && a.code != 400 && a.code != 422 {
			t.Errorf("got %d %s", a.code, a.body)
		}
	})
}
