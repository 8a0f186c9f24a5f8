package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

func TestConditions(t *testing.T) {
	status := func(s string) string {
		return `{"kind":"X","apiVersion":"v1","metadata":{"namespace":"web","name":"a","uid":"u","generation":3},"status":` + s + `}`
	}
	conditions := func(s string) string { return status(`{"conditions":[` + s + `]}`) }
	const exists = `{"metadata":{"name":"a","uid":"u"}}`
	for _, test := range []struct {
		name  string
		cond  client.Condition
		obj   string // empty where it does not exist
		met   bool
		state string
		err   string
	}{
		{"nothing is not created", client.UntilCreated(), "", false, "", ""},
		{"what exists is created", client.UntilCreated(), exists, true, "", ""},

		{"nothing is deleted", client.UntilDeleted(""), "", true, "", ""},
		{"nothing is deleted, whatever the uid", client.UntilDeleted("u"), "", true, "", ""},
		{"what exists is not deleted", client.UntilDeleted(""), exists, false, "it exists and is not being deleted", ""},
		{"nor with its uid", client.UntilDeleted("u"), exists, false, "it exists and is not being deleted", ""},
		{"another of its name takes its place", client.UntilDeleted("v"), exists, true, `another object has the name, with uid "u"`, ""},
		{
			"deletion is under way", client.UntilDeleted("u"), `{"metadata":{"name":"a","uid":"u","deletionTimestamp":"2026-01-02T03:04:05Z"}}`,
			false, "it is being deleted", "",
		},
		{
			"finalizers hold it up", client.UntilDeleted("u"),
			`{"metadata":{"name":"a","uid":"u","deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["x/y","z"]}}`,
			false, "it is being deleted, and waits for the finalizers x/y, z", "",
		},

		{"nothing has a condition", client.UntilTrue("Synced"), "", false, "", ""},
		{"no status", client.UntilTrue("Synced"), exists, false, "no condition Synced", ""},
		{"no such condition", client.UntilTrue("Synced"), conditions(`{"type":"synced","status":"True"}`), false, "no condition Synced", ""},
		{"a condition that is true", client.UntilTrue("Synced"), conditions(`{"type":"A","status":"False"},{"type":"Synced","status":"True"}`), true, "condition Synced True", ""},
		{
			"one that is not, and why", client.UntilTrue("Synced"), conditions(`{"type":"Synced","status":"Unknown","reason":"Busy","message":"one\nmoment"}`),
			false, "condition Synced Unknown: Busy: one moment", "",
		},
		{
			"one of an earlier generation", client.UntilTrue("Synced"), conditions(`{"type":"Synced","status":"True","observedGeneration":2}`),
			false, "condition Synced True (of generation 2, and the object's is 3)", "",
		},
		{"one of this generation", client.UntilTrue("Synced"), conditions(`{"type":"Synced","status":"True","observedGeneration":3}`), true, "condition Synced True", ""},
		{
			"one in a status of an earlier generation", client.UntilTrue("Synced"),
			status(`{"observedGeneration":2,"conditions":[{"type":"Synced","status":"True"}]}`),
			false, "condition Synced True (of generation 2, and the object's is 3)", "",
		},
		{
			"the condition knows better than the status", client.UntilTrue("Synced"),
			status(`{"observedGeneration":2,"conditions":[{"type":"Synced","status":"True","observedGeneration":3}]}`), true, "condition Synced True", "",
		},
		{
			"conditions that are none", client.UntilTrue("Synced"), status(`{"conditions":7}`),
			false, "its conditions cannot be read: read status.conditions: decode into []client.statusCondition: a JSON number does not fit (byte 0)", "",
		},
		{"a status that is none", client.UntilTrue("Synced"), status(`"fine"`), false, "its conditions cannot be read: read status.conditions: status is a string, not an object", ""},

		{"a ready pod", client.UntilPodReady(), status(`{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`), true, "phase Running, condition Ready True", ""},
		{
			"a pod that starts", client.UntilPodReady(), status(`{"phase":"Pending","conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady"}]}`),
			false, "phase Pending, condition Ready False: ContainersNotReady", "",
		},
		{
			"a pod that is on its way out", client.UntilPodReady(),
			`{"metadata":{"name":"a","deletionTimestamp":"2026-01-02T03:04:05Z"},"status":{"phase":"Running"}}`,
			false, "phase Running, no condition Ready, being deleted", "",
		},
		{
			"a pod that has failed", client.UntilPodReady(), status(`{"phase":"Failed","reason":"Evicted","message":"no memory"}`),
			false, "phase Failed, no condition Ready", "the pod has ended: phase Failed: Evicted: no memory",
		},
		{"a pod that has done its work", client.UntilPodReady(), status(`{"phase":"Succeeded"}`), false, "phase Succeeded, no condition Ready", "the pod has ended: phase Succeeded"},
		{"no pod", client.UntilPodReady(), "", false, "", ""},

		{
			"an available deployment", client.UntilTrue("Available"),
			status(`{"observedGeneration":3,"conditions":[{"type":"Available","status":"True","reason":"MinimumReplicasAvailable"}]}`),
			true, "condition Available True: MinimumReplicasAvailable", "",
		},
		{
			"one whose controller has not seen the change", client.UntilTrue("Available"),
			status(`{"observedGeneration":2,"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded"}]}`),
			false, "condition Available True (of generation 2, and the object's is 3)", "",
		},
		{
			"one that is paused", client.UntilTrue("Available"),
			status(`{"observedGeneration":3,"conditions":[{"type":"Available","status":"False"},{"type":"Progressing","status":"Unknown","reason":"DeploymentPaused"}]}`),
			false, "condition Available False", "",
		},

		{"a job that is done", client.UntilComplete(), conditions(`{"type":"Complete","status":"True"}`), true, "condition Complete True", ""},
		{"a job that runs", client.UntilComplete(), conditions(`{"type":"Failed","status":"False"}`), false, "no condition Complete", ""},
		{
			"a job that has failed", client.UntilComplete(), conditions(`{"type":"Failed","status":"True","reason":"BackoffLimitExceeded","message":"too many"}`),
			false, "no condition Complete", "the job has failed: BackoffLimitExceeded: too many",
		},
		{"a job that has failed without a reason", client.UntilComplete(), conditions(`{"type":"Failed","status":"True"}`), false, "no condition Complete", "the job has failed: no reason given"},

		{"a function that likes it", client.Until("green", func(s *Slim) (bool, error) { return s.Data["color"] == "green", nil }), `{"metadata":{"name":"a"},"data":{"color":"green"}}`, true, "", ""},
		{"a function that does not", client.Until("green", func(s *Slim) (bool, error) { return s.Data["color"] == "green", nil }), exists, false, "", ""},
		{"a function is not asked about nothing", client.Until("green", func(*Slim) (bool, error) { panic("asked") }), "", false, "", ""},
		{"a function that gives up", client.Until("green", func(*Slim) (bool, error) { return false, errors.New("never") }), exists, false, "", "never"},
		{
			"what does not fit", client.Until("green", func(*Slim) (bool, error) { panic("asked") }), `{"metadata":{"name":"a","resourceVersion":"7"},"data":7}`, false, "",
			`decode "a" (resource version "7"): decode into map[string]string: a JSON number does not fit at data (byte 54)`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var obj *meta.Raw
			if test.obj != "" {
				obj = new(meta.Raw)
				if err := json.Unmarshal([]byte(test.obj), obj); err != nil {
					t.Fatal(err)
				}
			}
			met, state, err := test.cond.Met(obj)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if met != test.met || state != test.state || text != test.err {
				t.Errorf("got %v, %q, %q\nwant %v, %q, %q", met, state, text, test.met, test.state, test.err)
			}
		})
	}
}

// The names complete the sentence of a WaitError.
func TestNamesOfConditions(t *testing.T) {
	for _, c := range []client.Condition{
		client.UntilCreated(), client.UntilDeleted(""), client.UntilTrue("Synced"), client.UntilPodReady(),
		client.UntilComplete(), client.UntilReady(), client.Until("green", func(*Slim) (bool, error) { return false, nil }),
	} {
		fmt.Fprintln(t.Output(), "to be", c.Name)
		if c.Name == "" || c.Met == nil {
			t.Errorf("%+v", c)
		}
	}
}
