package shards_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/shards"
)

func TestConfigIsChecked(t *testing.T) {
	play(t, func(w *world) {
		for want, change := range map[string]func(*shards.Options){
			"Namespace":                      func(c *shards.Options) { c.Namespace = "" },
			"Name must be set":               func(c *shards.Options) { c.Name = "" },
			"value of a label, got \"a b\"":  func(c *shards.Options) { c.Name = "a b" },
			"make the name of a lease":       func(c *shards.Options) { c.Identity = "Über" },
			"at most 253":                    func(c *shards.Options) { c.Identity = strings.Repeat("a", 250) },
			"By: meta.ShardBy must be":       func(c *shards.Options) { c.By = "metadata.name" },
			"Weight must be 0 (1) or more":   func(c *shards.Options) { c.Weight = -1 },
			"up to 1000, got 1001":           func(c *shards.Options) { c.Weight = 1001 },
			"Drain must be 0 or more":        func(c *shards.Options) { c.Drain = -1 },
			"Handover must be 0 or more":     func(c *shards.Options) { c.Handover = -1 },
			"Labels":                         func(c *shards.Options) { c.Labels = map[string]string{"a b": ""} },
			"group is set by the Group":      func(c *shards.Options) { c.Labels = map[string]string{shards.GroupLabel: "b"} },
			`Labels["a"]`:                    func(c *shards.Options) { c.Labels = map[string]string{"a": "b c"} },
			"LeaseDuration must be":          func(c *shards.Options) { c.LeaseDuration = time.Millisecond },
			"RenewDeadline must be at least": func(c *shards.Options) { c.RenewDeadline = time.Minute },
			"1.2 times RetryPeriod":          func(c *shards.Options) { c.RetryPeriod = 9 * time.Second },
		} {
			r := w.replica("a", change)
			err := r.Run(w.Context(), func(context.Context) error { t.Error("work is called"); return nil })
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
		if err := w.replica("a", nil).Run(w.Context(), nil); err == nil || !strings.Contains(err.Error(), "work must not be nil") {
			t.Errorf("without work: %v", err)
		}
		if err := shards.New(nil, shards.Options{Namespace: "default", Name: "web"}).Run(w.Context(), func(context.Context) error { return nil }); err == nil || !strings.Contains(err.Error(), "client must not be nil") {
			t.Errorf("without a client: %v", err)
		}
	})
}
