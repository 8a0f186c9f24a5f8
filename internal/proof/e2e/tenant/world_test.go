package tenant_test

import (
	"context"
	"errors"
	"flag"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/apiserver"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/proof/e2e/tenant"
)

var minor = flag.String("apiserver", "", "minor release of Kubernetes to test with; empty means clienttest")

var service = meta.Key{Namespace: "capsule-system", Name: "capsule"}

// account is the user of the operator where the server has role.yaml.
const account = "system:serviceaccount:capsule-system:capsule"

// world is a server with the operator.
type world struct {
	*testing.T
	cfg        client.Config // of the administrator
	admin      *client.Client
	server     *clienttest.Server // nil for a real one
	group      *informer.Group
	tenants    client.Resource[*tenant.Tenant]
	olds       client.Resource[*tenant.OldTenant]
	namespaces client.Resource[*core.Namespace]
}

// onEither plays a test on the server that the flag names: go test -run OnEitherServer . -apiserver 1.37
func onEither(t *testing.T, play func(*world)) {
	if *minor != "" {
		play(onReal(t))
		return
	}
	synctest.Test(t, func(t *testing.T) { play(onFake(t)) })
}

// onFake starts clienttest, where the operator may do what role.yaml allows.
func onFake(t *testing.T) *world {
	server := clienttest.Start(t, clienttest.Options{
		CRDs: []string{"crd.yaml"}, RBAC: true, Objects: []string{"webhooks.yaml", "role.yaml", "account.yaml", "roles.yaml"},
	})
	w := newWorld(t, server.Config())
	w.server = server
	as := w.cfg
	as.Impersonate = &client.Subject{User: account}
	w.run(as, tenant.Options{Namespace: service.Namespace, Service: service, Listener: server.ListenService(service)})
	return w
}

// onReal starts a kube-apiserver, which calls the webhooks by URLs.
func onReal(t *testing.T) *world {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "https://" + listener.Addr().String()
	definition := tenant.Definition(service)
	definition.Spec.Conversion.Webhook.Client = crd.WebhookClient{URL: url + "/convert"}
	dir := t.TempDir()
	defined, hooks := filepath.Join(dir, "crd.yaml"), filepath.Join(dir, "webhooks.yaml")
	if err := crd.CheckFile(defined, true, definition); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("webhooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`clientConfig: \{service: .*path: (.*)\}\}`).ReplaceAll(text, []byte("clientConfig: {url: "+url+"$1}"))
	if err := os.WriteFile(hooks, text, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, apiserver.Start(t, apiserver.Options{
		Minor: *minor, CRDs: []string{defined}, Objects: []string{"roles.yaml", "account.yaml", "role.yaml", hooks}, ControllerManager: true,
	}).Config())
	as := w.cfg
	as.Impersonate = &client.Subject{User: account}
	w.run(as, tenant.Options{Namespace: service.Namespace, Names: []string{"127.0.0.1"}, Listener: listener})
	return w
}

func newWorld(t *testing.T, cfg client.Config) *world {
	w := &world{T: t, cfg: cfg}
	w.admin = w.connect(cfg)
	w.tenants, w.olds, w.namespaces = client.For(w.admin, tenant.Tenants), client.For(w.admin, tenant.OldTenants), client.For(w.admin, core.Namespaces())
	return w
}

func (w *world) connect(cfg client.Config) *client.Client {
	w.Helper()
	c, err := client.New(cfg)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(c.Close)
	return c
}

// as returns a client of a user in the group of owners.
func (w *world) as(user string) *client.Client {
	cfg := w.cfg
	cfg.Impersonate = &client.Subject{User: user, Groups: []string{tenant.Group, "system:authenticated"}}
	return w.connect(cfg)
}

// run runs the operator until the test ends, and returns when it is ready.
func (w *world) run(cfg client.Config, o tenant.Options) {
	w.group = tenant.New(w.connect(cfg), o)
	ctx, stop := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.group.Run(ctx) }()
	w.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			w.Errorf("the operator ended: %v", err)
		}
	})
	w.until("the operator is ready", w.group.Ready)
	w.until("the webhooks are asked", func() error {
		_, err := w.tenants.With(client.WriteOptions{DryRun: true}).Create(w.Context(), newTenant("with.dots", "nobody"))
		if err == nil {
			return errors.New("a tenant with a wrong name is accepted")
		}
		if !isInvalid(err) {
			return err
		}
		return nil
	})
}

// until waits until a condition holds, for up to two minutes, which are virtual where the server is.
func (w *world) until(what string, holds func() error) {
	w.Helper()
	began := time.Now()
	err := holds()
	for ; err != nil && time.Since(began) < 2*time.Minute; err = holds() {
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		w.Fatalf("%s: %v", what, err)
	}
}

func newTenant(name string, owners ...string) *tenant.Tenant {
	t := &tenant.Tenant{ObjectMeta: meta.ObjectMeta{Name: name}}
	for _, owner := range owners {
		t.Spec.Owners = append(t.Spec.Owners, tenant.Owner{Kind: tenant.User, Name: owner})
	}
	return t
}

func must[V any](v V, err error) func(*world) V {
	return func(w *world) V {
		w.Helper()
		if err != nil {
			w.Fatal(err)
		}
		return v
	}
}
