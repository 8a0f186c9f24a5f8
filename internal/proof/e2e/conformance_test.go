package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// The same suite runs against the server in the process in client/clienttest.
func TestConformance(t *testing.T) {
	defineForSuite(t, adminConfig())
	conformance.Run(t, adminConfig())
}

func TestConformanceInProtobuf(t *testing.T) {
	defineForSuite(t, adminConfig())
	conformance.RunProtobuf(t, adminConfig())
}

func TestConformanceOfDefinitions(t *testing.T) {
	t.Parallel()
	conformance.RunDefinitions(t, adminConfig())
}

func TestConformanceOfInstalls(t *testing.T) {
	t.Parallel()
	conformance.RunInstalls(t, adminConfig())
}

func TestConformanceOfRoles(t *testing.T) {
	t.Parallel()
	conformance.RunRoles(t, adminConfig())
}

// defineForSuite makes the custom resources of the suite.
func defineForSuite(t *testing.T, cfg client.Config) {
	t.Helper()
	c := open(t, cfg)
	for _, definition := range []string{conformance.WidgetDefinition, conformance.GadgetDefinition, conformance.GizmoDefinition} {
		made := parse(t, definition)
		if _, err := client.For(c, definitions).Create(t.Context(), made); err != nil && !errors.Is(err, apierrors.AlreadyExists) { // by another test
			t.Fatal(err)
		}
		must(client.WaitFor(t.Context(), client.For(c, definitions), meta.KeyOf(made), client.UntilReady()))(t)
	}
	// Discovery tells of them a little later, and the suite wants it to stay as it is.
	eventually(t, func() error {
		for _, kind := range []meta.GVK{conformance.Widgets.GVK(), conformance.Gadgets.GVK(), conformance.Gizmos.GVK()} {
			if has, err := discovery.New(c, discovery.Options{}).Has(t.Context(), kind); err != nil || !has {
				return fmt.Errorf("discovery has %v: %t, %w", kind, has, err)
			}
		}
		return nil
	})
}

// A watch cache remembers more than etcd does, so this server has none.
func TestConformanceOfExpiry(t *testing.T) {
	p, err := controlplane.Start(t.Context(), servers("--watch-cache=false"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	config := client.Config{Server: p.Server, TLS: client.TLS{CAData: client.Secret(p.CA)}, BearerToken: client.Secret(p.Token)}
	conformance.RunExpired(t, config, func() { compact(t, p.Etcd) })
}

// compact makes etcd forget every revision but the present one, through its JSON gateway.
func compact(t *testing.T, etcd string) {
	t.Helper()
	call := func(path, body string) (answer struct{ Header struct{ Revision string } }) {
		t.Helper()
		resp, err := http.Post(etcd+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("etcd answers %s with %s, %v", path, resp.Status, err)
		}
		return answer
	}
	revision := call("/v3/kv/range", `{"key":"AA=="}`).Header.Revision
	call("/v3/kv/compaction", `{"revision":"`+revision+`","physical":true}`)
}
