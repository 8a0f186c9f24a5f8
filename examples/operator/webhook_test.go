package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/webhook"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

// account is the user of the operator's pods, and service the Service of their webhook.
const account = "system:serviceaccount:default:page-operator"

var service = meta.Key{Namespace: "default", Name: "page-operator"}

// Two replicas serve the webhook, with the manifests as they are and the permissions that these give.
func TestTheWebhookRefusesATextThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{
			CRDs: []string{"pages.yaml"}, RBAC: true,
			Objects: []string{"account.yaml", "role.yaml", "webhook.yaml", "webhookrole.yaml"},
		})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		pages := client.For(c, Pages)
		create := func(name, text string) error {
			page := &Page{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}
			page.Spec.Text = text
			_, err := pages.Create(t.Context(), page)
			return err
		}
		if err := create("early", "hello"); err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
			t.Errorf("without the operator a create returns %v", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		for range cap(ended) {
			cfg := server.Config()
			cfg.Impersonate = &client.Subject{User: account}
			go func() {
				ended <- run(ctx, cfg, "default", false, nil, server.ListenService(service), func(*Page) error { return nil })
			}()
		}
		time.Sleep(time.Minute)

		if err := create("fits", strings.Repeat("é", maxText/2)); err != nil {
			t.Error(err)
		}
		long := strings.Repeat("é", maxText/2) + "!" // fewer characters than bytes
		if err := create("long", long); !errors.Is(err, apierrors.Invalid) || !strings.Contains(err.Error(), "spec.text: must have at most 1048576 bytes") {
			t.Errorf("a create with a text that is too long returns %v", err)
		}
		key := meta.Key{Namespace: "default", Name: "fits"}
		if _, err := pages.Modify(t.Context(), key, func(p *Page) error { p.Spec.Text = long; return nil }); !errors.Is(err, apierrors.Invalid) {
			t.Errorf("a change to a text that is too long returns %v", err)
		}
		time.Sleep(time.Minute)
		made, err := client.For(c, ConfigMaps).Get(t.Context(), key)
		if err != nil || len(made.Data["text"]) != maxText {
			t.Errorf("the ConfigMap has %d bytes, %v", len(made.Data["text"]), err)
		}
		stop()
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// A page that has the text from before the webhook can be deleted: the removal of its finalizer is an update.
func TestTheWebhookRefusesNoUpdateThatKeepsTheText(t *testing.T) {
	r := &webhook.Request[*Page]{Operation: webhook.Update, Object: new(Page), Old: new(Page)}
	r.Object.Spec.Text = strings.Repeat("a", maxText+1)
	if err := validate(t.Context(), r); err == nil {
		t.Error("an update that makes the text too long is allowed")
	}
	r.Old.Spec.Text = r.Object.Spec.Text
	if err := validate(t.Context(), r); err != nil {
		t.Errorf("an update that keeps the text returns %v", err)
	}
}

// webhookrole.yaml is what the webhook asks for when its certificate is new and when it makes another one, and what it says
// that it asks for.
func TestTheRoleOfTheWebhookIsWhatItAsksFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Objects: []string{"webhook.yaml"}})
		cfg := server.Config()
		cfg.Impersonate = &client.Subject{User: account}
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		group := &informer.Group{Services: []informer.Runner{newWebhook(c, "default", server.ListenService(service))}}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- group.Run(ctx) }()
		time.Sleep(time.Minute)
		admin, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer admin.Close()
		secrets := client.For(admin, client.Type[*meta.Unstructured]{Version: "v1", Kind: "Secret", Resource: "secrets"})
		if _, err := secrets.Modify(t.Context(), meta.Key{Namespace: "default", Name: "page-operator-webhook"}, func(s *meta.Unstructured) error {
			return meta.SetNested(s, "", "data", "tls.crt") // so that the operator makes another certificate
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		options := clienttest.RoleOptions{User: account, Namespaced: true, Names: []string{"secrets", "validatingwebhookconfigurations"}}
		role := server.Role("page-operator-webhook", options)
		if says, err := clienttest.RoleOf("page-operator-webhook", group.Permissions(), options); err != nil || string(says) != string(role) {
			t.Errorf("the webhook asks for\n%s\nand says (%v) that it asks for\n%s", role, err, says)
		}
		if *update {
			if err := os.WriteFile("webhookrole.yaml", role, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile("webhookrole.yaml"); err != nil || string(want) != string(role) {
			t.Errorf("webhookrole.yaml is not what the webhook asks for (%v); go test -run Role . -update writes this:\n%s", err, role)
		}
	})
}
