package tenant_test

import (
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/e2e/tenant"
)

// role.yaml is what the operator asks for while it does everything, and what it says that it asks for.
func TestTheRoleIsWhatTheOperatorAsksFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{CRDs: []string{"crd.yaml"}, Objects: []string{"account.yaml", "roles.yaml", "webhooks.yaml"}})
		w := newWorld(t, server.Config())
		w.server = server
		as := w.cfg
		as.Impersonate = &client.Subject{User: account}
		w.run(as, tenant.Options{Namespace: service.Namespace, Service: service, Listener: server.ListenService(service)})
		playLife(w)
		playQuota(w)
		playPrune(w)
		playRest(w)
		options := clienttest.RoleOptions{User: account, Names: []string{
			"leases", "secrets", "validatingwebhookconfigurations", "mutatingwebhookconfigurations", "customresourcedefinitions",
		}}
		asked := server.Role("capsule", options)
		seen := slices.DeleteFunc(w.group.Permissions(), func(a client.Access) bool {
			return a.Verb == "bind" // the server looks for it when it gets a role binding; it is no request
		})
		if says, err := clienttest.RoleOf("capsule", seen, options); err != nil || string(says) != string(asked) {
			t.Errorf("the operator asks for\n%s\nand says (%v) that it asks for\n%s", asked, err, says)
		}
		options.Namespaced = true // what is in one namespace
		role := must(clienttest.RoleOf("capsule", w.group.Permissions(), options))(w)
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

// playRest lets the operator do what it rarely does: look for a tenant that its cache lacks, and make another
// certificate.
func playRest(w *world) {
	ns := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: "left", Labels: map[string]string{tenant.Group + "/tenant": "gone"}}}
	must(w.namespaces.Create(w.Context(), ns))(w)
	unchecked := &core.Service{ObjectMeta: meta.ObjectMeta{Namespace: "left", Name: "a"}, Spec: core.ServiceSpec{Ports: []core.ServicePort{{Port: 80}}}}
	must(client.For(w.admin, core.Services()).Create(w.Context(), unchecked))(w)
	key := meta.Key{Namespace: service.Namespace, Name: "capsule-tls"}
	must(client.For(w.admin, core.Secrets()).Modify(w.Context(), key, func(s *core.Secret) error { s.Data["tls.crt"] = nil; return nil }))(w)
	time.Sleep(time.Minute)
}
