package e2e

import (
	"cmp"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	apierrors "github.com/bowline-go/bowline/errors"
)

// clienttest asks webhooks the same questions as a kube-apiserver, at the same requests, and does the same with the answers.
func TestWebhooksOfBothServers(t *testing.T) {
	t.Parallel()
	_, ns := admin(t) // for its name, which both servers use
	ns = "hooks-" + ns
	want := playWebhooks(t, open(t, adminConfig()), ns)
	got := playWebhooks(t, open(t, clienttest.Start(t, clienttest.Options{}).Config()), ns)
	for i, step := range want {
		if got[i] != step {
			head, _, _ := strings.Cut(step, "\n")
			t.Errorf("%s: kube-apiserver and clienttest differ in\n%s", head, differences(step, got[i]))
		}
	}
}

// differences returns the lines of two texts from the first to the last that differ, with some before.
func differences(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	same := 0
	for same < min(len(x), len(y)) && x[same] == y[same] {
		same++
	}
	for len(x) > same && len(y) > same && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	before := strings.Join(x[max(0, same-8):same], "\n")
	part := func(lines []string) string { return strings.Join(lines[same:min(len(lines), same+40)], "\n") }
	return before + "\n--- kube-apiserver\n" + part(x) + "\n--- clienttest\n" + part(y)
}

// webhooks is a server of webhooks that records what it is asked.
type webhooks struct {
	mu    sync.Mutex
	calls []string
}

// take returns what was asked since it was called last.
func (w *webhooks) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	for i, call := range calls { // a real server asks several times about some deletions
		calls[i] = regexp.MustCompile(`"deletionGracePeriodSeconds": \d+`).ReplaceAllString(call, `"deletionGracePeriodSeconds": N`)
	}
	once := map[string]bool{}
	calls = slices.DeleteFunc(calls, func(call string) bool {
		head, _, _ := strings.Cut(call, "\n")
		again := once[head] && strings.Contains(call, `"operation": "DELETE"`) && strings.Contains(call, `"kind": "Pod"`)
		once[head] = true
		return again
	})
	return calls
}

// ServeHTTP implements http.Handler. The path says what the webhook answers.
func (w *webhooks) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var review struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Request    map[string]any `json:"request"`
	}
	if err := json.Unmarshal(body, &review); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	uid, _ := review.Request["uid"].(string)
	review.Request["uid"] = uid != ""
	sortOwners(review.Request)
	shown, _ := json.MarshalIndent(review, "", " ")
	w.mu.Lock()
	w.calls = append(w.calls, r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery+" "+r.Header.Get("Content-Type")+"\n"+string(shown))
	w.mu.Unlock()
	path := strings.Trim(r.URL.Path, "/")
	kind, rest, _ := strings.Cut(path, "/")
	answer := map[string]any{"uid": uid, "allowed": true}
	metadata, _ := review.Request["object"].(map[string]any)
	metadata, _ = metadata["metadata"].(map[string]any)
	patch := func(text string) { answer["patchType"], answer["patch"] = "JSONPatch", []byte(text) }
	switch kind {
	case "annotate": // adds an annotation, unless there is one
		annotations, _ := metadata["annotations"].(map[string]any)
		switch {
		case annotations == nil:
			patch(`[{"op":"add","path":"/metadata/annotations","value":{"` + rest + `":"here"}}]`)
		case annotations[rest] == nil:
			patch(`[{"op":"add","path":"/metadata/annotations/` + rest + `","value":"here"}]`)
		}
	case "patch":
		text, _ := url.QueryUnescape(rest)
		patch(text)
	case "deny":
		answer["allowed"] = false
		if rest != "" {
			text, _ := url.QueryUnescape(rest)
			answer["status"] = json.RawMessage(text)
		}
	case "warn":
		answer["warnings"] = []string{"be careful", "and slow"}
	case "fail":
		http.Error(rw, "out of order", http.StatusInternalServerError)
		return
	case "missing":
		http.NotFound(rw, r)
		return
	case "code":
		code, _ := strconv.Atoi(rest)
		http.Error(rw, "no", code)
		return
	case "moved":
		code, to, _ := strings.Cut(rest, "/")
		status, _ := strconv.Atoi(code)
		http.Redirect(rw, r, "/"+to, status)
		return
	case "garbage":
		fmt.Fprint(rw, rest)
		return
	case "answer":
		text, _ := url.QueryUnescape(rest)
		_, _ = io.WriteString(rw, strings.ReplaceAll(text, "UID", uid))
		return
	case "slow":
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Second):
		}
		return
	}
	_ = json.NewEncoder(rw).Encode(map[string]any{"kind": review.Kind, "apiVersion": review.APIVersion, "response": answer})
}

// A hook is one that sees the objects whose label case is its name.
type hook struct {
	name, path string
	mutates    bool
	more       string // further members
}

func (h hook) config(base, ca, ns string) string {
	selector := `"objectSelector":{"matchLabels":{"case":"` + h.name + `"}}`
	if strings.Contains(h.more, `"objectSelector"`) {
		selector = `"matchPolicy":"Equivalent"`
	}
	more := h.more
	if !strings.Contains(more, "timeoutSeconds") {
		more += `,"timeoutSeconds":5`
	}
	if !strings.Contains(more, "admissionReviewVersions") {
		more += `,"admissionReviewVersions":["v1"]`
	}
	if !strings.Contains(more, `"rules"`) {
		more = `"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*/*"],"scope":"Namespaced"}]` + more
	}
	return fmt.Sprintf(`{"name":"%s.example.com","clientConfig":{"url":"%s/%s","caBundle":"%s"},"sideEffects":"None",
		"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"%s"}},%s,%s}`, h.name, base, h.path, ca, ns, selector, strings.TrimPrefix(more, ","))
}

// everything selects all objects of the namespace.
const everything = `,"objectSelector":{}`

func allHooks() []hook {
	hooks := hooksByPath()
	for _, code := range []int{301, 304, 400, 401, 403, 405, 406, 409, 415, 418, 422, 429, 500, 502, 503, 504} {
		hooks = append(hooks, hook{fmt.Sprintf("code-%d", code), fmt.Sprintf("code/%d", code), true, ""})
	}
	return hooks
}

func hooksByPath() []hook {
	once := func(p string) string { return "patch/" + url.QueryEscape(p) }
	return []hook{
		{"all-mutating", "record/mutating", true, everything},
		{"all-validating", "record/validating", false, everything},
		{"first", "annotate/first", true, `,"objectSelector":{"matchLabels":{"case":"again"}},"reinvocationPolicy":"IfNeeded"`},
		{"second", "annotate/second", true, `,"objectSelector":{"matchLabels":{"case":"again"}}`},
		{"third", "annotate/third", true, `,"objectSelector":{"matchLabels":{"case":"again"}},"reinvocationPolicy":"IfNeeded"`},
		{"deny", "deny", false, ""},
		{"deny-text", "deny/" + url.QueryEscape(`{"message":"not today","code":418}`), false, ""},
		{"deny-reason", "deny/" + url.QueryEscape(`{"reason":"Teapot","code":200,"status":"Success"}`), false, ""},
		{"deny-early", "deny/" + url.QueryEscape(`{"message":"no","reason":"Conflict","code":409,"details":{"name":"x","causes":[{"field":"a.b","message":"c"}]}}`), true, ""},
		{"warn", "warn", false, ""},
		{"fail", "fail", false, ""},
		{"fail-open", "fail", false, `,"failurePolicy":"Ignore"`},
		{"missing", "missing", true, ""},
		{"moved", "moved/307/annotate/moved", true, ""},
		{"moved-twice", "moved/308/moved/307/deny", false, ""},
		{"moved-with-get", "moved/302/warn", false, ""},
		{"moved-away", "moved/307/missing", true, `,"failurePolicy":"Ignore"`},
		{"garbage", "garbage/[]", true, ""},
		{"nothing", "answer/" + url.QueryEscape(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`), true, ""},
		{"other-uid", "answer/" + url.QueryEscape(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"x","allowed":true}}`), false, ""},
		{"other-version", "answer/" + url.QueryEscape(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"uid":"UID","allowed":true}}`), false, ""},
		{"only-patch", "answer/" + url.QueryEscape(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":true,"patch":"W10="}}`), true, ""},
		{"patch-late", once(`[]`), false, ""},
		{"slow", "slow", false, `,"timeoutSeconds":1`},
		{"slow-open", "slow", true, `,"timeoutSeconds":1,"failurePolicy":"Ignore"`},
		{"side-effects", "record", false, ""},
		{"old-review", "record", false, `,"admissionReviewVersions":["v1beta1","v1"]`},
		{"patch-name", once(`[{"op":"replace","path":"/metadata/name","value":"other"}]`), true, ""},
		{"patch-namespace", once(`[{"op":"replace","path":"/metadata/namespace","value":"other"}]`), true, ""},
		{"patch-unknown", once(`[{"op":"add","path":"/unknown","value":"x"}]`), true, ""},
		{"patch-type", once(`[{"op":"add","path":"/data","value":"x"}]`), true, ""},
		{"patch-invalid", once(`[{"op":"add","path":"/metadata/finalizers","value":["a_/b"]}]`), true, ""},
		{"patch-nowhere", once(`[{"op":"remove","path":"/data/none"}]`), true, ""},
		{"patch-text", once(`not JSON`), true, ""},
		{"patch-none", once(`[]`), true, ""},
		{
			"patch-sidecar", once(`[{"op":"add","path":"/spec/containers/-","value":{"name":"side","image":"side"}}]`), true,
			`,"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]`,
		},
		{"patch-status", once(`[{"op":"add","path":"/status","value":{"phase":"Running"}}]`), true, ""},
		{
			"patch-replicas", once(`[{"op":"replace","path":"/spec/replicas","value":7}]`), true,
			`,"objectSelector":{},"rules":[{"operations":["UPDATE"],"apiGroups":["apps"],"apiVersions":["v1"],"resources":["deployments/scale"]}]`,
		},
		{"version", "annotate/version", true, `,"objectSelector":{},"rules":[{"operations":["*"],"apiGroups":["hooks.e2e.bowline.example"],"apiVersions":["v1"],"resources":["*/*"]}]`},
		{"version-exact", "annotate/exact", true, `,"objectSelector":{},"matchPolicy":"Exact",
			"rules":[{"operations":["*"],"apiGroups":["hooks.e2e.bowline.example"],"apiVersions":["v1"],"resources":["*/*"]}]`},
		{"patch-owner", once(`[{"op":"remove","path":"/metadata/managedFields"}]`), true, ""},
	}
}

// steps are the requests. The first line is the method and the path, with a media type for a patch; the rest the body.
const webhookSteps = `
POST {core}/configmaps
{"metadata":{"name":"a"},"data":{"k":"v"}}

POST {core}/configmaps?fieldManager=me&fieldValidation=Strict
{"metadata":{"generateName":"made-"},"data":{"k":"v"}}

POST {core}/configmaps?dryRun=All
{"metadata":{"name":"dry","uid":"mine","creationTimestamp":"2020-01-01T00:00:00Z","generation":7}}

PUT {core}/configmaps/a
{"metadata":{"name":"a"},"data":{"k":"w"}}

PUT {core}/configmaps/a
{"metadata":{"name":"a"},"data":{"k":"w"}}

PUT {core}/configmaps/none
{"metadata":{"name":"none"},"data":{"k":"w"}}

PATCH {core}/configmaps/a?fieldManager=me merge-patch+json
{"data":{"k":"x"}}

PATCH {core}/configmaps/a json-patch+json
[{"op":"add","path":"/data/l","value":"y"}]

PATCH {core}/configmaps/a strategic-merge-patch+json
{"data":{"k":"z"},"metadata":{"resourceVersion":"1"}}

PATCH {core}/configmaps/a?fieldManager=me&force=true apply-patch+yaml
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"applied"}}

PATCH {core}/configmaps/b?fieldManager=me apply-patch+yaml
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"k":"applied"}}

POST {core}/secrets
{"metadata":{"name":"s"},"stringData":{"k":"v"}}

POST {core}/services
{"metadata":{"name":"s"},"spec":{"ports":[{"port":80}],"clusterIP":"None"}}

POST {core}/pods
{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}

PATCH {core}/pods/p/status merge-patch+json
{"status":{"phase":"Running"}}

POST {core}/pods/p/binding
{"metadata":{"name":"p"},"target":{"kind":"Node","name":"n"}}

POST {core}/pods/p/eviction
{"metadata":{"name":"p"},"deleteOptions":{"gracePeriodSeconds":5}}

DELETE {core}/pods/p?gracePeriodSeconds=3
{}

DELETE {core}/pods/p
{"gracePeriodSeconds":0,"kind":"DeleteOptions","apiVersion":"v1"}

PUT /apis/coordination.k8s.io/v1/namespaces/{ns}/leases/l
{"metadata":{"name":"l"},"spec":{"holderIdentity":"me"}}

POST {apps}/deployments
{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}

PATCH {apps}/deployments/d/scale merge-patch+json
{"spec":{"replicas":3}}

PATCH {apps}/deployments/d/status merge-patch+json
{"status":{"replicas":3},"metadata":{"labels":{"x":"y"}}}

DELETE {apps}/deployments/d?propagationPolicy=Foreground

DELETE {core}/configmaps/a?dryRun=All

DELETE {core}/configmaps/a
{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"other"}}

DELETE {core}/configmaps/a

DELETE {core}/configmaps/a

POST {core}/configmaps
{"metadata":{"name":"c1","labels":{"l":"c"}}}

POST {core}/configmaps
{"metadata":{"name":"c2","labels":{"l":"c"},"finalizers":["example.com/f"]}}

DELETE {core}/configmaps?labelSelector=l%3Dc

PATCH {core}/configmaps/c2 merge-patch+json
{"metadata":{"finalizers":null}}

POST {core}/serviceaccounts
{"metadata":{"name":"robot"}}

POST {things}/v2/namespaces/{ns}/things
{"apiVersion":"hooks.e2e.bowline.example/v2","kind":"Thing","metadata":{"name":"t"},"spec":{"n":1,"unknown":2},"status":{"m":1}}

PATCH {things}/v1/namespaces/{ns}/things/t merge-patch+json
{"spec":{"n":2}}

PATCH {things}/v2/namespaces/{ns}/things/t/status merge-patch+json
{"status":{"m":2},"spec":{"n":9}}

PATCH {things}/v2/namespaces/{ns}/things/t/scale merge-patch+json
{"spec":{"replicas":4}}

PATCH {things}/v2/namespaces/{ns}/things/t?fieldManager=me&force=true apply-patch+yaml
{"apiVersion":"hooks.e2e.bowline.example/v2","kind":"Thing","metadata":{"name":"t"},"spec":{"n":3}}

DELETE {things}/v2/namespaces/{ns}/things/t

PATCH /api/v1/namespaces/{ns} merge-patch+json
{"metadata":{"annotations":{"a":"b"}}}
`

// thingDefinition has two versions, status and scale.
const thingDefinition = `{"metadata":{"name":"things.hooks.e2e.bowline.example"},"spec":{"group":"hooks.e2e.bowline.example","scope":"Namespaced",
	"names":{"kind":"Thing","plural":"things"},"versions":[` + thingVersion + `,"name":"v1","storage":true},` + thingVersion + `,"name":"v2","storage":false}]}}`

const thingVersion = `{"served":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.n","statusReplicasPath":".status.m"}},
	"schema":{"openAPIV3Schema":{"type":"object","properties":{
		"spec":{"type":"object","properties":{"n":{"type":"integer"},"d":{"type":"string","default":"x"}}},
		"status":{"type":"object","properties":{"m":{"type":"integer"}}}}}}`

// oneHookEach are the cases of the hooks that see one object each.
func oneHookEach() (steps []string) {
	for _, h := range allHooks() {
		switch {
		case strings.Contains(h.more, `"objectSelector"`):
		case h.name == "patch-sidecar":
			steps = append(steps, "POST {core}/pods\n"+`{"metadata":{"name":"patch-sidecar","labels":{"case":"patch-sidecar"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
		default:
			steps = append(steps, fmt.Sprintf("POST {core}/configmaps\n"+`{"metadata":{"name":%[1]q,"labels":{"case":%[1]q}}}`, h.name))
			if h.mutates {
				steps = append(steps, fmt.Sprintf("PATCH {core}/configmaps/%s merge-patch+json\n"+`{"data":{"k":"w"}}`, h.name),
					fmt.Sprintf("DELETE {core}/configmaps/%s\n", h.name))
			}
		}
	}
	return append(steps,
		"POST {core}/configmaps\n"+`{"metadata":{"name":"again","labels":{"case":"again"}}}`,
		"POST {core}/configmaps?dryRun=All\n"+`{"metadata":{"name":"dry","labels":{"case":"side-effects"}}}`,
		"PATCH {core}/configmaps/a?fieldManager=you&dryRun=All apply-patch+yaml\n"+
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"case":"again"}},"data":{"k":"applied"}}`,
	)
}

// playWebhooks sends the requests to a server with webhooks, and returns the answer of each with what webhooks were asked.
func playWebhooks(t *testing.T, c *client.Client, ns string) (shown []string) {
	t.Helper()
	asked := &webhooks{}
	server := httptest.NewTLSServer(asked)
	t.Cleanup(server.Close)
	ca, _ := json.Marshal(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	names := strings.NewReplacer("{ns}", ns, "{core}", "/api/v1/namespaces/"+ns, "{apps}", "/apis/apps/v1/namespaces/"+ns,
		"{things}", "/apis/hooks.e2e.bowline.example")
	send := func(step string) string { return sendStep(t, c, names.Replace(step)) }
	send("POST /api/v1/namespaces\n" + `{"metadata":{"name":"{ns}"}}`)
	send("POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions\n" + thingDefinition)
	eventually(t, func() error {
		if answer := send("GET {things}/v2/namespaces/{ns}/things\n"); !strings.HasPrefix(answer, "200") {
			return errors.New(answer)
		}
		return nil
	})
	for _, kind := range []string{"Mutating", "Validating"} {
		var hooks []string
		for _, h := range allHooks() {
			if h.mutates == (kind == "Mutating") {
				hooks = append(hooks, h.config(server.URL, strings.Trim(string(ca), `"`), ns))
			}
		}
		path := "/apis/admissionregistration.k8s.io/v1/" + strings.ToLower(kind) + "webhookconfigurations"
		if answer := send("POST " + path + "\n" + `{"metadata":{"name":"{ns}"},"webhooks":[` + strings.Join(hooks, ",") + `]}`); !strings.HasPrefix(answer, "201") {
			t.Fatal(answer)
		}
		t.Cleanup(func() { sendStep(t, c, "DELETE "+path+"/"+ns+"\n") })
	}
	eventually(t, func() error {
		send("POST {core}/configmaps?dryRun=All\n" + `{"metadata":{"name":"ready"}}`)
		if n := len(asked.take()); n != 2 {
			return fmt.Errorf("%d of 2 webhooks are asked", n)
		}
		return nil
	})
	steps := strings.Split(strings.TrimSpace(webhookSteps), "\n\n")
	for _, step := range append(steps, oneHookEach()...) {
		if collection := inNamespace(ns).FindString(names.Replace(step)); collection != "" {
			// A consistent list waits for the watch cache of a kube-apiserver. A write that begins with an older state
			// from there asks the webhooks about that state first, and then again.
			send("GET " + collection + "\n")
		}
		answer := send(step)
		calls := asked.take()
		for i, call := range calls {
			calls[i] = hideChance(call, ns, server.URL)
		}
		slices.Sort(calls) // by hook, and without the times: two objects may be made in one second or in two
		shown = append(shown, "> "+step+"\n"+hideChance(answer, ns, server.URL)+"\n"+strings.Join(calls, "\n"))
	}
	return shown
}

// inNamespace matches the path of a collection in a namespace.
func inNamespace(ns string) *regexp.Regexp {
	return regexp.MustCompile(`/apis?/\S*/namespaces/` + ns + `/[a-z]+`)
}

// sendStep sends one request, and returns the code, the warnings and the body of the answer.
func sendStep(t *testing.T, c *client.Client, step string) string {
	t.Helper()
	head, body, _ := strings.Cut(step, "\n")
	words := strings.Fields(head)
	path, query, _ := strings.Cut(words[1], "?")
	values, _ := url.ParseQuery(query)
	media := "json"
	if len(words) > 2 {
		media = words[2]
	}
	resp, err := c.Raw(t.Context(), client.RawRequest{
		Method: words[0], Path: path, Query: values, Header: http.Header{"Content-Type": {"application/" + media}}, Body: []byte(body),
	})
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		text, _ := json.MarshalIndent(status.Status, "", " ")
		return fmt.Sprintf("%d %s", status.Status.Code, text)
	}
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	var v any
	_ = json.Unmarshal(text, &v)
	sortOwners(v)
	text, _ = json.MarshalIndent(v, "", " ")
	return fmt.Sprintf("%d %q %s", resp.StatusCode, resp.Header["Warning"], text)
}

// sortOwners sorts managedFields by manager: their order depends on the second in which a request comes.
func sortOwners(v any) {
	switch v := v.(type) {
	case map[string]any:
		if list, _ := v["managedFields"].([]any); len(list) > 0 {
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		for _, e := range v {
			sortOwners(e)
		}
	case []any:
		for _, e := range v {
			sortOwners(e)
		}
	}
}

// hideChance replaces what differs from run to run.
func hideChance(text, ns, base string) string {
	for _, r := range []struct{ form, to string }{
		{regexp.QuoteMeta(cmp.Or(base, "none://")), "BASE"},
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "UID"},
		{`"resourceVersion": "\d+"`, `"resourceVersion": "N"`},
		{`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`, "TIME"},
		{`made-[a-z0-9]{5}`, "made-RANDOM"},
		{`127.0.0.1:\d+`, "ADDRESS"},
		// The reason why a patch does not apply has other words.
		{`"(Internal error occurred: )?(error in )?remove (for path|of /|operation does not apply).*"`, `"$1 remove"`},
		{`"token": ".*"`, `"token": "T"`},
		{`"uid": "1",\s*`, ""}, // of the user with the token
	} {
		text = regexp.MustCompile(r.form).ReplaceAllString(text, r.to)
	}
	return strings.ReplaceAll(text, ns, "NS")
}
