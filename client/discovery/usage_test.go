package discovery_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
)

func TestInvalidArgumentsSendNoRequest(t *testing.T) {
	r := newRig(t, discovery.Options{})
	for _, test := range []struct {
		name    string
		catalog *discovery.Catalog
		call    func(*discovery.Catalog) error
		want    string
	}{
		{"no client", discovery.New(nil, discovery.Options{}), nil, "discovery.New: the client must not be nil; client.New makes one"},
		{"the zero catalog", new(discovery.Catalog), nil, "the zero discovery.Catalog has no client; use discovery.New"},
		{
			"negative options", discovery.New(r.client, discovery.Options{TTL: -1, MissTTL: -time.Second}), nil,
			"discovery.Options: TTL must not be negative, got -1ns\ndiscovery.Options: MissTTL must not be negative, got -1s",
		},
		{"no name", r.catalog, func(c *discovery.Catalog) error {
			_, _, err := c.Find(t.Context(), "")
			return err
		}, `discovery: the name must not be empty, or begin with a dot, got ""`},
		{"no resource in the name", r.catalog, func(c *discovery.Catalog) error {
			_, _, err := c.Find(t.Context(), ".apps")
			return err
		}, `discovery: the name must not be empty, or begin with a dot, got ".apps"`},
		{"no category", r.catalog, func(c *discovery.Catalog) error {
			_, err := c.Category(t.Context(), "")
			return err
		}, "discovery: the category's name must not be empty"},
		{"no kind", r.catalog, func(c *discovery.Catalog) error {
			_, err := c.Resource(t.Context(), meta.GVK{Group: "apps", Version: "v1"})
			return err
		}, "discovery: the kind's Kind must not be empty"},
		{"no resource", r.catalog, func(c *discovery.Catalog) error {
			_, err := c.ResourceOf(t.Context(), meta.GVR{Group: "apps", Version: "v1"})
			return err
		}, "discovery: the resource's Resource must not be empty"},
	} {
		t.Run(test.name, func(t *testing.T) {
			calls := []func(*discovery.Catalog) error{test.call}
			if test.call == nil {
				calls = []func(*discovery.Catalog) error{
					func(c *discovery.Catalog) error { _, err := c.Resources(t.Context()); return err },
					func(c *discovery.Catalog) error { _, err := c.Preferred(t.Context()); return err },
					func(c *discovery.Catalog) error { _, err := c.Resource(t.Context(), widget); return err },
					func(c *discovery.Catalog) error { _, _, err := c.Find(t.Context(), "x"); return err },
					func(c *discovery.Catalog) error { _, err := c.Category(t.Context(), "x"); return err },
					func(c *discovery.Catalog) error { _, err := c.Has(t.Context(), meta.GVK{}); return err },
					func(c *discovery.Catalog) error { _, err := c.Version(t.Context()); return err },
					func(c *discovery.Catalog) error {
						_, err := c.OpenAPI(t.Context(), meta.GVK{})
						return err
					},
				}
			}
			for i, call := range calls {
				var usage *client.UsageError
				if err := call(test.catalog); !errors.As(err, &usage) || err.Error() != test.want {
					t.Errorf("call %d: error is %v, want %q", i, err, test.want)
				}
			}
			test.catalog.Invalidate()
			r.wantRequests(t, "")
		})
	}
}
