package calls

import (
	"errors"
	"slices"
	"testing"

	"github.com/bowline-go/bowline/client"
)

// Run makes every call, except those that are named, to the server of cfg, whose credentials may do everything and
// which has no namespace "wire" yet. The test fails if the server refuses a call that it should accept, or accepts one
// that it should refuse.
func Run(t *testing.T, cfg client.Config, except ...string) {
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for _, call := range All() {
		if slices.Contains(except, call.Name) {
			continue
		}
		t.Run(call.Name, func(t *testing.T) {
			err := call.Do(t.Context(), c)
			if err == nil && (len(call.Refused) == 0 || slices.Contains(call.Refused, "")) {
				return
			}
			for _, reason := range call.Refused {
				if reason != "" && errors.Is(err, reason) {
					return
				}
			}
			t.Errorf("error is %v, want one of %q", err, call.Refused)
		})
	}
}
