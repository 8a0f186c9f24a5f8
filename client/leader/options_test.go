package leader_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/leader"
)

// behaviour 342
func TestAConfigThatCannotWorkIsAnErrorThatNamesTheField(t *testing.T) {
	c, err := client.New(client.Config{Server: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	lead := func(context.Context) error { t.Error("lead was called"); return nil }
	ended, cancel := context.WithCancel(t.Context()) // so that options that are taken returns nil
	cancel()
	for _, tc := range []struct {
		name   string
		change func(c *leader.Options)
		want   string
	}{
		{"no namespace", func(c *leader.Options) { c.Namespace = "" }, "leader.Options: Namespace"},
		{"namespace is a path", func(c *leader.Options) { c.Namespace = "a/b" }, "leader.Options: Namespace"},
		{"no name", func(c *leader.Options) { c.Name = "" }, "leader.Options: Name"},
		{"name is a path", func(c *leader.Options) { c.Name = ".." }, "leader.Options: Name"},
		{"fraction of a second", func(c *leader.Options) { c.LeaseDuration = 15500 * time.Millisecond }, "LeaseDuration must be 0 (15s) or a whole, positive number of seconds, got 15.5s"},
		{"negative lease", func(c *leader.Options) { c.LeaseDuration = -time.Second }, "LeaseDuration must be"},
		{"lease longer than the field", func(c *leader.Options) { c.LeaseDuration = (1 << 31) * time.Second }, "LeaseDuration must be"},
		{"deadline as long as the lease", func(c *leader.Options) { c.RenewDeadline = 15 * time.Second }, "RenewDeadline must be at least 1s shorter than LeaseDuration (15s), got 15s"},
		{"deadline nearly as long as the lease", func(c *leader.Options) { c.RenewDeadline = 14*time.Second + 1 }, "RenewDeadline must be at least 1s shorter"},
		{"negative deadline", func(c *leader.Options) { c.RenewDeadline = -1 }, "RenewDeadline must be 0 (10s) or more, got -1ns"},
		{"short lease", func(c *leader.Options) { c.LeaseDuration = time.Second }, "RenewDeadline must be at least 1s shorter than LeaseDuration (1s), got 10s"},
		{"period too near to the deadline", func(c *leader.Options) { c.RetryPeriod = 8400 * time.Millisecond }, "RenewDeadline (10s) must be longer than 1.2 times RetryPeriod (8.4s)"},
		{"negative period", func(c *leader.Options) { c.RetryPeriod = -1 }, "RetryPeriod must be 0 (2s) or more, got -1ns"},
		{"label key", func(c *leader.Options) { c.Labels = map[string]string{"a b": "c"} }, "leader.Options: Labels: "},
		{"label value", func(c *leader.Options) { c.Labels = map[string]string{"a": "b c"} }, `leader.Options: Labels["a"]: `},
		{"grace", func(c *leader.Options) { c.Grace = -1 }, "Grace must be 0 (LeaseDuration) or more, got -1ns"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config := leader.Options{Namespace: "default", Name: "web"}
			tc.change(&config)
			err := leader.Run(ended, c, config, lead)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want %q in it", err, tc.want)
			}
		})
	}
	t.Run("all reasons at once", func(t *testing.T) {
		err := leader.Run(ended, nil, leader.Options{LeaseDuration: -1}, lead)
		for _, want := range []string{"leader.New: the client must not be nil", "Namespace", "Name", "LeaseDuration"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error is %v, want %q in it", err, want)
			}
		}
	})
	t.Run("no function", func(t *testing.T) {
		err := leader.Run(ended, c, leader.Options{Namespace: "default", Name: "web"}, nil)
		if err == nil || err.Error() != "leader.Run: lead must not be nil" {
			t.Errorf("error is %v", err)
		}
	})
}

func TestTheLimitsOfAConfigWork(t *testing.T) {
	c, err := client.New(client.Config{Server: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, config := range map[string]leader.Options{
		"zero":             {},
		"shortest":         {LeaseDuration: 2 * time.Second, RenewDeadline: time.Second, RetryPeriod: 833 * time.Millisecond},
		"longest deadline": {RenewDeadline: 14 * time.Second},
		"longest period":   {RetryPeriod: 8333 * time.Millisecond},
		"longest lease":    {LeaseDuration: (1<<31 - 1) * time.Second},
	} {
		config.Namespace, config.Name = "default", "web"
		if err := leader.Run(ended, c, config, func(context.Context) error { return nil }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every Elector has an identity of its own, so two in one process exclude each other.
func TestIdentitiesThatAreMadeDiffer(t *testing.T) {
	a, b := leader.New(nil, leader.Options{}), leader.New(nil, leader.Options{})
	if a, b := a.Status().Identity, b.Status().Identity; a == b || len(a) < 16 {
		t.Errorf("identities are %q and %q", a, b)
	}
	if got := leader.New(nil, leader.Options{Identity: "x"}).Status().Identity; got != "x" {
		t.Errorf("identity is %q, want the one of the Config", got)
	}
}
