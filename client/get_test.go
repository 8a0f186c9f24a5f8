package client_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestGetOptionsChooseHowFreshAnObjectIs(t *testing.T) {
	quotas := client.Type[*ConfigMap]{Version: "v1", Kind: "ResourceQuota", Resource: "resourcequotas"} // it has a status
	version := func(o *ConfigMap, err error) (string, error) {
		if err != nil {
			return "", err
		}
		return o.ResourceVersion, nil
	}
	key := meta.Key{Namespace: "default", Name: "a"}
	for name, get := range map[string]func(context.Context, client.Resource[*ConfigMap], string) (string, error){
		"Get": func(ctx context.Context, r client.Resource[*ConfigMap], v string) (string, error) {
			return version(r.GetWith(ctx, key, client.GetOptions{ResourceVersion: v}))
		},
		"Sub.Get": func(ctx context.Context, r client.Resource[*ConfigMap], v string) (string, error) {
			return version(r.Status().GetWith(ctx, key, client.GetOptions{ResourceVersion: v}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, clienttest.Options{})
				cfg := server.Config()
				cfg.Retry.Attempts = 1
				r := client.For(dial(t, cfg), quotas)
				first := must[*ConfigMap](t)(r.Create(t.Context(), &ConfigMap{ObjectMeta: key.ObjectMeta()})).ResourceVersion
				cache := server.Replica(0)
				cache.SetLag(math.MaxInt, 0)
				last := must[*ConfigMap](t)(r.Modify(t.Context(), key, func(o *ConfigMap) error {
					o.Labels = map[string]string{"new": "yes"}
					return nil
				})).ResourceVersion
				for _, level := range []struct{ version, want string }{{"", last}, {"0", first}, {first, first}} {
					if got, err := get(t.Context(), r, level.version); err != nil || got != level.want {
						t.Errorf("with version %q it is %q, %v; want %q", level.version, got, err, level.want)
					}
				}
				if got, err := get(t.Context(), r, last); !apierrors.IsTooLargeResourceVersion(err) {
					t.Errorf("from a cache that stays behind: %q, %v", got, err)
				}
				time.AfterFunc(time.Second, func() { cache.SetLag(0, 0) })
				if got, err := get(t.Context(), r, last); err != nil || got != last {
					t.Errorf("from a cache that comes to the version: %q, %v", got, err)
				}
			})
		})
	}
}
