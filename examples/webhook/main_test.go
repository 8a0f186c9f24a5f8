package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

var update = flag.Bool("update", false, "write role.yaml")

// Two replicas serve the webhook with the permissions in role.yaml, and the manifests as they are.
func TestTheWebhookRefusesAnotherHost(t *testing.T) {
	const user = "system:serviceaccount:default:site-webhook"
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{
			RBAC: true, Objects: []string{"webhook.yaml", "deployment.yaml", "role.yaml"},
			Resources: []clienttest.Resource{{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"}},
		})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		sites, key := client.For(c, Sites), meta.Key{Namespace: "default", Name: "home"}
		site := &Site{Identity: meta.Identity{Namespace: key.Namespace, Name: key.Name}}
		site.Spec.Host = "home.example.com"
		if _, err := sites.Create(t.Context(), site); err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
			t.Errorf("without the program a create returns %v", err)
		}

		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		for range cap(ended) {
			cfg := server.Config()
			cfg.Impersonate = &client.Subject{User: user}
			go func() {
				ended <- run(ctx, cfg, server.ListenService(meta.Key{Namespace: "default", Name: "site-webhook"}), nil)
			}()
		}
		time.Sleep(time.Minute)
		if _, err := sites.Create(t.Context(), site); err != nil {
			t.Error(err)
		}
		for _, host := range []string{"home.example.com", "other.example.com"} {
			_, err := sites.Modify(t.Context(), key, func(s *Site) error { s.Spec.Host = host; return nil })
			if refused := errors.Is(err, apierrors.Invalid) && strings.Contains(err.Error(), "spec.host: must not change"); refused != (host != site.Spec.Host) {
				t.Errorf("with the host %s a change returns %v", host, err)
			}
		}
		stop()
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// role.yaml is what the program asks for when its certificate is new and when it is renewed.
func TestTheRoleIsWhatTheProgramAsksFor(t *testing.T) {
	const user = "system:serviceaccount:default:site-webhook"
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Objects: []string{"webhook.yaml"}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		cfg := server.Config()
		cfg.Impersonate = &client.Subject{User: user}
		go func() {
			ended <- run(ctx, cfg, server.ListenService(meta.Key{Namespace: "default", Name: "site-webhook"}), nil)
		}()
		time.Sleep(time.Minute)
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		secrets := client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "Secret", Resource: "secrets"})
		if _, err := secrets.Modify(t.Context(), meta.Key{Namespace: "default", Name: "site-webhook-certificate"}, func(s *meta.Unstructured) error {
			return meta.SetNested(s, "", "data", "tls.crt") // so that the program updates it
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		role := server.Role("site-webhook", clienttest.RoleOptions{
			User: user, Namespaced: true, Names: []string{"secrets", "validatingwebhookconfigurations"},
		})
		if *update {
			if err := os.WriteFile("role.yaml", role, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile("role.yaml"); err != nil || string(want) != string(role) {
			t.Errorf("role.yaml is not what the program asks for (%v); go test -run Role . -update writes this:\n%s", err, role)
		}
	})
}
