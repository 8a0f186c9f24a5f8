package clienttest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

// boxes is a definition of two versions that the service hooks/convert converts: v1, which is stored, has a width and a
// height, and v2 a size such as 2x3.
func boxes(served bool) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"boxes.example.com"},
	"spec":{"group":"example.com","scope":"Namespaced","names":{"kind":"Box","plural":"boxes"},
	"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
		"clientConfig":{"service":{"namespace":"hooks","name":"convert"}}}},
	"versions":[
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"spec":{"type":"object","properties":{"width":{"type":"integer"},"height":{"type":"integer"}}}}}}},
		{"name":"v2","served":%t,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"spec":{"type":"object","properties":{"size":{"type":"string"}}}}}}}]}}`, served)
}

const (
	boxesV1 = "/apis/example.com/v1/namespaces/default/boxes"
	boxesV2 = "/apis/example.com/v2/namespaces/default/boxes"
)

func box(version, name, spec string) string {
	return `{"apiVersion":"example.com/` + version + `","kind":"Box","metadata":{"name":"` + name + `"},"spec":` + spec + `}`
}

// converts is the webhook. change changes the answer, and may be nil.
type converts struct {
	asked  atomic.Int64
	change atomic.Pointer[func(answer, object map[string]any)]
}

// ServeHTTP implements http.Handler.
func (c *converts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.asked.Add(1)
	var review struct {
		Request struct {
			UID     string           `json:"uid"`
			To      string           `json:"desiredAPIVersion"`
			Objects []map[string]any `json:"objects"`
		} `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := map[string]any{
		"uid": review.Request.UID, "convertedObjects": review.Request.Objects, "result": map[string]any{"status": "Success"},
	}
	for _, o := range review.Request.Objects {
		o["apiVersion"] = review.Request.To
		spec, _ := o["spec"].(map[string]any)
		if size, found := spec["size"].(string); found {
			var width, height int
			_, _ = fmt.Sscanf(size, "%dx%d", &width, &height)
			o["spec"] = map[string]any{"width": width, "height": height}
		} else {
			o["spec"] = map[string]any{"size": fmt.Sprint(spec["width"], "x", spec["height"])}
		}
		if change := c.change.Load(); change != nil {
			(*change)(answer, o)
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1", "response": answer})
}

// withBoxes runs a test with a server that has the definition.
func withBoxes(t *testing.T, served bool, test func(t *testing.T, h *harness, c *converts)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &converts{}
		h := newHarness(t, clienttest.Options{Services: map[string]http.Handler{"hooks/convert": c}})
		h.must(t, http.MethodPost, crdsPath, boxes(served))
		test(t, h, c)
	})
}

// checkSpec compares the spec of an object.
func checkSpec(t *testing.T, what, body, want string) {
	t.Helper()
	if got := at(body, "spec"); got != want {
		t.Errorf("%s: the spec is %s, want %s", what, got, want)
	}
}

func TestAWebhookConvertsVersions(t *testing.T) {
	withBoxes(t, true, func(t *testing.T, h *harness, _ *converts) {
		watch := h.watch(t, boxesV2)
		made := h.must(t, http.MethodPost, boxesV2, box("v2", "a", `{"size":"02x3"}`))
		checkSpec(t, "a create in v2 answers with what is stored", made, `{"size":"2x3"}`)
		checkSpec(t, "v1", h.must(t, http.MethodGet, boxesV1+"/a", ""), `{"height":3,"width":2}`)
		checkSpec(t, "an update in v1", h.must(t, http.MethodPatch, boxesV1+"/a", `{"spec":{"width":4}}`), `{"height":3,"width":4}`)
		checkSpec(t, "v2", h.must(t, http.MethodGet, boxesV2+"/a", ""), `{"size":"4x3"}`)
		checkSpec(t, "a patch in v2", h.must(t, http.MethodPatch, boxesV2+"/a", `{"spec":{"size":"5x5"}}`), `{"size":"5x5"}`)
		applied := h.must(t, http.MethodPatch, boxesV2+"/b?fieldManager=me", box("v2", "b", `{"size":"1x1"}`), "Content-Type", "application/apply-patch+yaml")
		checkSpec(t, "an apply in v2", applied, `{"size":"1x1"}`)
		again := h.must(t, http.MethodPatch, boxesV2+"/b?fieldManager=me", box("v2", "b", `{"size":"2x2"}`), "Content-Type", "application/apply-patch+yaml")
		checkSpec(t, "a second apply", again, `{"size":"2x2"}`)
		a := h.do(t, http.MethodPatch, boxesV2+"/b?fieldManager=you", box("v2", "b", `{"size":"3x3"}`), "Content-Type", "application/apply-patch+yaml")
		if a.code != http.StatusConflict {
			t.Errorf("an apply of another owner is answered with %d", a.code)
		}
		dry := h.must(t, http.MethodPost, boxesV2+"?dryRun=All", box("v2", "c", `{"size":"07x7"}`))
		checkSpec(t, "a dry run", dry, `{"size":"7x7"}`)
		if list := h.must(t, http.MethodGet, boxesV1, ""); len(names(t, list)) != 2 || !strings.Contains(list, `{"height":2,"width":2}`) {
			t.Errorf("the list in v1 is %s", list)
		}
		for _, want := range []string{`{"size":"2x3"}`, `{"size":"4x3"}`, `{"size":"5x5"}`, `{"size":"1x1"}`, `{"size":"2x2"}`} {
			checkSpec(t, "an event in v2", string(watch.next(t).Object), want)
		}
		h.must(t, http.MethodDelete, boxesV1+"/b", "")
		if a := h.do(t, http.MethodGet, boxesV2+"/b", ""); a.code != http.StatusNotFound {
			t.Errorf("a deleted object is answered with %d in the other version", a.code)
		}
	})
}

// A deletion changes only metadata, so it needs no webhook, and keeps what each version has.
func TestADeletionNeedsNoConversion(t *testing.T) {
	withBoxes(t, true, func(t *testing.T, h *harness, c *converts) {
		h.must(t, http.MethodPost, boxesV2, strings.Replace(box("v2", "a", `{"size":"2x3"}`), `"name"`, `"finalizers":["example.com/f"],"name"`, 1))
		asked := c.asked.Load()
		deleted := h.must(t, http.MethodDelete, boxesV2+"/a", "")
		checkSpec(t, "the answer", deleted, `{"size":"2x3"}`)
		v1 := h.must(t, http.MethodGet, boxesV1+"/a", "")
		checkSpec(t, "v1", v1, `{"height":3,"width":2}`)
		if at(v1, "metadata", "deletionTimestamp") == "" {
			t.Errorf("the object is not being deleted in v1: %s", v1)
		}
		h.must(t, http.MethodPatch, boxesV1+"/a", `{"metadata":{"finalizers":null}}`)
		if a := h.do(t, http.MethodGet, boxesV2+"/a", ""); a.code != http.StatusNotFound {
			t.Errorf("without its finalizer the object is answered with %d", a.code)
		}
		if now := c.asked.Load(); now != asked {
			t.Errorf("the webhook is asked %d times about a deletion", now-asked)
		}
	})
}

func TestAConversionThatFailsFailsTheWrite(t *testing.T) {
	withBoxes(t, true, func(t *testing.T, h *harness, c *converts) {
		h.must(t, http.MethodPost, boxesV1, box("v1", "a", `{"width":1,"height":1}`))
		const prefix = "conversion webhook for example.com/v2, Kind=Box "
		for _, test := range []struct {
			change func(answer, o map[string]any)
			want   string
		}{
			{func(answer, _ map[string]any) {
				answer["result"] = map[string]any{"status": "Failure", "message": "too big"}
			}, prefix + "failed: too big"},
			{func(_, o map[string]any) {
				o["metadata"].(map[string]any)["name"] = "other"
			}, prefix + "returned invalid object: must have the same name: b != other"},
			{func(answer, _ map[string]any) { answer["convertedObjects"] = []any{} }, prefix + "returned 0 objects, expected 1"},
			{func(_, o map[string]any) {
				o["metadata"].(map[string]any)["labels"] = map[string]any{"a": 1}
			}, prefix + "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object"},
		} {
			c.change.Store(&test.change)
			a := h.do(t, http.MethodPost, boxesV2, box("v2", "b", `{"size":"2x3"}`))
			if a.code != http.StatusInternalServerError || a.status(t).Message != test.want {
				t.Errorf("the answer is %d %s, want %s", a.code, a.body, test.want)
			}
		}
		checkSpec(t, "another object", h.must(t, http.MethodGet, boxesV2+"/a", ""), `{"size":"1x1"}`)
	})
}

// While the webhook works, the store is not locked, and another write makes the first begin again.
func TestAConversionDoesNotLockTheStore(t *testing.T) {
	withBoxes(t, true, func(t *testing.T, h *harness, c *converts) {
		h.must(t, http.MethodPost, boxesV1, box("v1", "a", `{"width":1,"height":1}`))
		slow := func(_, _ map[string]any) { time.Sleep(time.Second) }
		c.change.Store(&slow)
		done := make(chan answer)
		go func() { done <- h.do(t, http.MethodPatch, boxesV2+"/a", `{"metadata":{"labels":{"a":"b"}}}`) }()
		time.Sleep(time.Second / 2)
		c.change.Store(nil)
		h.must(t, http.MethodPatch, boxesV1+"/a", `{"spec":{"width":2}}`)
		patched := <-done
		checkSpec(t, "the slow patch", patched.body, `{"size":"2x1"}`)
		if got := at(h.must(t, http.MethodGet, boxesV1+"/a", ""), "metadata", "labels"); got != `{"a":"b"}` {
			t.Errorf("the labels are %s", got)
		}
	})
}

// A version that a definition gains has the objects that exist, which one call of the webhook converts.
func TestADefinitionGainsAVersion(t *testing.T) {
	withBoxes(t, false, func(t *testing.T, h *harness, c *converts) {
		for _, name := range []string{"a", "b"} {
			h.must(t, http.MethodPost, boxesV1, box("v1", name, `{"width":1,"height":2}`))
		}
		if n := c.asked.Load(); n != 0 {
			t.Errorf("the webhook is asked %d times about the only version", n)
		}
		change := func(answer, _ map[string]any) {
			answer["result"] = map[string]any{"status": "Failure", "message": "not yet"}
		}
		c.change.Store(&change)
		const serve = `[{"op":"replace","path":"/spec/versions/1/served","value":true}]`
		a := h.do(t, http.MethodPatch, crdsPath+"/boxes.example.com", serve, "Content-Type", "application/json-patch+json")
		if want := "conversion webhook for example.com/v1, Kind=Box failed: not yet"; a.code != 500 || a.status(t).Message != want {
			t.Errorf("the answer is %d %s, want %s", a.code, a.body, want)
		}
		c.change.Store(nil)
		h.must(t, http.MethodPatch, crdsPath+"/boxes.example.com", serve, "Content-Type", "application/json-patch+json")
		if n := c.asked.Load(); n != 2 {
			t.Errorf("the webhook is asked %d times, want once and once in vain", n)
		}
		for _, name := range []string{"a", "b"} {
			checkSpec(t, name, h.must(t, http.MethodGet, boxesV2+"/"+name, ""), `{"size":"1x2"}`)
		}
		// A change that the versions do not depend on asks nothing.
		h.must(t, http.MethodPatch, crdsPath+"/boxes.example.com", `{"metadata":{"labels":{"a":"b"}}}`)
		if n := c.asked.Load(); n != 2 {
			t.Errorf("a label makes the webhook be asked: %d times", n)
		}
	})
}

// A webhook of admission that wants another version gets the object converted.
func TestAnAdmissionWebhookSeesAConvertedObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Services: map[string]http.Handler{
			"hooks/convert": &converts{}, "hooks/hooks": answering(`[{"op":"replace","path":"/spec/width","value":9}]`),
		}})
		h.must(t, http.MethodPost, crdsPath, boxes(true))
		h.must(t, http.MethodPost, "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", `{"metadata":{"name":"hooks"},
			"webhooks":[{"name":"a.example.com","clientConfig":{"service":{"namespace":"hooks","name":"hooks"}},"sideEffects":"None",
			"admissionReviewVersions":["v1"],"rules":[{"operations":["CREATE"],"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["boxes"]}]}]}`)
		checkSpec(t, "the answer", h.must(t, http.MethodPost, boxesV2, box("v2", "a", `{"size":"2x3"}`)), `{"size":"9x3"}`)
	})
}

func TestObjectsOfConvertedVersionsAreRefusedBeforeRun(t *testing.T) {
	t.Parallel()
	err := clienttest.New(clienttest.Options{
		CRDs: []string{write(t, "boxes.json", boxes(true))}, Objects: []string{write(t, "a.json", box("v1", "a", `{"width":1}`))},
	}).Run(t.Context())
	if want := "Box a: a webhook converts its versions, and the server calls no webhook before Run"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error is %v, want %s", err, want)
	}
}
