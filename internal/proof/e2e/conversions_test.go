package e2e

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
)

// clienttest converts the versions of a definition by a webhook as a kube-apiserver does, and fails with the same words.
func TestConversionsOfBothServers(t *testing.T) {
	t.Parallel()
	_, ns := admin(t) // for its name, which both servers use
	ns = "conversions-" + ns
	want := playConversions(t, open(t, adminConfig()), ns)
	got := playConversions(t, open(t, clienttest.Start(t, clienttest.Options{}).Config()), ns)
	for i, step := range want {
		if got[i] != step {
			head, _, _ := strings.Cut(step, "\n")
			t.Errorf("%s: kube-apiserver and clienttest differ in\n%s", head, differences(step, got[i]))
		}
	}
}

// converter is a webhook that converts boxes: v1 has spec.width and spec.height, v2 has spec.size, such as 2x3. The spec
// of a box of v2 says how its conversion to v1 fails.
type converter struct {
	mu    sync.Mutex
	asked map[string]string // the first call about each object, by its name and the wanted version
}

// call returns the first call that converted an object to a version.
func (c *converter) call(name, to string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[name+" "+to]
}

// ServeHTTP implements http.Handler.
func (c *converter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var review struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Request    map[string]any `json:"request"`
		Response   map[string]any `json:"response"`
	}
	if err := json.Unmarshal(body, &review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	to, _ := review.Request["desiredAPIVersion"].(string)
	objects, _ := review.Request["objects"].([]any)
	uid := review.Request["uid"]
	shown, _ := json.MarshalIndent(review, "", " ")
	answer := map[string]any{"uid": uid, "result": map[string]any{"status": "Success"}}
	var converted []any
	fault := ""
	for _, v := range objects {
		o, _ := v.(map[string]any)
		metadata, _ := o["metadata"].(map[string]any)
		spec, _ := o["spec"].(map[string]any)
		c.mu.Lock()
		if key := fmt.Sprint(metadata["name"], " ", to); c.asked[key] == "" {
			c.asked[key] = r.Method + " " + r.URL.Path + "?" + r.URL.RawQuery + " " + r.Header.Get("Content-Type") + "\n" + string(shown)
		}
		c.mu.Unlock()
		convertBox(o, spec, to)
		if strings.HasSuffix(to, "/v1") {
			fault, _ = spec["fault"].(string)
			spoil(fault, o, metadata, answer)
		}
		converted = append(converted, o)
	}
	if answer["convertedObjects"] == nil {
		answer["convertedObjects"] = converted
	}
	whole := map[string]any{"kind": review.Kind, "apiVersion": review.APIVersion, "response": answer}
	switch fault {
	case "code-500":
		http.Error(w, "out of order", http.StatusInternalServerError)
		return
	case "code-404":
		http.NotFound(w, r)
		return
	case "garbage":
		fmt.Fprint(w, "[]")
		return
	case "other-review":
		whole["apiVersion"] = "apiextensions.k8s.io/v1beta1"
	case "no-response":
		delete(whole, "response")
	}
	_ = json.NewEncoder(w).Encode(whole)
}

// convertBox converts a box and its spec.
func convertBox(o, spec map[string]any, to string) {
	o["apiVersion"] = to
	if size, found := spec["size"].(string); found && strings.HasSuffix(to, "/v1") {
		var width, height int
		_, _ = fmt.Sscanf(size, "%dx%d", &width, &height)
		spec["width"], spec["height"] = width, height
		delete(spec, "size")
		delete(spec, "label")
	} else if strings.HasSuffix(to, "/v2") {
		spec["size"] = fmt.Sprint(spec["width"], "x", spec["height"])
		delete(spec, "width")
		delete(spec, "height")
	}
}

// spoil makes a conversion fail.
func spoil(fault string, o, metadata, answer map[string]any) {
	switch fault {
	case "message":
		answer["result"] = map[string]any{"status": "Failure", "message": "no box has this size"}
	case "no-message":
		answer["result"] = map[string]any{"status": "Failure"}
	case "no-status":
		answer["result"] = map[string]any{}
	case "other-uid":
		answer["uid"] = "other"
	case "none":
		answer["convertedObjects"] = []any{}
	case "two":
		answer["convertedObjects"] = []any{o, o}
	case "null":
		answer["convertedObjects"] = []any{map[string]any{}}
	case "name":
		metadata["name"] = "other"
	case "namespace":
		metadata["namespace"] = "other"
	case "object-uid":
		metadata["uid"] = "other"
	case "version":
		o["apiVersion"] = "conversions.e2e.bowline.example/v3"
	case "kind":
		o["kind"] = "Other"
	case "no-metadata":
		delete(o, "metadata")
	case "labels-type":
		metadata["labels"] = "a"
	case "label-type":
		metadata["labels"] = map[string]any{"a": 1}
	case "label-value":
		metadata["labels"] = map[string]any{"a": "not valid"}
	case "annotation-key":
		metadata["annotations"] = map[string]any{"not valid": "a"}
	case "labels": // does not fail
		metadata["labels"] = map[string]any{"in": "v1"}
	case "metadata": // neither does this, and the metadata stays
		metadata["finalizers"], metadata["generation"] = []any{"example.com/f"}, 7
	case "unknown": // nor this
		o["spec"].(map[string]any)["unknown"] = 1
	}
}

const conversionSteps = `
POST {boxes}/v1/namespaces/{ns}/boxes
{"apiVersion":"{group}/v1","kind":"Box","metadata":{"name":"a","labels":{"a":"b"}},"spec":{"width":2,"height":3}}

GET {boxes}/v2/namespaces/{ns}/boxes/a

POST {boxes}/v2/namespaces/{ns}/boxes?fieldManager=me
{"apiVersion":"{group}/v2","kind":"Box","metadata":{"name":"b","annotations":{"a":"b"}},"spec":{"size":"4x5","unknown":1}}

GET {boxes}/v1/namespaces/{ns}/boxes/b

POST {boxes}/v2/namespaces/{ns}/boxes?dryRun=All
{"apiVersion":"{group}/v2","kind":"Box","metadata":{"name":"dry"},"spec":{"size":"04x05"}}

POST {boxes}/v2/namespaces/{ns}/boxes
{"apiVersion":"{group}/v2","kind":"Box","metadata":{"name":"b"},"spec":{"size":"4x5"}}

POST {boxes}/v2/namespaces/{ns}/boxes
{"apiVersion":"{group}/v2","kind":"Box","metadata":{"name":"lossy"},"spec":{"size":"04x05"}}

PATCH {boxes}/v2/namespaces/{ns}/boxes/a merge-patch+json
{"spec":{"size":"6x7"}}

PATCH {boxes}/v1/namespaces/{ns}/boxes/b merge-patch+json
{"spec":{"width":9}}

PATCH {boxes}/v2/namespaces/{ns}/boxes/b json-patch+json
[{"op":"test","path":"/spec/size","value":"9x5"},{"op":"add","path":"/metadata/finalizers","value":["example.com/f"]}]

PATCH {boxes}/v2/namespaces/{ns}/boxes/a/status merge-patch+json
{"status":{"full":true},"spec":{"size":"0x0"}}

PATCH {boxes}/v2/namespaces/{ns}/boxes/applied?fieldManager=me apply-patch+yaml
{"apiVersion":"{group}/v2","kind":"Box","metadata":{"name":"applied"},"spec":{"size":"1x1"}}

PATCH {boxes}/v2/namespaces/{ns}/boxes/applied?fieldManager=me apply-patch+yaml
{"apiVersion":"{group}/v2","kind":"Box","metadata":{"name":"applied"},"spec":{"size":"2x2"}}

PATCH {boxes}/v2/namespaces/{ns}/boxes/applied?fieldManager=you apply-patch+yaml
{"apiVersion":"{group}/v2","kind":"Box","metadata":{"name":"applied"},"spec":{"size":"3x3"}}

PATCH {boxes}/v2/namespaces/{ns}/boxes/applied?fieldManager=you&force=true apply-patch+yaml
{"apiVersion":"{group}/v2","kind":"Box","metadata":{"name":"applied"},"spec":{"size":"3x3"}}

GET {boxes}/v1/namespaces/{ns}/boxes/applied

GET {boxes}/v2/namespaces/{ns}/boxes?labelSelector=a%3Db

DELETE {boxes}/v2/namespaces/{ns}/boxes/b

GET {boxes}/v1/namespaces/{ns}/boxes/b

PATCH {boxes}/v1/namespaces/{ns}/boxes/b merge-patch+json
{"metadata":{"finalizers":null}}

GET {boxes}/v2/namespaces/{ns}/boxes/b

DELETE {boxes}/v1/namespaces/{ns}/boxes/lossy
`

// boxDefinition has two versions, of which the second has other fields and another default.
const boxDefinition = `{"metadata":{"name":"boxes.{group}"},"spec":{"group":"{group}","scope":"Namespaced","names":{"kind":"Box","plural":"boxes"},
	"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["{review}"],"clientConfig":{"url":"{url}/convert","caBundle":"{ca}"}}},
	"versions":[
		{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"spec":{"type":"object","properties":{"width":{"type":"integer"},"height":{"type":"integer"},"fault":{"type":"string"},
				"color":{"type":"string","default":"red"}}},
			"status":{"type":"object","properties":{"full":{"type":"boolean"}}}}}}},
		{"name":"v2","served":true,"storage":false,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"spec":{"type":"object","properties":{"size":{"type":"string"},"fault":{"type":"string"},"label":{"type":"string","default":"none"},
				"color":{"type":"string"}}},
			"status":{"type":"object","properties":{"full":{"type":"boolean"}}}}}}}]}}`

// conversionFaults are the words that spoil and the webhook know.
func conversionFaults() []string {
	return []string{
		"message", "no-message", "no-status", "other-uid", "none", "two", "null", "name", "namespace", "object-uid", "version", "kind",
		"no-metadata", "labels-type", "label-type", "label-value", "annotation-key", "labels", "metadata", "unknown", "code-500", "code-404", "garbage",
		"other-review", "no-response",
	}
}

// playConversions sends requests to a server in two versions of definitions whose webhook speaks each version of the
// review. It returns the answers, and how the webhook was asked.
func playConversions(t *testing.T, c *client.Client, ns string) (shown []string) {
	t.Helper()
	asked := &converter{asked: map[string]string{}}
	server := httptest.NewTLSServer(asked)
	t.Cleanup(server.Close)
	ca, _ := json.Marshal(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	// A real server converts the objects to find the owners of fields in the other version; clienttest does not.
	writtenInBoth := regexp.MustCompile(`boxes/[ab]\b|labelSelector`)
	owners := regexp.MustCompile(`(?s)\n *"managedFields": \[.*?\n *\],?`)
	sendStep(t, c, "POST /api/v1/namespaces\n"+`{"metadata":{"name":"`+ns+`"}}`)
	for _, review := range []string{"v1", "v1beta1"} {
		group := review + ".conversions.e2e.bowline.example"
		names := strings.NewReplacer("{ns}", ns, "{boxes}", "/apis/"+group, "{group}", group, "{url}", server.URL,
			"{ca}", strings.Trim(string(ca), `"`), "{review}", review)
		send := func(step string) string { return sendStep(t, c, names.Replace(step)) }
		if answer := send("POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions\n" + boxDefinition); !strings.HasPrefix(answer, "201") {
			t.Fatal(answer)
		}
		t.Cleanup(func() { send("DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/boxes.{group}\n") })
		eventually(t, func() error {
			if answer := send("POST {boxes}/v2/namespaces/{ns}/boxes?dryRun=All\n" +
				`{"apiVersion":"{group}/v2","kind":"Box","metadata":{"name":"ready"},"spec":{"size":"1x1"}}`); !strings.HasPrefix(answer, "201") {
				return errors.New(answer)
			}
			return nil
		})
		steps := strings.Split(strings.TrimSpace(conversionSteps), "\n\n")
		for _, fault := range conversionFaults() {
			steps = append(steps, "POST {boxes}/v2/namespaces/{ns}/boxes\n"+
				fmt.Sprintf(`{"apiVersion":"{group}/v2","kind":"Box","metadata":{"name":%[1]q},"spec":{"size":"1x1","fault":%[1]q}}`, fault),
				"GET {boxes}/v1/namespaces/{ns}/boxes/"+fault+"\n")
		}
		for _, step := range steps {
			answer := hideChance(strings.ReplaceAll(send(step), group, "GROUP"), ns, server.URL)
			if writtenInBoth.MatchString(step) {
				answer = owners.ReplaceAllString(answer, "")
			}
			shown = append(shown, "> "+review+" "+step+"\n"+answer)
		}
		call := hideChance(strings.ReplaceAll(asked.call("b", group+"/v1"), group, "GROUP"), ns, server.URL)
		shown = append(shown, "> "+review+" the webhook\n"+call)
	}
	return shown
}
