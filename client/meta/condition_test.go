package meta_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

type (
	// foreignCondition has the shape of metav1.Condition.
	foreignCondition struct {
		Type               string        `json:"type" protobuf:"bytes,1,opt,name=type"`
		Status             foreignStatus `json:"status"`
		ObservedGeneration int64         `json:"observedGeneration,omitempty"`
		LastTransitionTime foreignTime   `json:"lastTransitionTime"`
		Reason             string        `json:"reason"`
		Message            string        `json:"message"`
	}
	foreignStatus string
	// oldCondition has the shape of the conditions of some built-in kinds.
	oldCondition struct {
		Type               string        `json:"type"`
		Status             foreignStatus `json:"status"`
		LastTransitionTime *foreignTime  `json:"lastTransitionTime,omitempty"`
		Reason             string        `json:"reason,omitempty"`
	}
)

func TestSetConditionKeepsTheTransitionTimeWhileTheStatusStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var own []meta.Condition
		var foreign []foreignCondition
		var old []oldCondition
		set := func(generation int64, kind, status, reason string) {
			t.Helper()
			time.Sleep(time.Minute) // of virtual time
			for _, err := range []error{
				meta.SetCondition(&own, generation, meta.Condition{Type: kind, Status: meta.ConditionStatus(status), Reason: reason}),
				meta.SetCondition(&foreign, generation, foreignCondition{Type: kind, Status: foreignStatus(status), Reason: reason}),
				meta.SetCondition(&old, generation, oldCondition{Type: kind, Status: foreignStatus(status), Reason: reason}),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		want := func(expected ...string) {
			t.Helper()
			for i, c := range own {
				f, o := foreign[i], old[i]
				got := fmt.Sprint(c.Type, " ", c.Status, " ", c.Reason, " ", c.ObservedGeneration, " ", c.LastTransitionTime.Sub(began))
				if got != expected[i] {
					t.Errorf("condition %d is %q, want %q", i, got, expected[i])
				}
				if string(f.Status) != string(c.Status) || f.ObservedGeneration != c.ObservedGeneration || !f.LastTransitionTime.Equal(c.LastTransitionTime.Time) ||
					o.Status != f.Status || o.Reason != f.Reason || !o.LastTransitionTime.Equal(c.LastTransitionTime.Time) {
					t.Errorf("foreign conditions are %+v and %+v, want as %+v", f, o, c)
				}
			}
			if len(own) != len(expected) || len(foreign) != len(own) || len(old) != len(own) {
				t.Errorf("%d, %d and %d conditions, want %d", len(own), len(foreign), len(old), len(expected))
			}
		}
		set(1, "Ready", "False", "Busy")
		set(1, "Synced", "True", "Done")
		want("Ready False Busy 1 1m0s", "Synced True Done 1 2m0s")
		set(2, "Ready", "False", "Waiting") // of another generation and reason, and the status is the same
		want("Ready False Waiting 2 1m0s", "Synced True Done 1 2m0s")
		set(2, "Ready", "True", "Done")
		want("Ready True Done 2 4m0s", "Synced True Done 1 2m0s")
		before := append([]meta.Condition(nil), own...)
		set(2, "Ready", "True", "Done")
		if !reflect.DeepEqual(before, own) {
			t.Errorf("saying the same again made %+v of %+v", own, before)
		}
		own[0].LastTransitionTime = meta.Time{} // as somebody else may have written it
		at := meta.Time{Time: began.Add(time.Hour)}
		if err := meta.SetCondition(&own, 2, meta.Condition{Type: "Ready", Status: "True", Reason: "Done", LastTransitionTime: at}); err != nil || own[0].LastTransitionTime != at {
			t.Errorf("the caller's time: %+v, %v", own[0], err)
		}
		if !meta.IsConditionTrue(own, "Ready") || !meta.IsConditionTrue(foreign, "Synced") || meta.IsConditionTrue(old, "ready") ||
			meta.IsConditionTrue(own, "None") || meta.FindCondition(own, "None") != nil {
			t.Errorf("of %+v", own)
		}
		meta.FindCondition(foreign, "Ready").Message = "changed"
		if foreign[0].Message != "changed" {
			t.Error("FindCondition returns a copy")
		}
	})
}

func TestSetConditionRefusesInvalidConditions(t *testing.T) {
	own := []meta.Condition{{Type: "Ready", Status: "True", Reason: "Done"}}
	old := []oldCondition{}
	words := []string{"Ready"}
	var pointers []*meta.Condition
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"no type", meta.SetCondition(&own, 1, meta.Condition{Status: "True", Reason: "Done"}), "set a condition: meta.Condition must have a type"},
		{
			"another status", meta.SetCondition(&own, 1, meta.Condition{Type: "Ready", Status: "true", Reason: "Done"}),
			`set a condition: the status of the condition "Ready" must be True, False or Unknown, got "true"`,
		},
		{
			"no reason", meta.SetCondition(&own, 1, meta.Condition{Type: "Ready", Status: "False"}),
			`set a condition: the condition "Ready" must have a reason`,
		},
		{"no reason where it may be left out", meta.SetCondition(&old, 1, oldCondition{Type: "Ready", Status: "False"}), ""},
		{"no condition", meta.SetCondition(&words, 1, "Ready"), "set a condition: string must have the fields type and status, both strings"},
		{"a pointer", meta.SetCondition(&pointers, 1, &meta.Condition{Type: "Ready", Status: "True"}), "set a condition: *meta.Condition must have the fields type and status, both strings"},
	} {
		got := ""
		if test.err != nil {
			got = test.err.Error()
		}
		if got != test.want {
			t.Errorf("%s: error is %q, want %q", test.name, got, test.want)
		}
	}
	if len(own) != 1 || own[0].Status != "True" || len(words) != 1 || len(pointers) != 0 || len(old) != 1 {
		t.Errorf("a refused condition changed %+v, %v, %v or %v", own, words, pointers, old)
	}
	if meta.FindCondition(words, "Ready") != nil || meta.IsConditionTrue(pointers, "Ready") {
		t.Error("found a condition in what has none")
	}
}

// The server refused such a condition after the reconcile had done its work.
func TestTheTextsOfAConditionHaveTheFormThatTheServerWants(t *testing.T) {
	set := func(kind, reason, message string) error {
		var all []meta.Condition
		err := meta.SetCondition(&all, 1, meta.Condition{Type: kind, Status: meta.ConditionTrue, Reason: reason, Message: message})
		if (err == nil) != (len(all) == 1) {
			t.Errorf("%d conditions, and %v", len(all), err)
		}
		return err
	}
	for _, reason := range []string{"A", "Ready", "a_1", "Foo:Bar", "A,B", "a_", strings.Repeat("a", 1024)} {
		if err := set("Ready", reason, ""); err != nil {
			t.Errorf("reason %.20q: %v", reason, err)
		}
	}
	for _, reason := range []string{"not ready", "1st", "_a", "a-b", "a.b", "A:", "A,", ":", ",A", "é", "a/b", strings.Repeat("a", 1025)} {
		if err := set("Ready", reason, ""); err == nil || !strings.Contains(err.Error(), `the condition "Ready": a reason must begin with a letter`) || len(err.Error()) > 400 {
			t.Errorf("reason %.20q: %v", reason, err)
		}
	}
	for kind, good := range map[string]bool{
		"example.com/Ready": true, "a.b_c-d": true, "1": true, strings.Repeat("a", 316): true, strings.Repeat("a", 317): false,
		"not ready": false, "/Ready": false, "Example.com/Ready": false, "a/b/c": false, "-a": false, "a-": false, "a/": false,
	} {
		if err := set(kind, "A", ""); (err == nil) != good || err != nil && !strings.Contains(err.Error(), "the type of the condition") {
			t.Errorf("type %.20q: %v", kind, err)
		}
	}
	if err := set("Ready", "A", strings.Repeat("é", 32768)); err != nil {
		t.Error(err)
	}
	if err := set("Ready", "A", strings.Repeat("é", 32769)); err == nil || !strings.Contains(err.Error(), "at most 32768 characters, got 32769") {
		t.Error(err)
	}
	type podCondition struct { // whose reason the server does not check
		Type    string `json:"type"`
		Status  string `json:"status"`
		Reason  string `json:"reason,omitempty"`
		Message string `json:"message,omitempty"`
	}
	var conditions []podCondition
	if err := meta.SetCondition(&conditions, 0, podCondition{Type: "Ready", Status: "True", Reason: "as it likes"}); err != nil {
		t.Error(err)
	}
}
