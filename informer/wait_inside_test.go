package informer

import (
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// Where the last namespace came just when somebody had stopped waiting, the error said that 0 namespaces had not been listed.
func TestNoNamespaceIsMissingOnceAllAreListed(t *testing.T) {
	i := newEngine[*meta.Unstructured](nil, Options{Namespaces: []string{"a", "b"}})
	i.wasListed("a")
	if err := i.missing(); err == nil || err.Error() != `1 of 2 namespaces not synced: "b" (Idle)` {
		t.Errorf("with one to come: %v", err)
	}
	i.wasListed("b")
	if err := i.missing(); err != nil {
		t.Errorf("with none to come: %v", err)
	}
}
