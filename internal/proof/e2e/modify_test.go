package e2e

import (
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// Whatever goes wrong on the way to the server, no change is lost and none is made twice. client/clienttest has the same, in
// virtual time and with more seeds.
func TestManyWritersLoseNoChange(t *testing.T) {
	c, _ := admin(t)
	made := create(t, client.For(c, definitions), "", conformance.TallyDefinition)
	must(client.WaitFor(t.Context(), client.For(c, definitions), meta.KeyOf(made), client.UntilReady()))(t)
	conformance.RunWriters(t, adminConfig(), conformance.Faults(1))
}
