package canned

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

const podCount = 25

func serveTest(t *testing.T) *Server {
	t.Helper()
	pods, err := Collect(Plain, podCount)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Serve(pods)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func list(t *testing.T, s *Server, query string) (l corev1.PodList) {
	t.Helper()
	response, err := http.Get(s.URL + "/api/v1/pods?" + query)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&l); err != nil {
		t.Fatal(err)
	}
	return l
}

func control(t *testing.T, s *Server, what string) (a Answer) {
	t.Helper()
	response, err := http.Post(s.URL+"/control/"+what, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a
}

// watch opens a watch; next reads an event, and reports whether there was one.
func watch(t *testing.T, s *Server, query string) (next func() (kind string, pod corev1.Pod, more bool), leave func()) {
	t.Helper()
	response, err := http.Get(s.URL + "/api/v1/pods?watch=true&" + query)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(response.Body)
	return func() (string, corev1.Pod, bool) {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return "", corev1.Pod{}, false
		}
		if err != nil {
			t.Fatal(err)
		}
		var event struct {
			Type   string
			Object json.RawMessage
		}
		var pod corev1.Pod
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		if event.Type != "ERROR" {
			if err := json.Unmarshal(event.Object, &pod); err != nil {
				t.Fatal(err)
			}
		}
		return event.Type, pod, true
	}, func() { response.Body.Close() }
}

func TestPodsAreOfTheSizeThatThePackageSays(t *testing.T) {
	for i := range podCount {
		raw, err := Pod(i)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) < 6500 || len(raw) > 7500 {
			t.Errorf("a pod has %d bytes, want about 7,000", len(raw))
		}
	}
}

func TestPagesAreTheWholeList(t *testing.T) {
	s := serveTest(t)
	whole := list(t, s, "")
	if len(whole.Items) != podCount || whole.Continue != "" || whole.ResourceVersion != "1000000" {
		t.Fatalf("got %d pods at %q, continued %q", len(whole.Items), whole.ResourceVersion, whole.Continue)
	}
	var names []string
	for token := "0"; token != ""; {
		page := list(t, s, "limit=10&continue="+token)
		token = page.Continue
		for _, pod := range page.Items {
			names = append(names, pod.Name)
		}
	}
	for i, pod := range whole.Items {
		if i >= len(names) || names[i] != pod.Name {
			t.Fatalf("pages have %d pods, and not those of the list", len(names))
		}
	}
	if asked := s.TakeRequests(); asked != "a list in 4 pages" {
		t.Errorf("the server counted %s", asked)
	}
}

func TestAStreamingListEndsInItsBookmark(t *testing.T) {
	s := serveTest(t)
	next, leave := watch(t, s, "sendInitialEvents=true")
	defer leave()
	for i := range podCount {
		if kind, pod, _ := next(); kind != "ADDED" || pod.Kind != "Pod" || pod.ResourceVersion != fmt.Sprint(100_000+i) {
			t.Fatalf("event %d is %s of %s %s at %s", i, kind, pod.Kind, pod.Name, pod.ResourceVersion)
		}
	}
	kind, pod, _ := next()
	if kind != "BOOKMARK" || pod.Annotations["k8s.io/initial-events-end"] != "true" || pod.ResourceVersion != "1000000" {
		t.Errorf("the last event is %s with %v at %s", kind, pod.Annotations, pod.ResourceVersion)
	}
}

func TestEveryEventHasANewVersion(t *testing.T) {
	for name, rate := range map[string]int{"as fast as they are taken": 0, "at a rate": 10_000} {
		t.Run(name, func(t *testing.T) {
			s := serveTest(t)
			next, leave := watch(t, s, "resourceVersion=1000000")
			defer leave()
			const events = 2*podCount + 5
			if a := control(t, s, fmt.Sprintf("modify?events=%d&rate=%d", events, rate)); a.Version != 1_000_000+events {
				t.Errorf("the last version is %d", a.Version)
			}
			changes := map[string]int{}
			for i := range events {
				kind, pod, _ := next()
				if kind != "MODIFIED" || pod.ResourceVersion != fmt.Sprint(1_000_001+i) || len(pod.Spec.Containers) != 2 {
					t.Fatalf("event %d is %s of %s at %s", i, kind, pod.Name, pod.ResourceVersion)
				}
				changes[pod.Name]++
			}
			if len(changes) != podCount {
				t.Errorf("%d pods changed, want all", len(changes))
			}
		})
	}
}

func TestAnExpiredWatchEndsWith410AndTheListMovesOn(t *testing.T) {
	s := serveTest(t)
	next, leave := watch(t, s, "resourceVersion=1000000")
	defer leave()
	if a := control(t, s, "expire"); a.Version != 1_000_001 {
		t.Errorf("the list is at %d", a.Version)
	}
	if kind, _, _ := next(); kind != "ERROR" {
		t.Errorf("got %s, want ERROR", kind)
	}
	if kind, _, more := next(); more {
		t.Errorf("got %s after the error", kind)
	}
	l := list(t, s, "limit=1000")
	if l.ResourceVersion != "1000001" || !slices.ContainsFunc(l.Items, func(p corev1.Pod) bool { return p.ResourceVersion == "100000" }) {
		t.Errorf("the list after that is at %s, and its pods have changed", l.ResourceVersion)
	}
}

func TestAResetWaitsForTheWatchAndForgetsTheHistory(t *testing.T) {
	s := serveTest(t)
	next, leave := watch(t, s, "sendInitialEvents=true")
	next()
	control(t, s, "modify?events=3&rate=0")
	go leave()
	if a := control(t, s, "reset"); a.Asked != "a streaming list" || a.Version != 1_000_000 {
		t.Errorf("got %+v", a)
	}
	if l := list(t, s, ""); l.ResourceVersion != "1000000" {
		t.Errorf("the list is at %s", l.ResourceVersion)
	}
}

func TestBadCommandsAreRefused(t *testing.T) {
	s := serveTest(t)
	for _, what := range []string{"modify?events=0&rate=0", "modify?events=x&rate=0", "modify?events=1&rate=-1", "modify?events=1"} {
		response, err := http.Post(s.URL+"/control/"+what, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: got %s", what, response.Status)
		}
	}
}

// controller-runtime maps kinds to resources by discovery.
func TestDiscoveryFindsThePods(t *testing.T) {
	c, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: serveTest(t).URL})
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := c.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	if len(lists) != 1 || len(lists[0].APIResources) != 1 || lists[0].APIResources[0].Kind != "Pod" {
		t.Errorf("got %+v", lists)
	}
}
