package main

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

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

func TestStatesThatDifferInMoreAreDifferent(t *testing.T) {
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
