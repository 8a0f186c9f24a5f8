package e2e

import (
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// The feature gate is off in the server of the other tests, whose part of the suite is that shard selectors are ignored.
func TestConformanceOfShards(t *testing.T) {
	p, err := controlplane.Start(t.Context(), servers("--feature-gates=ShardedListAndWatch=true"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	config := client.Config{Server: p.Server, TLS: client.TLS{CAData: client.Secret(p.CA)}, BearerToken: client.Secret(p.Token)}
	defineForSuite(t, config)
	conformance.RunShards(t, config)
}
