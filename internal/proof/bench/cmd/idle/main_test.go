package main

import (
	"strings"
	"testing"
)

// Both sides from end to end, with few informers, over both versions of HTTP; with -short over HTTP/2 alone.
func TestBothSidesAreMeasured(t *testing.T) {
	for _, http1 := range []bool{false, true} {
		if http1 && testing.Short() {
			continue
		}
		var out, progress strings.Builder
		if err := run(t.Context(), options{informers: 10, rounds: 1, http1: http1}, &out, &progress); err != nil {
			t.Fatalf("%v\n%s", err, &progress)
		}
		t.Log("\n" + out.String())
		for _, want := range []string{"10 informers; medians of 1.", "| one informer    |", " client-go |", "\n- client-go: ", "\n- Bowline: "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q is not in:\n%s", want, &out)
			}
		}
	}
}
