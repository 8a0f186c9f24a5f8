package main

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// The role of the operator is what two replicas of it ask for, and what the operator says that it asks for.
func TestTheRoleIsWhatTheOperatorAsksFor(t *testing.T) {
	const user = "system:serviceaccount:default:page-operator"
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{CRDs: []string{"pages.yaml"}})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		for range 2 {
			cfg := server.Config()
			cfg.Impersonate = &client.Subject{User: user}
			go func() { ended <- run(ctx, cfg, "default", false, nil, nil, func(*Page) error { return nil }) }()
		}
		pages, configMaps, key := client.For(c, Pages), client.For(c, ConfigMaps), meta.Key{Namespace: "default", Name: "home"}
		if _, err := pages.Create(t.Context(), &Page{ObjectMeta: key.ObjectMeta()}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, err := pages.Modify(t.Context(), key, func(p *Page) error { p.Spec.Text = "hello"; return nil }); err != nil {
			t.Fatal(err)
		}
		for range 3 { // the same record several times
			time.Sleep(time.Minute)
			if err := configMaps.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if err := pages.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		stop()
		for range cap(ended) {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		options := clienttest.RoleOptions{User: user, Names: []string{"leases"}}
		role := server.Role("page-operator", options)
		group, _ := newGroup(c, "default", false, nil)
		if says, err := clienttest.RoleOf("page-operator", group.Permissions(), options); err != nil || string(says) != string(role) {
			t.Errorf("the operator asks for\n%s\nand says (%v) that it asks for\n%s", role, err, says)
		}
		if *update {
			if err := os.WriteFile("role.yaml", role, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile("role.yaml"); err != nil || string(want) != string(role) {
			t.Errorf("role.yaml is not what the operator asks for (%v); go test -run Role . -update writes this:\n%s", err, role)
		}
	})
}
