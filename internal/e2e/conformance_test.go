package e2e

import (
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/conformance"
)

// The same suite runs against the server in the process in client/clienttest.
func TestConformance(t *testing.T) {
	conformance.Run(t, client.Config{
		Server:      plane.Server,
		TLS:         client.TLS{CAData: plane.CA},
		BearerToken: plane.Token,
	})
}
