package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestOneLineOfTheOptionsIsAdded(t *testing.T) {
	before := "package main\n\nimport (\n\t\"time\"\n)\n\nfunc main() {\n\topts := manager.Options{\n\t\tCache: c,\n\t}\n}\n"
	got, err := useOurCache(before)
	if err != nil {
		t.Fatal(err)
	}
	for _, added := range []string{"\t\"" + ourCache + "\"\n\n", "\t\tNewCache: ctrlcache.New,\n"} {
		if strings.Count(got, added) != 1 {
			t.Errorf("got %q without %q", got, added)
		}
		got = strings.Replace(got, added, "", 1)
	}
	if got != before {
		t.Errorf("more than the two lines has changed: %q", got)
	}
	for name, text := range map[string]string{
		"no options":      strings.Replace(before, "manager.Options", "other.Options", 1),
		"options twice":   before + before[strings.Index(before, "func"):],
		"no import group": strings.Replace(before, "import (", "import", 1),
	} {
		if _, err := useOurCache(text); err == nil {
			t.Errorf("%s: the file is accepted", name)
		}
	}
}

func TestLinesThatDoNotCompileAreDropped(t *testing.T) {
	got, err := dropLines("a\nb one\nc\nuses one\ntwo\n", []string{"one", "two"})
	if want := "a\nc\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if _, err := dropLines("a\n", []string{"b"}); err == nil {
		t.Error("a word that no line has is accepted")
	}
}

func parse(texts ...string) (objects []unstructured.Unstructured) {
	for _, text := range texts {
		objects = append(objects, *object("%s", text))
	}
	return objects
}

const (
	ownerFirst  = `{kind: Set, metadata: {name: a, namespace: ns, uid: u1, generation: 7, resourceVersion: "5"}, status: {observedGeneration: 7}}`
	childFirst  = `{kind: Child, metadata: {name: a-x1, generateName: a-, namespace: ns, uid: u2, ownerReferences: [{name: a, uid: u1}], creationTimestamp: "2026-01-02T03:04:05Z"}, status: {node: node-3, at: "2026-01-02T03:04:05Z", self: a-x1}}`
	ownerSecond = `{kind: Set, metadata: {name: a, namespace: ns, uid: v1, generation: 9, resourceVersion: "8"}, status: {observedGeneration: 9}}`
	childSecond = `{kind: Child, metadata: {name: a-zz, generateName: a-, namespace: ns, uid: v2, ownerReferences: [{name: a, uid: v1}], creationTimestamp: "2026-02-02T03:04:05Z"}, status: {node: node-9, at: "2026-02-02T03:04:05Z", self: a-zz}}`
)

func TestStatesThatDifferInWhatIsRandomAreEqual(t *testing.T) {
	first := normalize(parse(ownerFirst, childFirst), nil, nodeNames...)
	second := normalize(parse(childSecond, ownerSecond), nil, nodeNames...)
	if diff := compare(first, second); diff != nil {
		t.Errorf("the states differ: %q", diff)
	}
	want := `Child ns/a-* {"kind":"Child","metadata":{"generateName":"a-","name":"a-*","namespace":"ns","ownerReferences":` +
		`[{"name":"a","uid":"uid of Set a"}]},"status":{"at":"a time","node":"a node","self":"a-*"}}`
	if !slices.Contains(first, want) {
		t.Errorf("got %q, want the line %q", first, want)
	}
	if got, want := kindsOf(first), "1 Child, 1 Set"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStatesThatDifferInMoreThanRandomValuesAreDifferent(t *testing.T) {
	base := normalize(parse(ownerFirst, childFirst), nil)
	for name, other := range map[string][]unstructured.Unstructured{
		"a child more":                 parse(ownerFirst, childFirst, strings.Replace(childFirst, "a-x1, gen", "a-x2, gen", 1)),
		"a child less":                 parse(ownerFirst),
		"another owner":                parse(ownerFirst, strings.Replace(childFirst, "uid: u1", "uid: u9", 1)),
		"a generation not observed":    parse(strings.Replace(ownerFirst, "observedGeneration: 7", "observedGeneration: 6", 1), childFirst),
		"a status that is not the one": parse(ownerFirst, strings.Replace(childFirst, "node: node-3", "node: none", 1)),
	} {
		if diff := compare(base, normalize(other, nil)); len(diff) == 0 {
			t.Errorf("%s: the states are equal", name)
		}
	}
	if got, want := compare([]string{"a", "b", "b"}, []string{"b", "c"}), []string{"- a", "- b", "+ c"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheSamplesOfAMetricAreAddedUp(t *testing.T) {
	text := "# TYPE n counter\nn{controller=\"a\",result=\"error\"} 1\nn{controller=\"a\",result=\"success\"} 2.5e+01\nn{controller=\"b\"} 8\nnn{controller=\"a\"} 9\n"
	if got := sumOf(text, "n", `controller="a"`); got != 26 {
		t.Errorf("got %v, want 26", got)
	}
}

func TestASetIsSettledWhenItHasItsMachinesAndSaysSo(t *testing.T) {
	set := `{kind: MachineSet, metadata: {name: s, uid: u, generation: 2}, spec: {replicas: 1}, status: {replicas: 1, fullyLabeledReplicas: 1, readyReplicas: 1, availableReplicas: 1, observedGeneration: 2}}`
	machine := `{kind: Machine, metadata: {name: m, ownerReferences: [{name: s, uid: u, controller: true}]}, status: {nodeRef: {name: node}}}`
	if lack := lacksOfMachineSets(parse(set, machine)); lack != "" {
		t.Errorf("it lacks %s", lack)
	}
	for name, objects := range map[string][]unstructured.Unstructured{
		"no machine":        parse(set),
		"two machines":      parse(set, machine, machine),
		"an orphan":         parse(set, machine, `{kind: Machine, metadata: {name: o}, status: {nodeRef: {name: node}}}`),
		"a machine of none": parse(machine),
		"no node":           parse(set, strings.Replace(machine, "nodeRef", "other", 1)),
		"an old status":     parse(strings.Replace(set, "readyReplicas: 1", "readyReplicas: 0", 1), machine),
		"not observed":      parse(strings.Replace(set, "observedGeneration: 2", "observedGeneration: 1", 1), machine),
	} {
		if lacksOfMachineSets(objects) == "" {
			t.Errorf("%s: it is settled", name)
		}
	}
}

func TestTheStormHasFaultsUntilItIsCalm(t *testing.T) {
	s := newStorm(1)
	faults := func() map[string]bool {
		got := map[string]bool{}
		for range 2000 {
			for _, r := range []*http.Request{
				httptest.NewRequest(http.MethodGet, "/api/v1/pods?watch=true", nil),
				httptest.NewRequest(http.MethodGet, "/api/v1/pods", nil),
				httptest.NewRequest(http.MethodPost, "/api/v1/pods", nil),
			} {
				fault, _ := s.faultOf(r)
				got[fault] = true
			}
		}
		return got
	}
	got := faults()
	for _, want := range slices.Concat(ofReads, ofWrites, ofWatch, ofEvents, []string{""}) {
		if !got[want] {
			t.Errorf("no request met %q", want)
		}
	}
	s.calm()
	if got := faults(); len(got) != 1 || !got[""] {
		t.Errorf("after the storm: %v", got)
	}
}

func TestListsWithoutAnOrderAreSorted(t *testing.T) {
	related := func(names string) []string {
		return normalize(parse(`{kind: Report, metadata: {name: r}, status: {relatedObjects: [`+names+`], args: [b, a]}}`), []string{"relatedObjects"})
	}
	got := related(`{name: b}, {name: a}`)
	if diff := compare(got, related(`{name: a}, {name: b}`)); diff != nil {
		t.Errorf("the order counts: %q", diff)
	}
	if !strings.Contains(got[0], `"args":["b","a"]`) {
		t.Errorf("another list is sorted too: %q", got)
	}
}

func TestTheUsageOfAProcessIsRead(t *testing.T) {
	stat := "42 (a (b) c) S 1 42 42 0 -1 4194560 1 2 3 4 150 25 0 0 20 0 9 0 12345 123456789 4321\n"
	status := "Name:\ta (b) c\nVmPeak:\t  900 kB\nVmHWM:\t     200 kB\nVmRSS:\t     100 kB\nRssAnon:\t 80 kB\n"
	got, err := usageOf(stat, status)
	if want := (usage{cpu: 1750 * time.Millisecond, resident: 100 << 10, peak: 200 << 10}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if _, err := usageOf(stat, "Name:\ta\n"); err == nil {
		t.Error("a process without memory, which has ended, is accepted")
	}
}

func TestAutoscalersAreSettledWhenTheyAreInForceAndReported(t *testing.T) {
	report := `{kind: ClusterOperator, metadata: {name: cluster-autoscaler}, status: {conditions: [
		{type: Available, status: "True", message: at version 4.22.0}, {type: Progressing, status: "False"},
		{type: Degraded, status: "False"}, {type: Upgradeable, status: "True"}],
		relatedObjects: [{resource: machinesets, name: s}, {resource: clusterroles, name: c}]}}`
	set := `{kind: MachineSet, metadata: {name: s, annotations: {` + minAnnotation + `: "1", ` + maxAnnotation + `: "2", ` +
		ownerAnnotation + `: openshift-machine-api/a}}}`
	scaler := `{kind: MachineAutoscaler, metadata: {name: a, finalizers: [f]},
		spec: {minReplicas: 1, maxReplicas: 2, scaleTargetRef: {name: s}}, status: {lastTargetRef: {name: s}}}`
	deployment := `{kind: Deployment, metadata: {name: d}, spec: {args: [--max-nodes-total=10, --more]}}`
	good := []string{
		`{kind: ClusterAutoscaler, metadata: {name: default}, spec: {resourceLimits: {maxNodesTotal: 10}}}`,
		`{kind: Service, metadata: {name: s}}`, `{kind: ServiceMonitor, metadata: {name: s}}`,
		`{kind: PrometheusRule, metadata: {name: s}}`, `{kind: NetworkPolicy, metadata: {name: s}}`,
		report, set, scaler, deployment,
	}
	if lack := lacksOfAutoscalers(parse(good...)); lack != "" {
		t.Errorf("it lacks %s", lack)
	}
	for name, change := range map[string][2]string{
		"another bound":             {`"2"`, `"50"`},
		"no set":                    {"kind: MachineSet", "kind: Other"},
		"the last set is another":   {"lastTargetRef: {name: s", "lastTargetRef: {name: t"},
		"no finalizer":              {"finalizers: [f]", "finalizers: []"},
		"being deleted":             {"finalizers: [f]", `finalizers: [f], deletionTimestamp: "2026-01-02T03:04:05Z"`},
		"a deleted Service":         {"kind: Service,", "kind: Other,"},
		"a deleted Deployment":      {"kind: Deployment", "kind: Other"},
		"an old Deployment":         {"--max-nodes-total=10", "--max-nodes-total=100"},
		"a report of trouble":       {`Degraded, status: "False"`, `Degraded, status: "True"`},
		"a report with a reason":    {"at version 4.22.0", "available, but"},
		"a report of a set too few": {"resource: machinesets", "resource: machines"},
	} {
		changed := slices.Clone(good)
		for i := range changed {
			changed[i] = strings.Replace(changed[i], change[0], change[1], 1)
		}
		if slices.Equal(changed, good) {
			t.Errorf("%s: nothing has changed", name)
		}
		if lacksOfAutoscalers(parse(changed...)) == "" {
			t.Errorf("%s: it is settled", name)
		}
	}
}

// upstream answers each request with an event. A watch stays open.
type upstream struct{}

const added = `{"type":"ADDED"}` + "\n"

func (upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	body := io.Reader(strings.NewReader(added))
	if r.URL.Query().Has("watch") {
		body = io.MultiReader(body, open{r.Context()})
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(body)}, nil
}

// open is a body without an end.
type open struct{ ctx context.Context }

func (o open) Read([]byte) (int, error) {
	<-o.ctx.Done()
	return 0, o.ctx.Err()
}

func TestEachFaultBreaksTheResponseInItsWay(t *testing.T) {
	const expired = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure",` +
		`"message":"the storm refuses this","reason":"Expired","code":410}}` + "\n"
	for _, test := range []struct {
		fault, path, body string
		broken            bool
	}{
		{"", "/", added, false},
		{"truncated", "/", added[:len(added)/2], true},
		{"response lost", "/", "", true},
		{"watch closed", "/?watch", added, false},
		{"watch cut", "/?watch", added, true},
		{cutWithinEvent, "/?watch", added[:len(added)/2], true},
		{"410 in the watch", "/?watch", added + expired, false},
	} {
		s := newStorm(1)
		s.target, s.upstream = &url.URL{}, upstream{}
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var after time.Duration
			if r.URL.Query().Has("watch") {
				after = 1
			}
			s.forward(w, r, test.fault, after)
		}))
		var body []byte
		resp, err := http.Get(front.URL + test.path)
		if err == nil {
			body, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if string(body) != test.body || (err != nil) != test.broken {
			t.Errorf("%q: got %q, %v; want %q, broken: %v", test.fault, body, err, test.body, test.broken)
		}
		front.Close()
	}
}
