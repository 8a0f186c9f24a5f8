package e2e

import (
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/proof/conformance/calls"
)

// behaviours 11 and 24: the server accepts every request whose bytes client/testdata/wire has.
func TestEveryCallIsAccepted(t *testing.T) {
	calls.Run(t, client.Config{Server: plane.Server, TLS: client.TLS{CAData: client.Secret(plane.CA)}, BearerToken: client.Secret(plane.Token)})
}
