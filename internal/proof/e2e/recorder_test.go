package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
)

// behaviour 347: records as kubectl shows them, which a real server and the one in the process have alike.
func TestKubectlShowsRecords(t *testing.T) {
	c, ns := admin(t)
	makeRecords(t, c, ns)
	want := []string{
		"Normal | Published | home | Publish | published 3 files | example.com/pages | pages-1 | - | example.com",
		"Warning | Failed | home | Failed | connection refused | example.com/pages | pages-1 | 3 | -",
		"Warning | Slow | home | Slow | took 1 s | example.com/pages | pages-1 | - | -",
		"Warning | Slow | home | Slow | (combined from similar events): took 2 s | example.com/pages | pages-1 | 8 | -",
	}
	if got := recordsOf(t, c, ns); !slices.Equal(got, want) {
		t.Errorf("the server has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	local := open(t, clienttest.Start(t, clienttest.Options{}).Config())
	makeRecords(t, local, "default")
	if got := recordsOf(t, local, "default"); !slices.Equal(got, want) {
		t.Errorf("the server in the process has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	// LAST SEEN, TYPE, REASON, OBJECT and MESSAGE.
	lines := kubectl(t, "get", "events", "-n", ns)
	if len(lines) != 5 {
		t.Fatalf("kubectl get events printed %q", lines)
	}
	for i, want := range []string{"Published page/home published 3 files", "Failed page/home connection refused", "Slow page/home took 1 s"} {
		if got := strings.Join(strings.Fields(lines[i+1])[2:], " "); got != want {
			t.Errorf("line %d is %q, want %q", i+1, got, want)
		}
	}
	if all := strings.Join(kubectl(t, "events", "-n", ns), "\n"); !strings.Contains(all, "(x3 over ") || !strings.Contains(all, "(x8 over ") {
		t.Errorf("kubectl events printed %s", all)
	}
}

// makeRecords records what a controller may, and waits until the server has it.
func makeRecords(t *testing.T, c *client.Client, ns string) {
	t.Helper()
	type page struct {
		meta.Identity `json:"metadata"`
	}
	pages := client.Type[*page]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"}
	sites := client.Type[*page]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites", Scope: meta.Cluster}
	home := &page{meta.Identity{Namespace: ns, Name: "home", UID: "1"}}
	rec := recorder.New(c, recorder.Options{
		Controller: "example.com/pages", Instance: "pages-1", Similar: 2, OnError: func(err error) { t.Error(err) },
	})
	rec.Record(recorder.Record{
		Regarding: recorder.ReferenceTo(pages, home), Related: recorder.ReferenceTo(sites, &page{meta.Identity{Name: "example.com", UID: "2"}}),
		Action: "Publish", Reason: "Published", Note: "published 3 files",
	})
	records := recorder.For(rec, pages)
	for i := range 9 {
		if i < 3 {
			records.Warning(home, "Failed", "connection refused")
		}
		records.Warningf(home, "Slow", "took %d s", i+1)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := rec.Run(ended); err != nil {
		t.Fatal(err)
	}
	if s := rec.Status(); s.Sent != 13 || s.Sent != s.Recorded {
		t.Errorf("the status is %v", s)
	}
}

// recordsOf returns the records of a namespace in the form of the core group, in the order of their names.
func recordsOf(t *testing.T, c *client.Client, ns string) (lines []string) {
	t.Helper()
	core := client.Type[object]{Version: "v1", Kind: "Event", Resource: "events"}
	for _, e := range must(client.For(c, core).List(t.Context(), client.ListOptions{Namespace: ns}))(t).Items {
		text := func(path ...string) string {
			if v := nested[any](t, e, path...); v != nil {
				return fmt.Sprint(v)
			}
			return "-"
		}
		lines = append(lines, strings.Join([]string{
			text("type"), text("reason"), text("involvedObject", "name"), text("action"), text("message"), text("reportingComponent"),
			text("reportingInstance"), text("series", "count"), text("related", "name"),
		}, " | "))
	}
	return lines
}
