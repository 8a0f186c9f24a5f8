package clientgo_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/clienttest/explore/clientgo"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// operator is what the tests explore.
type operator struct {
	name     string
	run      func(ctx context.Context, cfg *rest.Config) error
	replicas int
	by       []string // the disturbances that show its bug; none if it is right
}

func operators() []operator {
	return []operator{
		{name: "manager", run: copier{elects: true}.run, replicas: 2},
		{name: "manager-generates-names", run: copier{generates: true}.run, by: []string{"crash-after", "lost-answer", "timeout"}},
		{name: "manager-cleans-late", run: copier{forgets: true}.run, by: []string{"crash-after", "crash-before"}},
		{name: "informers", run: follower{}.run},
		// The reflectors of client-go try again at random times. So after a refusal of the children's watch, which the exploration tries
		// first, the report may come before the cache: then that story is found.
		{name: "informers-report-first", run: follower{boasts: true}.run, by: []string{"crash-after", "crash-before", "failure", "forbidden"}},
		{name: "informers-ignore-errors", run: follower{ignores: true}.run, by: []string{"failure", "throttled", "lost-answer"}},
	}
}

// ConfigMap is what the history needs of one.
type ConfigMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

func configMaps() client.Type[*ConfigMap] {
	return client.Type[*ConfigMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
}

// history is what all operators live through.
func history(h *explore.History) {
	a := &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}, Data: map[string]string{"text": "one"}}
	b := &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "b"}, Data: map[string]string{"text": "one"}}
	explore.Create(h, configMaps(), a)
	h.Rest()
	explore.Create(h, configMaps(), b)
	explore.Modify(h, configMaps(), a.Key(), func(c *ConfigMap) error { c.Data["text"] = "two"; return nil })
	h.Rest()
	explore.Delete(h, configMaps(), b.Key())
	h.Rest()
}

var only = flag.String("operator", "", "the only operator to explore; empty means those without a bug")

func TestTheOperatorsSurviveDisturbances(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	chosen := slices.DeleteFunc(operators(), func(o operator) bool {
		return *only != o.name && (*only != "" || o.by != nil)
	})
	if len(chosen) == 0 {
		t.Fatalf("-operator must be the name of one, got %q", *only)
	}
	for _, o := range chosen {
		t.Run(o.name, func(t *testing.T) {
			explore.Run(t, explore.Plan{Replicas: o.replicas, Program: clientgo.Program(o.run), History: history, Budget: 4 * time.Second})
		})
	}
}

// An exploration that finds something fails its test, so the test runs in a process of its own.
func TestPlantedBugsAreFound(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range operators() {
		if o.by == nil {
			continue
		}
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			out, err := exec.CommandContext(t.Context(), program, "-test.run=^TestTheOperatorsSurviveDisturbances$", "-operator="+o.name,
				"-explore.budget=20s").CombinedOutput()
			found := regexp.MustCompile(`breaks under ([a-z-]+)@`).FindSubmatch(out)
			if err == nil || found == nil || !slices.Contains(o.by, string(found[1])) {
				t.Fatalf("the exploration ends with %v; want a story of one of %q, got:\n%s", err, o.by, out)
			}
			t.Logf("%s", out)
		})
	}
}
