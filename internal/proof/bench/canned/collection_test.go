package canned

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// collect makes n objects of a collection.
func collect(t *testing.T, name string, n int) Collection {
	t.Helper()
	c, err := Collect(name, n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each object has a name, a uid and a version of its own, and the size that the package says.
func TestCollectionsAreServed(t *testing.T) {
	sizes := map[string]struct{ least, most int }{
		"secrets": {32_000, 33_000}, "deployments": {5_500, 7_500}, "custom": {1_000, 1_500}, "pods-real": {5_000, 11_000},
	}
	for _, name := range Collections() {
		c := collect(t, name, 200)
		n := Count(name, 200)
		if size, want := c.Size()/n, sizes[name]; want.most > 0 && (size < want.least || size > want.most) {
			t.Errorf("%s: an object has %d bytes, want %d to %d", name, size, want.least, want.most)
		}
		s, err := Serve(c)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.Get(s.URL + c.path)
		if err != nil {
			t.Fatal(err)
		}
		var l struct {
			Kind, APIVersion string
			Items            []struct {
				Metadata struct{ Name, Namespace, UID, ResourceVersion string }
			}
		}
		if err := json.NewDecoder(response.Body).Decode(&l); err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		seen := map[string]bool{}
		for _, i := range l.Items {
			for _, own := range []string{i.Metadata.Namespace + "/" + i.Metadata.Name, i.Metadata.UID, i.Metadata.ResourceVersion} {
				if own == "" || seen[own] {
					t.Errorf("%s: %q is empty, or two objects have it", name, own)
				}
				seen[own] = true
			}
		}
		if len(l.Items) != n || l.Kind != c.kind+"List" || l.APIVersion != c.apiVersion {
			t.Errorf("%s: got %d items of %s %s, want %d", name, len(l.Items), l.APIVersion, l.Kind, n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Collect("nonsense", 1); err == nil || !strings.Contains(err.Error(), `"nonsense"`) {
		t.Errorf("an unknown collection: %v", err)
	}
}

// parts returns the volumes, tolerations, containers and labels of the pods of a collection, as JSON.
func parts(t *testing.T, name string, n int) (all []string) {
	t.Helper()
	for _, o := range collect(t, name, n).objects {
		var pod corev1.Pod
		if err := json.Unmarshal(o.raw, &pod); err != nil {
			t.Fatal(err)
		}
		for _, part := range []any{pod.Spec.Volumes, pod.Spec.Tolerations, pod.Spec.Containers, pod.Labels} {
			text, err := json.Marshal(part)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
		}
	}
	return all
}

// repeated returns how many of the parts equal an earlier one.
func repeated(parts []string) (n int) {
	seen := map[string]bool{}
	for _, p := range parts {
		if seen[p] {
			n++
		}
		seen[p] = true
	}
	return n
}

func TestCollectionsDifferInWhatRepeats(t *testing.T) {
	const n = 2000
	var got []int
	for _, name := range []string{"pods-unique", "pods-1", "pods-20", "pods-1000"} {
		got = append(got, repeated(parts(t, name, n)))
	}
	if got[0] != 0 || !slices.IsSorted(got) || got[1] == got[2] || got[3] < 4*n*99/100 {
		t.Errorf("%v of %d parts equal earlier ones", got, 4*n)
	}
}

// The pods of a cluster repeat text, but volumes only where no token has one.
func TestPodsOfAClusterRepeatWhatRealOnesDo(t *testing.T) {
	all := parts(t, "pods-real", 1000)
	var volumes, others []string
	for i, p := range all {
		if i%4 == 0 {
			volumes = append(volumes, p)
		} else {
			others = append(others, p)
		}
	}
	if n := repeated(volumes); n != 0 {
		t.Errorf("%d lists of volumes equal earlier ones", n)
	}
	if n := repeated(others); n < len(others)/3 || n > len(others)*3/4 {
		t.Errorf("%d of %d other parts equal earlier ones", n, len(others))
	}
	for _, o := range collect(t, "pods-real", 1000).objects {
		if at := bytes.IndexByte(o.raw, '$'); at >= 0 && !bytes.HasPrefix(o.raw[at:], []byte("$(")) &&
			!bytes.HasPrefix(o.raw[at:], []byte("$BIN")) && !bytes.HasPrefix(o.raw[at:], []byte("$CGROUP")) {
			t.Fatalf("a placeholder is left: %s", o.raw[at:min(at+20, len(o.raw))])
		}
	}
}
