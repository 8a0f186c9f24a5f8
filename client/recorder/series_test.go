package recorder_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
)

// behaviour 347
func TestRepetitionsAreCountedAtGrowingIntervals(t *testing.T) {
	var sent []string
	var began time.Time
	o := recorder.Options{Hooks: recorder.Hooks{Sent: func(_ context.Context, i recorder.SentInfo) {
		sent = append(sent, fmt.Sprintf("%v:%d:%v:%v", time.Since(began), i.Count, i.New, i.Waited))
	}}}
	bubble(t, o, func(r *rig) {
		r.start()
		began = time.Now()
		const period, times = 1100 * time.Millisecond, 1200
		for range times {
			r.pages.Normal(page("a"), "Published", "3 files")
			time.Sleep(period)
		}
		// The last one comes after its interval, also if nothing is recorded any more.
		after(5 * time.Minute)
		r.want("a Published x1200 3 files")
		// Each update tells of what has waited since the last one.
		want := "0s:1:true:0s 1.1s:2:false:0s 11.1s:11:false:8.9s 41.1s:38:false:29s 2m11.1s:120:false:89.3s 6m41.1s:365:false:4m29.1s " +
			"11m41.1s:638:false:4m59.6s 16m41.1s:911:false:4m59.3s 21m41.1s:1183:false:4m59s 26m41.1s:1200:false:4m59.8s"
		if got := strings.ReplaceAll(strings.Join(sent, " "), "1m29.3s", "89.3s"); got != want {
			r.Errorf("the updates are\n%s, want\n%s", got, want)
		}
		e := r.taken()[0]
		if last := e.Series.LastObservedTime.Sub(e.EventTime.Time); last != (times-1)*period {
			r.Errorf("the last one was %v after the first, want %v", last, (times-1)*period)
		}
		if creates, patches := r.writes(); creates != 1 || patches != 9 {
			r.Errorf("%d creates and %d patches", creates, patches)
		}
		r.wantStatus("recorded 1200, sent 1200, waiting 0")

		// After a quiet time a record is new.
		after(time.Minute)
		r.pages.Normal(page("a"), "Published", "3 files")
		after(time.Second)
		r.want("a Published x1200 3 files", "a Published x1 3 files")
	})
}

func TestASeriesEndsAfterSixQuietMinutes(t *testing.T) {
	for _, test := range []struct {
		pause time.Duration
		want  []string
	}{
		{6*time.Minute - time.Second, []string{"a A x2"}},
		{6 * time.Minute, []string{"a A x1", "a A x1"}},
	} {
		bubble(t, recorder.Options{}, func(r *rig) {
			r.start()
			r.pages.Normal(page("a"), "A", "")
			after(test.pause)
			r.pages.Normal(page("a"), "A", "")
			after(time.Second)
			r.want(test.want...)
		})
	}
}

func TestRecordsAreTheSameInAllButTime(t *testing.T) {
	one := recorder.Record{Regarding: recorder.ReferenceTo(Pages, page("a")), Reason: "A", Note: "n"}
	for _, test := range []struct {
		name   string
		change func(*recorder.Record)
		same   bool
	}{
		{"nothing", func(*recorder.Record) {}, true},
		{"the version of the object", func(o *recorder.Record) { o.Regarding.Identity.ResourceVersion = "8" }, true},
		{"an action that is the reason", func(o *recorder.Record) { o.Action = "A" }, true},
		{"the type", func(o *recorder.Record) { o.Warning = true }, false},
		{"the note", func(o *recorder.Record) { o.Note = "m" }, false},
		{"the reason", func(o *recorder.Record) { o.Reason = "B" }, false},
		{"the action", func(o *recorder.Record) { o.Action = "B" }, false},
		{"the uid", func(o *recorder.Record) { o.Regarding.Identity.UID = "other" }, false},
		{"the namespace", func(o *recorder.Record) { o.Regarding.Identity.Namespace = "kube-system" }, false},
		{"the kind", func(o *recorder.Record) { o.Regarding.GVK.Kind = "Other" }, false},
		{"the path", func(o *recorder.Record) { o.Regarding.FieldPath = "spec" }, false},
		{"the related object", func(o *recorder.Record) { o.Related = recorder.ReferenceTo(Pages, page("b")) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, recorder.Options{}, func(r *rig) {
				r.start()
				r.recorder.Record(one)
				other := one
				test.change(&other)
				r.recorder.Record(other)
				after(time.Second)
				got := r.taken()
				if same := len(got) == 1 && got[0].count() == 2; same != test.same || !same && len(got) != 2 {
					r.Errorf("the server has %d records, want the same: %v", len(got), test.same)
				}
			})
		})
	}
}

// behaviour 347
func TestRecordsThatDifferInTheirNotesAreCombined(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		r.start()
		note := func(i int) string { return fmt.Sprintf("try %02d", i) }
		for i := range 50 {
			r.pages.Warning(page("a"), "Failed", note(i))
			r.pages.Warning(page("a"), "Failed", note(3)) // still a series of its own
			time.Sleep(time.Second)
		}
		r.pages.Warning(page("b"), "Failed", "another object")
		r.pages.Warning(page("a"), "Slow", "another reason")
		after(5 * time.Minute)
		var want []string
		for i := range 9 {
			n := 1
			if i == 3 {
				n = 51
			}
			want = append(want, fmt.Sprintf("a Failed x%d %s", n, note(i)))
		}
		want = append(want[:1], append([]string{want[3]}, append(want[1:3:3], want[4:]...)...)...) // note 3 was there at the start
		want = append(want, "a Failed x41 (combined from similar events): try 09", "a Slow x1 another reason", "b Failed x1 another object")
		r.want(want...)
		r.wantStatus("recorded 102, sent 102, waiting 0")
	})
}

func TestRecordsAreCombinedWithinTenMinutes(t *testing.T) {
	bubble(t, recorder.Options{Similar: 3, Burst: -1}, func(r *rig) {
		r.start()
		for i := range 4 { // at most two within ten minutes
			r.pages.Normal(page("a"), "A", fmt.Sprint("slow ", i))
			time.Sleep(5 * time.Minute)
		}
		r.want("a A x1 slow 0", "a A x1 slow 1", "a A x1 slow 2", "a A x1 slow 3")
		r.pages.Normal(page("a"), "A", "third")
		after(time.Second)
		r.pages.Normal(page("a"), "A", "fourth")
		r.pages.Normal(page("a"), "A", "fifth")
		after(time.Minute)
		if got := r.taken(); got[len(got)-1].Note != "(combined from similar events): fourth" || got[len(got)-1].count() != 2 {
			r.Errorf("the last record is %q", got[len(got)-1].Note)
		}
	})
}

// The note of a record cannot change, so a combined record that goes on is renewed.
func TestACombinedRecordIsRenewed(t *testing.T) {
	bubble(t, recorder.Options{Similar: 2, Burst: -1}, func(r *rig) {
		r.start()
		for i := range 150 { // minutes
			r.pages.Normal(page("a"), "A", fmt.Sprint(i))
			time.Sleep(time.Minute)
		}
		after(6 * time.Minute)
		r.want("a A x1 0", "a A x60 (combined from similar events): 1", "a A x60 (combined from similar events): 61", "a A x29 (combined from similar events): 121")
		if s := r.recorder.Status(); recorder.Known(r.recorder) > 4 || s.Waiting != 0 {
			r.Errorf("the status is %+v", s)
		}
	})
}

func TestALongNoteIsCutWhenItIsCombined(t *testing.T) {
	bubble(t, recorder.Options{Similar: 2}, func(r *rig) {
		r.start()
		r.pages.Normal(page("a"), "A", "")
		r.pages.Normal(page("a"), "A", strings.Repeat("n", 1024))
		after(time.Second)
		r.wantStatus("recorded 2, sent 2, waiting 0")
	})
}

func TestNothingIsCombinedIfTheLimitIsNegative(t *testing.T) {
	bubble(t, recorder.Options{Similar: -1, Burst: -1}, func(r *rig) {
		r.start()
		for i := range 100 {
			r.pages.Normal(page("a"), "A", fmt.Sprint(i))
		}
		after(time.Minute)
		if n := len(r.taken()); n != 100 {
			r.Errorf("the server has %d records", n)
		}
	})
}

// behaviour 347
func TestAnObjectHasABurstOfRecords(t *testing.T) {
	bubble(t, recorder.Options{}, func(r *rig) {
		r.start()
		reason := func(i int) string { return fmt.Sprintf("R%02d", i) }
		for i := range 40 {
			r.pages.Normal(page("a"), reason(i), "")
		}
		after(time.Second)
		r.wantStatus("recorded 40, sent 25, waiting 0, dropped 15 (Spam)")
		r.pages.Normal(page("a"), reason(3), "") // a repetition is no new record
		r.pages.Warning(page("a"), "Other", "")  // another type
		other := page("a")
		other.UID = "another object of that name"
		r.pages.Normal(other, "Other", "")
		after(time.Second)
		r.wantStatus("recorded 43, sent 28, waiting 0, dropped 15 (Spam)")
		count := 0
		for _, err := range r.told() {
			var dropped *recorder.DropError
			if !errors.As(err, &dropped) || dropped.Cause != recorder.Spam || dropped.Record.Regarding.Identity.Name != "a" {
				r.Fatalf("told %v", err)
			}
			count += dropped.Count
		}
		if count != 15 {
			r.Errorf("told of %d records, want 15", count)
		}
		// One more after each five minutes.
		after(5 * time.Minute)
		r.pages.Normal(page("a"), "X1", "")
		r.pages.Normal(page("a"), "X2", "")
		after(time.Second)
		r.wantStatus("recorded 45, sent 29, waiting 0, dropped 16 (Spam)")
		after(11 * time.Minute)
		for i := range 3 {
			r.pages.Normal(page("a"), fmt.Sprint("Y", i), "")
		}
		after(time.Second)
		r.wantStatus("recorded 48, sent 31, waiting 0, dropped 17 (Spam)")
		// And never more than the burst.
		after(24 * time.Hour)
		for i := range 40 {
			r.pages.Normal(page("a"), reason(i), "")
		}
		after(time.Second)
		r.wantStatus("recorded 88, sent 56, waiting 0, dropped 32 (Spam)")
	})
}

func TestTheLimitsOfAnObjectCanBeSet(t *testing.T) {
	bubble(t, recorder.Options{Burst: 2}, func(r *rig) {
		recorder.SetLimits(r.recorder, 0, 0, time.Second)
		r.start()
		for i := range 10 {
			r.pages.Normal(page("a"), fmt.Sprint("R", i), "")
		}
		after(time.Second)
		r.pages.Normal(page("a"), "Later", "")
		after(time.Second)
		r.wantStatus("recorded 11, sent 3, waiting 0, dropped 8 (Spam)")
	})
	bubble(t, recorder.Options{Burst: -1}, func(r *rig) {
		r.start()
		for i := range 500 {
			r.pages.Normal(page("a"), fmt.Sprint("R", i), "")
		}
		after(time.Minute)
		r.wantStatus("recorded 500, sent 500, waiting 0")
	})
}

func TestPathsOfAnObjectShareItsLimit(t *testing.T) {
	bubble(t, recorder.Options{Burst: 1}, func(r *rig) {
		r.start()
		ref := recorder.ReferenceTo(Pages, page("a"))
		for _, path := range []string{"", "spec.a", "spec.b"} {
			ref.FieldPath = path
			r.recorder.Record(recorder.Record{Regarding: ref, Reason: "A"})
		}
		after(time.Second)
		r.wantStatus("recorded 3, sent 1, waiting 0, dropped 2 (Spam)")
	})
}

// 100,000 objects cost no more memory than a few thousand.
func TestStateIsBounded(t *testing.T) {
	const n = 100_000
	bubble(t, recorder.Options{OnError: func(error) {}, Grace: -1}, func(r *rig) {
		stop := r.start()
		heap := func() uint64 {
			synctest.Wait()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		record := func(i int) {
			r.pages.Normal(&Page{meta.Identity{Namespace: "default", Name: fmt.Sprint("p", i), UID: fmt.Sprint(i)}}, "A", "note")
		}
		const sent = 5000
		for i := range sent {
			if record(i); i%100 == 99 {
				after(time.Second)
			}
		}
		r.wantStatus(fmt.Sprintf("recorded %d, sent %[1]d, waiting 0", sent))
		r.answer(func(clienttest.Request) http.HandlerFunc { return clienttest.Hang() })
		before := heap()
		for i := sent; i < n; i++ {
			record(i)
		}
		s := r.recorder.Status()
		if recorder.Known(r.recorder) > 4096 || s.Recorded != n || s.Waiting != 1000 || s.Sent+s.Waiting+s.Dropped[recorder.QueueFull] != n {
			r.Errorf("the status is %+v", s)
		}
		if grown := int64(heap()) - int64(before); grown > 4<<20 {
			r.Errorf("%d objects took %d bytes", n, grown)
		}
		stop()
		if s := r.recorder.Status(); recorder.Known(r.recorder) != 0 || s.Waiting != 0 || s.Dropped[recorder.Stopped] != 1000 {
			r.Errorf("the status after the end is %+v", s)
		}
	})
}
