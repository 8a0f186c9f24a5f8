package main

import (
	"strings"
	"testing"
)

// All sides from end to end, with few pods: each still does its job, and has the pods that it should, which run checks.
func TestEverySideIsMeasured(t *testing.T) {
	var out, progress strings.Builder
	if err := run(t.Context(), 2_000, 1, &out, &progress); err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	t.Log("\n" + out.String())
	var found []string
	for line := range strings.Lines(out.String()) {
		switch {
		case strings.HasPrefix(line, "- ") && strings.HasSuffix(line, " Server\n"):
			found = append(found, "server")
		case strings.HasPrefix(line, "- ") && strings.HasSuffix(line, " Local\n"):
			found = append(found, "local")
		}
	}
	if strings.Join(found, " ") != "local server" {
		t.Errorf("the ranges are selected by %v:\n%s", found, &out)
	}
}

// The ranges are about as even as the uids of the pods.
func TestAQuarterOfTheRangesHasAQuarterOfThePods(t *testing.T) {
	if n := sharing(100_000); n < 23_000 || n > 27_000 {
		t.Errorf("a quarter of the ranges has %d of 100,000 pods", n)
	}
}
