package clienttest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

func TestMergePatch(t *testing.T) {
	// The examples of RFC 7396, appendix A, whose results are objects, below spec.
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
	for i, test := range []struct{ target, patch, want string }{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`{"e":null}`, `{"a":1}`, `{"a":1,"e":null}`},
		{`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
		{`{"a":{"b":1}}`, `["c"]`, `["c"]`},
	} {
		name := fmt.Sprintf("w%d", i)
		h.must(t, http.MethodPost, widgetPath, `{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"`+name+`"},"spec":`+test.target+`}`)
		got := h.must(t, http.MethodPatch, widgetPath+"/"+name, `{"spec":`+test.patch+`}`)
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(got), &m); err != nil || string(m["spec"]) != test.want {
			t.Errorf("%s patched with %s: got %s, want %s", test.target, test.patch, m["spec"], test.want)
		}
	}
}

// The error sorts the members that the merge patch goes through and leaves the order of the others: metadata begins with the name.
func TestAMergePatchThatIsRefusedShowsWhatItMakes(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.create(t, "a")
	for _, test := range []struct{ patch, want string }{
		{`{"data":{"m":1,"n":"2"}}`, `{"apiVersion":"v1","data":{"k":"v","m":1,"n":"2"},"kind":"ConfigMap","metadata":{"name":"a","namespace":"default","uid":"`},
		{
			`{"data":1,"metadata":{"labels":{"b":"1","a":"2"}}}`,
			`{"apiVersion":"v1","data":1,"kind":"ConfigMap","metadata":{"creationTimestamp":"`,
		},
		{`{"data":{"k":null,"m":{"z":1,"y":null}}}`, `{"apiVersion":"v1","data":{"m":{"z":1}},"kind":"ConfigMap","metadata":{"name":"a",`},
	} {
		a := h.do(t, http.MethodPatch, configMaps+"/a", test.patch)
		want := fmt.Sprintf(" \"\" is invalid: patch: Invalid value: %q", test.want)
		if got := a.status(t).Message; !strings.HasPrefix(got, strings.TrimSuffix(want, `"`)) {
			t.Errorf("%s: got %s, want %s...", test.patch, got, want)
		}
	}
}

func TestManagedFieldsSayWhoWroteWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
		const path = widgetPath + "/w"
		h.must(t, http.MethodPost, widgetPath+"?fieldManager=one",
			`{"kind":"Widget","apiVersion":"example.dev/v1","metadata":{"name":"w","finalizers":["x.io/f"]},"spec":{"a":1,"b":1,"c":{"d":1}}}`)
		for _, patch := range []struct{ path, body string }{
			{path + "?fieldManager=two", `{"metadata":{"labels":{"l":"1"}},"spec":{"b":2,"c":{"e":1}}}`},
			{path + "?fieldManager=one", `{"spec":{"a":null,"f":[1]}}`},
			{path + "/status?fieldManager=two", `{"status":{"ok":true}}`},
		} {
			<-time.After(time.Second)
			h.must(t, http.MethodPatch, patch.path, patch.body)
		}
		var w struct{ Metadata meta.ObjectMeta }
		if err := json.Unmarshal([]byte(h.must(t, http.MethodGet, path, "")), &w); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range w.Metadata.ManagedFields {
			got = append(got, fmt.Sprintf("%s %q %s %s", e.Manager, e.Subresource, e.Time.UTC().Format("05"), e.FieldsV1))
		}
		want := []string{
			`two "" 01 {"f:metadata":{"f:labels":{".":{},"f:l":{}}},"f:spec":{"f:b":{},"f:c":{"f:e":{}}}}`,
			`one "" 02 {"f:metadata":{"f:finalizers":{".":{},"v:\"x.io/f\"":{}}},"f:spec":{".":{},"f:c":{".":{},"f:d":{}},"f:f":{}}}`,
			`two "status" 03 {"f:status":{".":{},"f:ok":{}}}`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A resize of a pod that has no containers, or null for one, was a panic. Only a lenient server has such pods.
func TestAPodWithoutContainersCanBeResized(t *testing.T) {
	h := newHarness(t, clienttest.Options{Lenient: true})
	const pods = "/api/v1/namespaces/default/pods"
	for name, spec := range map[string]string{"none": "", "null": `,"spec":{"containers":[null]}`} {
		h.must(t, http.MethodPost, pods, `{"metadata":{"name":"`+name+`"}`+spec+`}`)
		h.must(t, http.MethodPut, pods+"/"+name+"/resize",
			`{"metadata":{"name":"`+name+`"},"spec":{"containers":[{"resources":{"limits":{"cpu":"1"}}}]}}`)
	}
}
