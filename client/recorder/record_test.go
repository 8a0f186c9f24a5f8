package recorder_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
)

func TestARecordIsSentWithAllItsParts(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		r.start()
		began := time.Now()
		site := &Page{meta.Identity{Name: "s", UID: "9"}}
		part := recorder.ReferenceTo(Pages, page("a"))
		part.FieldPath = "spec.parts{x}"
		r.recorder.Record(recorder.Record{
			Warning: true, Regarding: part, Related: recorder.ReferenceTo(Sites, site), Reason: "Failed", Action: "Publish", Note: "no ink",
		})
		after(time.Second)
		r.recorder.Record(recorder.Record{Regarding: recorder.ReferenceTo(Sites, site), Reason: "Moved"})
		after(time.Second)
		got := r.taken()
		if len(got) != 2 {
			r.Fatalf("the server has %d records", len(got))
		}
		e := got[0]
		for _, c := range []struct{ what, got, want string }{
			{"namespace", e.Namespace, "default"},
			{"type", e.Type, "Warning"},
			{"reason", e.Reason, "Failed"},
			{"action", e.Action, "Publish"},
			{"note", e.Note, "no ink"},
			{"controller", e.ReportingController, "example.com/pages"},
			{"instance", e.ReportingInstance, "pages-1"},
			{"time", e.EventTime.UTC().String(), began.Truncate(time.Microsecond).UTC().String()},
			{"regarding", fmt.Sprint(e.Regarding), "map[apiVersion:example.com/v1 fieldPath:spec.parts{x} kind:Page name:a namespace:default resourceVersion:7 uid:uid-of-a]"},
			{"related", fmt.Sprint(e.Related), "map[apiVersion:example.com/v1 kind:Site name:s uid:9]"},
		} {
			if c.got != c.want {
				r.Errorf("%s is %q, want %q", c.what, c.got, c.want)
			}
		}
		if e.Series != nil || !strings.HasPrefix(e.Name, "a.") {
			r.Errorf("the name is %q, the series %v", e.Name, e.Series)
		}
		e = got[1]
		if e.Namespace != "default" || e.Type != "Normal" || e.Action != "Moved" || e.Note != "" || fmt.Sprint(e.Related) != "map[]" {
			r.Errorf("the second record is %+v", e)
		}
		r.wantStatus("recorded 2, sent 2, waiting 0")
	})
}

func TestInvalidRecordsAreDroppedWithAReason(t *testing.T) {
	for _, test := range []struct {
		name   string
		record func(r *rig)
		want   string
	}{
		{"a nil object", func(r *rig) { r.pages.Normal(nil, "A", "") }, "Regarding must have a name; this Page has none, or is nil"},
		{"no name", func(r *rig) { r.pages.Normal(&Page{}, "A", "") }, "Regarding must have a name; this Page has none, or is nil"},
		{"no namespace", func(r *rig) { r.pages.Normal(&Page{meta.Identity{Name: "a"}}, "A", "") }, `Regarding must have a namespace, which Page "a" does not have`},
		{"a namespace of something cluster-wide", func(r *rig) { recorder.For(r.recorder, Sites).Normal(page("a"), "A", "") }, `Regarding must have no namespace, since Site is cluster-wide, got "default"`},
		{"a namespace that is a path", func(r *rig) { r.pages.Normal(&Page{meta.Identity{Namespace: "a/b", Name: "a"}}, "A", "") }, `Regarding namespace must be one path segment, without "/" and "%", got "a/b"`},
		{"no kind", func(r *rig) { r.recorder.Record(recorder.Record{Reason: "A"}) }, "Regarding must have a kind and a version; use recorder.ReferenceTo"},
		{"an odd scope", func(r *rig) {
			ref := recorder.ReferenceTo(Pages, page("a"))
			ref.Scope = 7
			r.recorder.Record(recorder.Record{Regarding: ref, Reason: "A"})
		}, "Regarding must have the scope meta.Namespaced or meta.Cluster, got 7"},
		{"no reason", func(r *rig) { r.pages.Warning(page("a"), "", "") }, `Reason must not be empty, for Page "default/a"`},
		{"an invalid related object", func(r *rig) {
			r.recorder.Record(recorder.Record{Regarding: recorder.ReferenceTo(Pages, page("a")), Related: recorder.Reference{FieldPath: "x"}, Reason: "A"})
		}, "Related must have a kind and a version; use recorder.ReferenceTo"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, recorder.Options{}, func(r *rig) {
				r.start()
				test.record(r)
				after(time.Second)
				told := r.told()
				var dropped *recorder.DropError
				if len(told) != 1 || !errors.As(told[0], &dropped) {
					r.Fatalf("told %q", told)
				}
				if dropped.Cause != recorder.Invalid || dropped.Count != 1 || dropped.Err.Error() != "recorder.Record: "+test.want {
					r.Errorf("told %+v, want %s", *dropped, test.want)
				}
				r.want()
				r.wantStatus("recorded 1, sent 0, waiting 0, dropped 1 (Invalid)")
			})
		})
	}
}

// Servers refuse such a reason in a condition, and take it in a record.
func TestARecordWithAnOddReasonIsSentAndReportedOnce(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		r.start()
		for i, reason := range []string{"Fine", "not ready", "not ready", "1st", "a-b"} {
			r.pages.Normal(page("a"), reason, "")
			after(time.Minute)
			told := r.told()
			if i != 1 && len(told) > 0 || i == 1 && (len(told) != 1 || !strings.HasPrefix(told[0].Error(), `recorded Page "default/a" with a reason that no `+
				`condition may have; this is reported once: a reason must begin with a letter`) || !strings.HasSuffix(told[0].Error(), `got "not ready"`)) {
				r.Errorf("%s: told %q", reason, told)
			}
		}
		if s := r.recorder.Status(); s.Sent != 5 || s.Cut != 0 || len(s.Dropped) > 0 {
			r.Errorf("the status is %v", s)
		}
	})
}

// behaviour 347
func TestLongTextsAreCut(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		r.start()
		long := func(s string, n int) string { return strings.Repeat(s, n) }
		for _, test := range []struct{ reason, note, wantReason, wantNote, err string }{
			{"a", long("n", 1024), "a", long("n", 1024), ""},
			{"b", long("n", 1025), "b", long("n", 1021) + "...", "Note has 1025 bytes, more than the 1024 that the server accepts"},
			{"c", "n" + long("é", 600), "c", "n" + long("é", 510) + "...", "Note has 1201 bytes, more than the 1024 that the server accepts"},
			{"d", long("é", 600), "d", long("é", 510) + "...", "Note has 1200 bytes, more than the 1024 that the server accepts"},
			{"e", "x\xffy\xff\xfez", "e", "x\ufffdy\ufffdz", ""},
			{"f", long("n", 1021) + "\xff", "f", long("n", 1021) + "\ufffd", ""},
			{"g", long("n\xff", 512), "g", long("n\ufffd", 255) + "n" + "...", ""}, // grows beyond the limit when it is mended
			{long("r", 128), "", long("r", 128), "", ""},
			{long("s", 129), "", long("s", 125) + "...", "", "Reason has 129 bytes, more than the 128 that the server accepts"},
		} {
			r.pages.Normal(page("a"), test.reason, test.note)
			after(time.Minute)
			got := r.taken()
			e := got[len(got)-1]
			if e.Reason != test.wantReason || e.Note != test.wantNote || !utf8.ValidString(e.Note) {
				r.Errorf("the reason is %q and the note %q, want %q and %q", e.Reason, e.Note, test.wantReason, test.wantNote)
			}
			if e.Action != e.Reason {
				r.Errorf("the action is %q, want the reason", e.Action)
			}
			switch told := r.told(); {
			case test.err == "" && len(told) > 0:
				r.Errorf("told %q", told)
			case test.err != "" && (len(told) != 1 || told[0].Error() != `cut 1 record; the latest is about Page "default/a": `+test.err):
				r.Errorf("told %q, want %s", told, test.err)
			}
		}
		if s := r.recorder.Status(); s.Cut != 4 || s.Sent != 9 {
			r.Errorf("the status is %v", s)
		}
	})
}

func TestNamesAreValidAndSortByTime(t *testing.T) {
	bubble(t, recorder.Options{Burst: -1, Similar: -1}, func(r *rig) {
		r.start()
		roles := recorder.For(r.recorder, client.Type[*Page]{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "ClusterRole", Resource: "clusterroles", Scope: meta.Cluster})
		odd := recorder.For(r.recorder, client.Type[*Page]{Group: "example.com", Version: "v1", Kind: "Odd_", Resource: "odds", Scope: meta.Cluster})
		roles.Normal(&Page{meta.Identity{Name: "system:node"}}, "A", "")
		odd.Normal(&Page{meta.Identity{Name: "A B"}}, "B", "")
		r.pages.Normal(page(strings.Repeat("x", 253)), "C", "")
		r.pages.Normal(page(strings.Repeat("y", 232)), "D", "")
		for i := range 20 {
			r.pages.Normal(page("p"), "E", fmt.Sprint(i))
		}
		after(time.Minute)
		r.wantStatus("recorded 24, sent 24, waiting 0")
		names := make(map[string]string) // by reason
		list, err := r.events.List(r.Context(), client.ListOptions{})
		if err != nil {
			r.Fatal(err)
		}
		for i, last := 0, -1; i < len(list.Items); i++ {
			e := list.Items[i]
			names[e.Reason] = e.Name[:strings.LastIndex(e.Name, ".")]
			if e.Reason == "E" {
				var n int
				if fmt.Sscan(e.Note, &n); n != last+1 {
					r.Errorf("note %d comes after %d in the server's list", n, last)
				}
				last = n
			}
		}
		want := map[string]string{"A": "clusterrole", "B": "record", "C": "page", "D": strings.Repeat("y", 232), "E": "p"}
		if fmt.Sprint(names) != fmt.Sprint(want) {
			r.Errorf("the names are %v, want %v", names, want)
		}
	})
}

func TestNothingIsRecordedByZeroValues(t *testing.T) {
	var none *recorder.Recorder
	none.Record(recorder.Record{Reason: "A"})
	var pages recorder.About[*Page]
	pages.Normal(page("a"), "A", "")
	recorder.For(none, Pages).Warningf(page("a"), "A", "%d", 1)
	if s := none.Status(); s.Recorded != 0 {
		t.Errorf("the status is %v", s)
	}
}
