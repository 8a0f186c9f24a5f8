package clienttest_test

import (
	"bytes"
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

// A time is that of the last write that changed what its owner has; who only joins has none. The order is by kind of write, then by
// time.
func TestTimesOfOwnersAreThoseOfTheirChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		const path = "/api/v1/namespaces/default/configmaps/a"
		apply := []string{"Content-Type", "application/apply-patch+yaml"}
		config := func(data string) string {
			return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":` + data + `}`
		}
		version := ""
		for i, step := range []struct {
			by, how, data, want string
			same                bool
		}{
			{by: "z", data: `{"k":"1"}`, want: `z Apply 00`},
			{by: "z", data: `{"k":"1"}`, want: `z Apply 00`, same: true},
			{by: "b", data: `{"k":"1"}`, want: `b Apply none, z Apply 00`},
			{by: "b", data: `{"k":"1"}`, want: `b Apply none, z Apply 00`, same: true},
			{by: "b", data: `{"k":"1","l":"1"}`, want: `z Apply 00, b Apply 04`},
			{by: "c", how: "merge", data: `{"m":"1"}`, want: `z Apply 00, b Apply 04, c Update 05`},
			{by: "a", how: "merge", data: `{"n":"1"}`, want: `z Apply 00, b Apply 04, c Update 05, a Update 06`},
			{by: "a", how: "merge", data: `{"n":"1","m":"1"}`, want: `z Apply 00, b Apply 04, c Update 05, a Update 06`, same: true},
			{by: "c", how: "merge", data: `{"k":null}`, want: `b Apply 04, c Update 05, a Update 06`},
			{by: "z", data: `{"k":"2"}`, want: `b Apply 04, z Apply 09, c Update 05, a Update 06`},
			{by: "z", data: `{}`, want: `b Apply 04, z Apply 10, c Update 05, a Update 06`},
		} {
			body, header := config(step.data), apply
			if step.how == "merge" {
				body, header = `{"data":`+step.data+`}`, nil
			}
			got := h.must(t, http.MethodPatch, path+"?fieldManager="+step.by, body, header...)
			var obj struct{ Metadata meta.ObjectMeta }
			if err := json.Unmarshal([]byte(got), &obj); err != nil {
				t.Fatal(err)
			}
			var owners []string
			for _, e := range obj.Metadata.ManagedFields {
				at := "none"
				if e.Time != nil {
					at = e.Time.UTC().Format("05")
				}
				owners = append(owners, fmt.Sprintf("%s %s %s", e.Manager, e.Operation, at))
			}
			if text := strings.Join(owners, ", "); text != step.want {
				t.Errorf("step %d: the owners are %s, want %s", i, text, step.want)
			}
			if same := obj.Metadata.ResourceVersion == version; same != step.same {
				t.Errorf("step %d: the version stays: %t, want %t", i, same, step.same)
			}
			version = obj.Metadata.ResourceVersion
			<-time.After(time.Second)
		}
	})
}

// A document of a kilobyte that means gigabytes is refused (guarantee S7), as is one that contains itself.
func TestAnApplyDoesNotExplode(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	var bomb, directives strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 12 {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	for i := range 1 << 15 { // each of which the YAML library compares with all that come before it
		fmt.Fprintf(&directives, "%%TAG !%d! x\n", i)
	}
	for _, body := range []string{bomb.String(), directives.String() + "---\na: b\n", "a: &a [*a]\n", "a: &a {b: *a}\n"} {
		a := h.do(t, http.MethodPatch, "/api/v1/namespaces/default/configmaps/a?fieldManager=a", body, "Content-Type", "application/apply-patch+yaml")
		if status := a.status(t); a.code != http.StatusBadRequest || !strings.HasPrefix(status.Message, "error encoding patch: ") {
			t.Errorf("%.40q is answered with %d: %s", body, a.code, status.Message)
		}
	}
}

// An apply to a list that has an element without a key lost another one instead of it.
func TestAnApplyKeepsTheNeighboursOfAnElementWithoutAKey(t *testing.T) {
	nullable := fuzzWidget
	nullable.Schema = bytes.Replace(fuzzWidget.Schema, []byte(`"items":{"type":"object",`), []byte(`"items":{"type":"object","nullable":true,`), 1)
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{nullable}})
	path := fuzzKinds[5].path
	const widget = `{"apiVersion":"bowline.dev/v1","kind":"Widget","metadata":{"name":"x"},"spec":{"parts":[%s]}}`
	h.must(t, http.MethodPost, path, fmt.Sprintf(widget, `null,{"name":"a"}`))
	got := h.must(t, http.MethodPatch, path+"/x?fieldManager=m", fmt.Sprintf(widget, `{"name":"b"}`), "Content-Type", fuzzMedia[3])
	if parts := at(got, "spec", "parts"); parts != `[{"name":"a"},{"name":"b","side":"left"}]` && parts != `[{"name":"a","side":"left"},{"name":"b","side":"left"}]` {
		t.Errorf("parts are %s", parts)
	}
}
