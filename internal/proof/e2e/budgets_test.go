package e2e

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
)

// Both servers evict by the status of disruption budgets, which nobody but the test writes.
func TestBudgetsOfBothServers(t *testing.T) {
	t.Parallel()
	_, ns := admin(t) // for its name, which both servers use
	ns = "budgets-" + ns
	want := playBudgets(t, open(t, adminConfig()), ns)
	got := playBudgets(t, open(t, clienttest.Start(t, clienttest.Options{}).Config()), ns)
	for i, step := range want {
		if got[i] != step {
			head, _, _ := strings.Cut(step, "\n")
			t.Errorf("%s: kube-apiserver and clienttest differ in\n%s", head, differences(step, got[i]))
		}
	}
}

const budgetSteps = `
POST {core}/pods/pending/eviction
{"metadata":{"name":"pending"}}

GET {core}/pods/pending

POST {core}/pods/a/eviction
{"metadata":{"name":"a"}}

PATCH {budgets}/web/status merge-patch+json
{"status":{"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":3,"desiredHealthy":2,"expectedPods":3}}

POST {core}/pods/a/eviction?dryRun=All
{"metadata":{"name":"a"}}

POST {core}/pods/a/eviction
{"metadata":{"name":"a"},"deleteOptions":{"gracePeriodSeconds":0}}

GET {budgets}/web

POST {core}/pods/b/eviction
{"metadata":{"name":"b"}}

PATCH {budgets}/web/status merge-patch+json
{"status":{"disruptionsAllowed":0,"currentHealthy":2,"desiredHealthy":2}}

POST {core}/pods/b/eviction
{"metadata":{"name":"b"}}

PATCH {budgets}/web/status merge-patch+json
{"status":{"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed","message":"broken","lastTransitionTime":"2020-01-01T00:00:00Z"}]}}

POST {core}/pods/b/eviction
{"metadata":{"name":"b"}}

PATCH {budgets}/web/status merge-patch+json
{"status":{"currentHealthy":3,"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"Other","message":"no","lastTransitionTime":"2020-01-01T00:00:00Z"}]}}

POST {core}/pods/b/eviction
{"metadata":{"name":"b"}}

PATCH {core}/pods/c/status merge-patch+json
{"status":{"conditions":[{"type":"Ready","status":"False"}]}}

POST {core}/pods/c/eviction
{"metadata":{"name":"c"},"deleteOptions":{"preconditions":{"uid":"other"}}}

POST {core}/pods/c/eviction
{"metadata":{"name":"c"}}

GET {core}/pods/c

PATCH {core}/pods/d/status merge-patch+json
{"status":{"phase":"Failed"}}

POST {core}/pods/d/eviction
{"metadata":{"name":"d"}}

POST {budgets}
{"metadata":{"name":"second"},"spec":{"selector":{"matchLabels":{"app":"web"}}}}

POST {core}/pods/b/eviction
{"metadata":{"name":"b"}}

GET {core}/pods/b
`

// playBudgets sends the requests to a server with some ready pods and a budget, and returns the answers.
func playBudgets(t *testing.T, c *client.Client, ns string) (shown []string) {
	t.Helper()
	names := strings.NewReplacer("{ns}", ns, "{core}", "/api/v1/namespaces/"+ns, "{budgets}", "/apis/policy/v1/namespaces/"+ns+"/poddisruptionbudgets")
	send := func(step string) string { return sendStep(t, c, names.Replace(step)) }
	setup := []string{
		"POST /api/v1/namespaces\n" + `{"metadata":{"name":"{ns}"}}`,
		"POST {budgets}\n" + `{"metadata":{"name":"web"},"spec":{"minAvailable":2,"selector":{"matchLabels":{"app":"web"}}}}`,
	}
	for _, name := range []string{"pending", "a", "b", "c", "d"} {
		setup = append(setup, "POST {core}/pods\n"+`{"metadata":{"name":"`+name+`","labels":{"app":"web"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)
		if name != "pending" {
			setup = append(setup, "PATCH {core}/pods/"+name+"/status merge-patch+json\n"+
				`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
		}
	}
	for _, step := range setup {
		if answer := send(step); !strings.HasPrefix(answer, "20") {
			t.Fatalf("%s: %s", step, answer)
		}
	}
	for step := range strings.SplitSeq(strings.TrimSpace(budgetSteps), "\n\n") {
		shown = append(shown, "> "+step+"\n"+hideChance(send(step), ns, ""))
	}
	return shown
}
