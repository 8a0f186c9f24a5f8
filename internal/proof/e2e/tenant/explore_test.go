package tenant_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/e2e/tenant"
)

// services answers the conversions that the definition asks for, where no operator does.
func services() map[string]http.Handler {
	return map[string]http.Handler{service.String(): tenant.Conversion()}
}

// The namespaces have the label already, because the explorer's people are administrators.
func TestTheControllerSurvivesDisturbances(t *testing.T) {
	explore.Run(t, explore.Plan{
		Server: clienttest.Options{CRDs: []string{"crd.yaml"}, Objects: []string{"account.yaml"}, Services: services()},
		Program: func(ctx context.Context, cfg client.Config) error {
			c, err := client.New(cfg)
			if err != nil {
				return err
			}
			defer c.Close()
			return tenant.New(c, tenant.Options{Namespace: service.Namespace}).Run(ctx)
		},
		History: func(h *explore.History) {
			oil := meta.Key{Name: "oil"}
			explore.Create(h, tenant.Tenants, rich("oil", "alice"))
			h.Rest()
			ns := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: "oil-dev", Labels: map[string]string{tenant.Group + "/tenant": "oil"}}}
			explore.Create(h, core.Namespaces(), ns)
			h.Rest()
			explore.Modify(h, tenant.Tenants, oil, func(t *tenant.Tenant) error {
				t.Spec.NetworkPolicies = nil
				t.Spec.NamespaceOptions.AdditionalMetadata.Labels = map[string]string{"team": "gas"}
				return nil
			})
			h.Rest()
			explore.Delete(h, core.LimitRanges(), meta.Key{Namespace: "oil-dev", Name: "capsule-oil-0"})
		},
		Budget: time.Second,
	})
}
