package strategy

import (
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// The subresources of pods refuse changes that break the rules of their part.
func TestSubresourcesOfPods(t *testing.T) {
	const pod = `{"metadata":{"name":"p"},"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"a","resources":` +
		`{"requests":{"cpu":"1","ephemeral-storage":"1"}}}]%},"status":{"qosClass":"Burstable"%}}`
	with := func(spec, status string) string {
		return strings.Replace(strings.Replace(pod, "%", spec, 1), "%", status, 1)
	}
	const debugger = `,"ephemeralContainers":[{"name":"d","image":"d"}]`
	tests := []struct {
		name, subresource, old, new string
		want                        []string
	}{
		{"a container for debugging", "ephemeralcontainers", with("", ""), with(debugger, ""), nil},
		{"one that goes", "ephemeralcontainers", with(debugger, ""), with("", ""), []string{"spec.ephemeralContainers"}},
		{
			"one with the name of another", "ephemeralcontainers", with("", ""), with(strings.ReplaceAll(debugger, `"d"`, `"a"`), ""),
			[]string{"spec.ephemeralContainers[0].name"},
		},
		{"a larger request", "resize", with("", ""), strings.ReplaceAll(with("", ""), `"cpu":"1"`, `"cpu":"2"`), nil},
		{
			"a request that goes", "resize", with("", ""), strings.ReplaceAll(with("", ""), `,"ephemeral-storage":"1"`, ""),
			[]string{"spec.containers[0].resources.requests"},
		},
		{"another class", "resize", with("", ""), strings.ReplaceAll(with("", ""), `"cpu":"1"`, `"cpu":"0"`), []string{"spec"}},
		{"a request of storage", "resize", with("", ""), strings.ReplaceAll(with("", ""), `storage":"1"`, `storage":"2"`), []string{"spec"}},
		{"a valid status", "status", with("", ""), with("", `,"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}]`), nil},
		{
			"two addresses of a family", "status", with("", ""),
			with("", `,"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]`),
			[]string{"status.podIPs"},
		},
		{
			"another address in front", "status", with("", ""), with("", `,"hostIP":"10.0.0.1","hostIPs":[{"ip":"10.0.0.2"}]`),
			[]string{"status.hostIPs[0].ip"},
		},
		{"a new class", "status", with("", ""), strings.Replace(with("", ""), "Burstable", "BestEffort", 1), []string{"status.qosClass"}},
		{
			"a container that runs again", "status", with("", `,"containerStatuses":[{"name":"a","state":{"terminated":{}}}]`),
			with("", `,"containerStatuses":[{"name":"a","state":{"running":{}}}]`),
			[]string{"status.containerStatuses[0].state"},
		},
		{"an unknown condition", "status", with("", ""), with("", `,"conditions":[{"type":"a b"}]`), []string{"status.conditions[0].Type"}},
	}
	s, kind := New(), meta.GVK{Version: "v1", Kind: "Pod"}
	read := func(text string) jsontree.Object {
		v, err := jsontree.Parse([]byte(text))
		m, ok := v.(jsontree.Object)
		if err != nil || !ok {
			t.Fatal(text, err)
		}
		s.Complete(kind, m)
		return m
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range s.Check(Write{Kind: kind, Subresource: tt.subresource, New: read(tt.new), Old: read(tt.old)}) {
				got = append(got, c.Field)
			}
			if !slices.Equal(slices.Compact(got), tt.want) {
				t.Errorf("got faults at %q, want %q", got, tt.want)
			}
		})
	}
}
