package clienttest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

const gadgetsPath = "/apis/gadgets.example.com/v1/namespaces/default/gadgets"

func gadgets() clienttest.Resource {
	return clienttest.Resource{Group: "gadgets.example.com", Version: "v1", Kind: "Gadget", Resource: "gadgets"}
}

func (h *harness) createGadget(tb testing.TB, name, more string) string {
	tb.Helper()
	return h.must(tb, http.MethodPost, gadgetsPath,
		`{"apiVersion":"gadgets.example.com/v1","kind":"Gadget","metadata":{"name":"`+name+`"`+more+`}}`)
}

func TestRollback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Replicas: 2})
		a := h.create(t, "a")
		h.create(t, "gone")
		backup := h.server.ResourceVersion()
		if backup != h.version(t) {
			t.Errorf("ResourceVersion is %s, lists say %s", backup, h.version(t))
		}
		h.must(t, http.MethodPatch, configMaps+"/a", `{"data":{"k":"changed"}}`)
		h.must(t, http.MethodDelete, configMaps+"/gone", "")
		b := h.create(t, "b")
		h.must(t, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"later"}}`)
		future := h.server.ResourceVersion()
		token := at(h.must(t, http.MethodGet, configMaps+"?limit=1", ""), "metadata", "continue")
		if err := h.server.Register(gadgets()); err != nil {
			t.Fatal(err)
		}
		h.createGadget(t, "w", "")
		w := h.watch(t, configMaps+"?resourceVersion="+future)

		if err := h.server.Rollback(backup); err != nil {
			t.Fatal(err)
		}
		if events, err := w.rest(); len(events) != 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the watch from before: got %v, %v", briefs(events), err)
		}
		list := h.must(t, http.MethodGet, configMaps, "")
		if got := fmt.Sprint(names(t, list)); got != "[a gone]" || at(list, "metadata", "resourceVersion") != backup {
			t.Errorf("got %s at %s", got, at(list, "metadata", "resourceVersion"))
		}
		if got := h.must(t, http.MethodGet, configMaps+"/a", ""); got != a {
			t.Errorf("a is %s, want %s", got, a)
		}
		if got := names(t, h.must(t, http.MethodGet, gadgetsPath, "")); len(got) != 0 {
			t.Errorf("gadgetsPath are %v, and there were none", got)
		}
		if a := h.do(t, http.MethodGet, "/api/v1/namespaces/later", ""); a.code != 404 {
			t.Errorf("the namespace that was made later: %d", a.code)
		}
		// The same name and version, another object.
		again := h.create(t, "b")
		if at(again, "metadata", "uid") == at(b, "metadata", "uid") {
			t.Error("the object that is made again has the uid from before")
		}
		if n := h.create(t, "c"); at(n, "metadata", "resourceVersion") > future {
			t.Errorf("versions do not start again: %s", at(n, "metadata", "resourceVersion"))
		}
		// Versions before are forgotten, tokens too, and one from the future is not there yet.
		if e := h.watch(t, configMaps+"?resourceVersion=2").next(t); at(string(e.Object), "reason") != "Expired" {
			t.Errorf("a watch from before the backup: %s %s", e.Type, e.Object)
		}
		if a := h.do(t, http.MethodGet, configMaps+"?limit=1&continue="+token, ""); a.code != 504 {
			t.Errorf("a token from the future: %d %s", a.code, a.body)
		}
		if a := h.do(t, http.MethodGet, configMaps+"?resourceVersion="+future, ""); a.code != 504 {
			t.Errorf("a list from the future: %d %s", a.code, a.body)
		}
		if got := h.watch(t, configMaps+"?resourceVersion="+backup).next(t).brief(); got != "ADDED b" {
			t.Errorf("a watch from the backup starts with %s", got)
		}
		h.must(t, http.MethodDelete, configMaps+"/b", "")
	})
}

func TestRollbackRefuses(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.create(t, "a")
	old := h.server.ResourceVersion()
	h.create(t, "b")
	h.server.Compact()
	for version, want := range map[string]string{
		"x": "invalid syntax", "99": "the present version is 5", old: "the history of configmaps.v1 starts at 5",
	} {
		if err := h.server.Rollback(version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want it to say %s", version, err, want)
		}
	}
	if got := fmt.Sprint(names(t, h.must(t, http.MethodGet, configMaps, ""))); got != "[a b]" {
		t.Errorf("after it: %s", got)
	}
}

// fault F40: a resource goes away and comes back.
func TestUnregister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{gadgets()}})
		before := h.createGadget(t, "a", `,"finalizers":["example.com/never"]`)
		w := h.watch(t, gadgetsPath)
		synctest.Wait()
		if err := h.server.Unregister(gadgets().GVR()); err != nil {
			t.Fatal(err)
		}
		if events, err := w.rest(); fmt.Sprint(briefs(events)) != "[ADDED a DELETED a]" || err != nil {
			t.Errorf("the watch brings %v and ends with %v", briefs(events), err)
		}
		for _, path := range []string{gadgetsPath, gadgetsPath + "/a", gadgetsPath + "?watch=true"} {
			if a := h.do(t, http.MethodGet, path, ""); a.code != 404 || a.body != "404 page not found\n" {
				t.Errorf("%s: got %d %s", path, a.code, a.body)
			}
		}
		if err := h.server.Register(gadgets()); err != nil {
			t.Fatal(err)
		}
		if got := names(t, h.must(t, http.MethodGet, gadgetsPath, "")); len(got) != 0 {
			t.Errorf("it comes back with %v", got)
		}
		if after := h.createGadget(t, "a", ""); at(after, "metadata", "uid") == at(before, "metadata", "uid") {
			t.Error("the object has the uid from before")
		}
		if e := h.watch(t, gadgetsPath+"?resourceVersion="+at(before, "metadata", "resourceVersion")).next(t); at(string(e.Object), "reason") != "Expired" {
			t.Errorf("a watch from before: %s %s", e.Type, e.Object)
		}
		for gvr, want := range map[meta.GVR]string{
			{Version: "v1", Resource: "pods"}:     "it is built in",
			{Version: "v1", Resource: "nothings"}: "it is not registered",
		} {
			if err := h.server.Unregister(gvr); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", gvr, err, want)
			}
		}
	})
}
