package collectors

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/controllers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/proof/histories"
)

var steps = flag.Int("steps", 14, "how many steps a history has")

// quiet is how long nothing must happen until a side counts as at rest: a kube-controller-manager needs a moment between a
// change and its own next one.
const quiet = 1500 * time.Millisecond

// history is what a test plays, and what became of it at the first side.
type history struct {
	seed  uint64
	steps []step
	after []result // one for each step
}

type result struct {
	outcome string
	lines   []string
}

func TestControllersDoTheSame(t *testing.T) {
	plane, err := controlplane.Start(t.Context(), controlplane.Options{ControllerManager: true, Controllers: []string{
		"garbage-collector-controller", "namespace-controller",
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	real := client.Config{Server: plane.Server, TLS: client.TLS{CAData: client.Secret(plane.CA)}, BearerToken: client.Secret(plane.Token)}
	t.Run("garbage collectors", func(t *testing.T) {
		var all []history
		for seed := range histories.Seeds(20) {
			all = append(all, history{seed: seed})
		}
		synctest.Test(t, func(t *testing.T) { playOurs(t, all) })
		if last := *steps - 1; histories.One() {
			t.Log(all[0].describe(last))
		}
		playReal(t, real, all)
	})
	t.Run("deleted definitions", func(t *testing.T) {
		var ours []string
		synctest.Test(t, func(t *testing.T) {
			server := clienttest.Start(t, clienttest.Options{})
			controllers.Start(t, server.Config(), controllers.GarbageCollector())
			ours = deleteDefinitions(t, server.Config())
		})
		if got := deleteDefinitions(t, real); !slices.Equal(got, ours) {
			t.Errorf("a kube-controller-manager leaves\n%q\nours leaves\n%q", got, ours)
		}
	})
	t.Run("namespace controllers", func(t *testing.T) {
		var ours []string
		synctest.Test(t, func(t *testing.T) {
			server := clienttest.Start(t, clienttest.Options{NamespaceController: true})
			controllers.Start(t, server.Config(), controllers.Namespaces())
			ours = endNamespaces(t, server.Config())
		})
		for i, got := range endNamespaces(t, real) {
			if got != ours[i] {
				t.Errorf("a kube-controller-manager leaves\n%s\nours leaves\n%s", got, ours[i])
			}
		}
	})
}

// playOurs chooses the steps of all histories, and plays them at clienttest.
func playOurs(t *testing.T, all []history) {
	server := clienttest.Start(t, clienttest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	s, end := newSide(ctx, t, server.Config(), len(all))
	defer end()
	defer cancel()
	controllers.Start(t, server.Config(), controllers.GarbageCollector())
	synctest.Wait()
	sources := make([]*rand.Rand, len(all))
	for h := range all {
		sources[h] = rand.New(rand.NewPCG(all[h].seed, 1))
	}
	before := s.snapshots(len(all))
	for range *steps {
		outcomes := make([]string, len(all))
		for h := range all {
			all[h].steps = append(all[h].steps, next(sources[h], before[h].places))
			outcomes[h] = s.do(ctx, h, all[h].steps[len(all[h].steps)-1])
			synctest.Wait() // as slow as the other side, where a step takes longer than an event
		}
		time.Sleep(quiet) // for retries
		synctest.Wait()
		before = s.snapshots(len(all))
		for h := range all {
			all[h].after = append(all[h].after, result{outcomes[h], before[h].lines})
		}
	}
}

// playReal plays the steps at a kube-apiserver with a kube-controller-manager, and compares.
func playReal(t *testing.T, config client.Config, all []history) {
	ctx, cancel := context.WithCancel(t.Context())
	s, end := newSide(ctx, t, config, len(all))
	defer end()
	defer cancel()
	s.awaitCollector(t)
	differ, played := s.compare(ctx, all, 0), len(all)
	// A kube-controller-manager looks at several objects at once, in any order, so what it leaves may depend on the order. It
	// must be able to leave the same as ours.
	for round := 1; len(differ) > 0 && round <= rounds; round++ {
		var repeated []history
		for _, d := range differ {
			repeated = append(repeated, slices.Repeat([]history{d.history}, repetitions)...)
		}
		s.prepare(t, played, played+len(repeated))
		unlike := make([]int, len(differ))
		for _, d := range s.compare(ctx, repeated, played) {
			unlike[d.at/repetitions]++
		}
		played += len(repeated)
		var left []difference
		for n, d := range differ {
			if unlike[n] == repetitions {
				left = append(left, d)
				continue
			}
			t.Logf("history %d differed, and was then the same in %d of %d repetitions of round %d", d.seed, repetitions-unlike[n], repetitions, round)
		}
		differ = left
	}
	for _, d := range differ {
		t.Error(d.text)
	}
}

// A history that differs is played again, repetitions times in each of up to so many rounds, until it is the same once.
const repetitions, rounds = 20, 10

// difference is a history that a kube-controller-manager ended otherwise than ours.
type difference struct {
	history
	at   int // in the histories that were compared
	text string
}

// compare plays histories, numbered from a number on, and returns those that differ.
func (s *side) compare(ctx context.Context, all []history, from int) (differ []difference) {
	found := make([]bool, len(all))
	for n := range *steps {
		outcomes := make([]string, len(all))
		var group sync.WaitGroup
		limit := make(chan struct{}, 8)
		for h := range all {
			limit <- struct{}{}
			group.Go(func() {
				outcomes[h] = s.do(ctx, from+h, all[h].steps[n])
				<-limit
			})
		}
		group.Wait()
		s.quiet(quiet)
		now := s.snapshots(from + len(all))
		for h := range all {
			if got := (result{outcomes[h], now[from+h].lines}); !found[h] && !same(got, all[h].after[n]) {
				found[h] = true
				differ = append(differ, difference{all[h], h, all[h].report(n, got)})
			}
		}
	}
	return differ
}

func same(a, b result) bool { return a.outcome == b.outcome && slices.Equal(a.lines, b.lines) }

// describe returns the steps of a history up to step n, and their outcomes.
func (h history) describe(n int) (text string) {
	for i := range n + 1 {
		text += fmt.Sprintf("  %d. %s: %s\n", i, h.steps[i], h.after[i].outcome)
	}
	return text
}

// report describes how a history differs after step n.
func (h history) report(n int, got result) string {
	text := fmt.Sprintf("history %d differs after step %d:\n", h.seed, n) + h.describe(n)
	if n > 0 {
		text += "before:\n  " + strings.Join(h.after[n-1].lines, "\n  ") + "\n"
	}
	return text + "a kube-controller-manager leaves, after the outcome " + got.outcome + ":\n  " + strings.Join(got.lines, "\n  ") +
		"\nours leaves, after the outcome " + h.after[n].outcome + ":\n  " + strings.Join(h.after[n].lines, "\n  ")
}

// prepare creates the namespaces of some histories.
func (s *side) prepare(t *testing.T, from, to int) {
	t.Helper()
	spaces := client.For(s.c, client.Type[object]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster})
	for h := from; h < to; h++ {
		for _, space := range []string{"a", "b"} {
			o := &meta.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
			o.SetName(fmt.Sprintf("h%d-%s", h, space))
			if _, err := spaces.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// define creates the definition of the custom resource.
func (s *side) define(t *testing.T) {
	t.Helper()
	defined := client.For(s.c, definitions)
	if _, err := defined.Create(t.Context(), pageDefinition()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.WaitFor(t.Context(), defined, meta.Key{Name: "pages.example.com"}, client.UntilTrue("Established")); err != nil {
		t.Fatal(err)
	}
}

// awaitCollector returns when the collector collects, also the children of custom resources.
func (s *side) awaitCollector(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	pages := client.For(s.c, kindOf("Page"))
	o := &meta.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Page"}}
	o.SetName("canary")
	o.SetNamespace("default")
	o.SetOwnerReferences([]meta.OwnerReference{{APIVersion: "example.com/v1", Kind: "Page", Name: "none", UID: "1"}})
	made, err := pages.Create(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.WaitFor(ctx, pages, meta.KeyOf(made), client.UntilDeleted(made.GetUID())); err != nil {
		t.Fatal(err)
	}
}

func pageDefinition() object {
	return &meta.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "pages.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"kind": "Page", "plural": "pages"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		},
	}}
}
