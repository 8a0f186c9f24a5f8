package externaldns_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/apiserver"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/proof/e2e/externaldns"
)

var (
	update = flag.Bool("update", false, "write the files that come from what the tests see")
	minor  = flag.String("apiserver", "", "minor release of Kubernetes to test with; empty means clienttest")
)

// account is the user of the controller.
const account = "system:serviceaccount:default:external-dns"

// world is a server with a controller and its provider.
type world struct {
	*testing.T
	cfg      client.Config
	admin    *client.Client
	server   *clienttest.Server // nil for a real one
	provider *externaldns.Memory
	group    *informer.Group
	end      func() // ends the controller
}

// onEither plays a test on the server that the flag names: go test -run OnEitherServer . -apiserver 1.37
func onEither(t *testing.T, crds []string, play func(*world)) {
	objects := []string{"account.yaml", "role.yaml"}
	if *minor != "" {
		play(newWorld(t, apiserver.Start(t, apiserver.Options{Minor: *minor, CRDs: crds, Objects: objects}).Config()))
		return
	}
	onFake(t, clienttest.Options{CRDs: crds, Objects: objects, RBAC: true}, play)
}

// onFake plays a test on clienttest, in virtual time.
func onFake(t *testing.T, o clienttest.Options, play func(*world)) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, o)
		w := newWorld(t, server.Config())
		w.server = server
		play(w)
	})
}

func newWorld(t *testing.T, cfg client.Config) *world {
	w := &world{T: t, cfg: cfg, provider: new(externaldns.Memory), end: func() {}}
	w.admin = w.connect(cfg)
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

// run starts the controller, as the user that role.yaml is for.
func (w *world) run(o externaldns.Options) {
	w.Helper()
	w.end()
	as := w.cfg
	as.Impersonate = &client.Subject{User: account}
	group, err := externaldns.New(w.connect(as), w.provider, o)
	if err != nil {
		w.Fatal(err)
	}
	w.group = group
	ctx, stop := context.WithCancel(w.Context())
	ended := make(chan error, 1)
	go func() { ended <- group.Run(ctx) }()
	w.end = func() {
		stop()
		if err := <-ended; err != nil {
			w.Errorf("the controller ended: %v", err)
		}
		w.end = func() {}
	}
	w.Cleanup(func() { w.end() })
}

// until waits until a condition holds, for up to three minutes, which are virtual where the server is.
func (w *world) until(what string, holds func() error) {
	w.Helper()
	began := time.Now()
	err := holds()
	for ; err != nil && time.Since(began) < 3*time.Minute; err = holds() {
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		w.Fatalf("%s: %v", what, err)
	}
}

// shown returns the records without the TXT records of owners, as text.
func (w *world) shown() (all []string) {
	records, _ := w.provider.Records(w.Context())
	for _, e := range records {
		if e.Type != externaldns.TXT || !strings.Contains(e.Targets[0], "heritage=") {
			all = append(all, fmt.Sprintf("%s %s %s", e.Name, e.Type, strings.Join(e.Targets, ",")))
		}
	}
	return all
}

// records waits until the provider has these records.
func (w *world) records(want ...string) {
	w.Helper()
	slices.Sort(want)
	w.until("the records are as wanted", func() error {
		if got := w.shown(); !slices.Equal(got, want) {
			return fmt.Errorf("they are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		return nil
	})
}

// put creates objects from a manifest, with their status.
func (w *world) put(manifest string) {
	w.Helper()
	for _, text := range documents(manifest) {
		o := new(meta.Unstructured)
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			w.Fatal(err)
		}
		r := client.For(w.admin, typeOf(o)).In("default")
		must(r.Create(w.Context(), o))(w)
		if status, found := o.Object["status"]; found {
			must(r.Status().Modify(w.Context(), meta.Key{Namespace: "default", Name: o.GetName()}, func(live *meta.Unstructured) error {
				return meta.SetNested(live, status, "status")
			}))(w)
		}
	}
}

// define installs the definitions of a file.
func (w *world) define(file string) {
	w.Helper()
	for _, text := range documents(string(mustRead(w, file))) {
		d := new(crd.Definition)
		if err := yaml.Unmarshal([]byte(text), d); err != nil {
			w.Fatal(err)
		}
		if err := crd.Install(w.Context(), w.admin, d); err != nil {
			w.Fatal(err)
		}
	}
}

// documents returns the documents of a file.
func documents(text string) []string { return strings.Split(text, "---\n") }

// typeOf returns the resource of an object.
func typeOf(o *meta.Unstructured) client.Type[*meta.Unstructured] {
	apiVersion, _, _ := meta.Nested[string](o, "apiVersion")
	kind, _, _ := meta.Nested[string](o, "kind")
	group, version := meta.SplitAPIVersion(apiVersion)
	plural := strings.ToLower(kind) + "s"
	plural = strings.NewReplacer("proxys", "proxies", "gresss", "gresses").Replace(plural)
	return client.Type[*meta.Unstructured]{Group: group, Version: version, Kind: kind, Resource: plural}
}

func mustRead(w *world, file string) []byte {
	w.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		w.Fatal(err)
	}
	return b
}

func service(name, host string, addresses ...string) *core.Service {
	s := &core.Service{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{"external-dns.alpha.kubernetes.io/hostname": host}}}
	s.Spec.Type, s.Spec.Ports = "LoadBalancer", []core.ServicePort{{Port: 80}}
	s.Spec.ExternalIPs = addresses
	return s
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
