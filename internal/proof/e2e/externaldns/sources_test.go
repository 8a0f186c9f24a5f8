package externaldns_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/builtin/core"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/proof/e2e/externaldns"
	"github.com/bowline-go/bowline/internal/proof/e2e/externaldns/contour"
)

// everySource has at least one object of each source.
const everySource = `
apiVersion: v1
kind: Service
metadata:
  name: web
  annotations: {external-dns.alpha.kubernetes.io/hostname: "web.example.com, www.example.com.", external-dns.alpha.kubernetes.io/internal-hostname: in.example.com}
spec: {type: LoadBalancer, clusterIP: 10.0.0.50, ports: [{port: 80}]}
status: {loadBalancer: {ingress: [{ip: 192.0.2.1}, {ip: "2001:db8::1"}]}}
---
apiVersion: v1
kind: Service
metadata: {name: theirs, annotations: {external-dns.alpha.kubernetes.io/hostname: no.example.com, external-dns.alpha.kubernetes.io/controller: other}}
spec: {type: ExternalName, externalName: other.example.org}
---
apiVersion: v1
kind: Service
metadata: {name: istio, annotations: {}}
spec: {type: LoadBalancer, selector: {istio: ingress, app: gw}, ports: [{port: 80}]}
status: {loadBalancer: {ingress: [{hostname: lb.example.net}]}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  rules: [{host: ing.example.com}]
  tls: [{hosts: [tls.example.com]}]
status: {loadBalancer: {ingress: [{hostname: elb.example.net}]}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw}
spec:
  gatewayClassName: a
  listeners: [{name: all, hostname: "*.gw.example.com", port: 80, protocol: HTTP}, {name: other, hostname: other.example.com, port: 81, protocol: HTTP}]
status: {addresses: [{value: 192.0.2.7}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec: {hostnames: [web.gw.example.com, web.example.org], parentRefs: [{name: gw, sectionName: all}]}
status:
  parents:
  - controllerName: example.com/a
    parentRef: {name: gw, sectionName: all}
    conditions: [{type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: refused}
spec: {hostnames: [no.gw.example.com], parentRefs: [{name: gw}]}
status:
  parents:
  - controllerName: example.com/a
    parentRef: {name: gw}
    conditions: [{type: Accepted, status: "False", reason: NotAllowed, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: GRPCRoute
metadata: {name: rpc}
spec: {parentRefs: [{name: gw}]}
status:
  parents:
  - controllerName: example.com/a
    parentRef: {name: gw}
    conditions: [{type: Accepted, status: "True", reason: Accepted, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
---
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: mesh-gw}
spec: {selector: {istio: ingress}, servers: [{hosts: [istio.example.com, "./*.mesh.example.com"]}]}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: shop}
spec: {hosts: [shop.mesh.example.com, elsewhere.example.com], gateways: [mesh, mesh-gw]}
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: root}
spec: {virtualhost: {fqdn: contour.example.com}}
status: {currentStatus: valid, loadBalancer: {ingress: [{ip: 192.0.2.9}]}}
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: wrong}
spec: {virtualhost: {fqdn: wrong.example.com}}
status: {currentStatus: invalid, loadBalancer: {ingress: [{ip: 192.0.2.9}]}}
---
apiVersion: traefik.io/v1alpha1
kind: IngressRoute
metadata: {name: web, annotations: {external-dns.alpha.kubernetes.io/target: 192.0.2.20}}
spec: {routes: [{match: "Host(§t1.example.com§, §t2.example.com§) && PathPrefix(§/host.example.com§)"}]}
---
apiVersion: route.openshift.io/v1
kind: Route
metadata: {name: web}
spec: {host: os.example.com}
status: {ingress: [{host: os.example.com, routerCanonicalHostname: router.example.net, conditions: [{type: Admitted, status: "True"}]}]}
---
apiVersion: externaldns.example.com/v1alpha1
kind: DNSEndpoint
metadata: {name: own}
spec:
  endpoints:
  - {dnsName: own.example.com, recordTTL: 60, targets: [192.0.2.30, 192.0.2.31]}
  - {dnsName: text.example.com, recordType: TXT, targets: [hello]}
  - {dnsName: empty.example.com, recordType: A}
`

// recordsOfEverySource are the records of everySource.
func recordsOfEverySource() []string {
	return []string{
		"web.example.com A 192.0.2.1", "web.example.com AAAA 2001:db8::1", "www.example.com A 192.0.2.1", "www.example.com AAAA 2001:db8::1",
		"in.example.com A 10.0.0.50", "ing.example.com CNAME elb.example.net", "tls.example.com CNAME elb.example.net",
		"web.gw.example.com A 192.0.2.7", "*.gw.example.com A 192.0.2.7", "other.example.com A 192.0.2.7",
		"istio.example.com CNAME lb.example.net", "*.mesh.example.com CNAME lb.example.net", "shop.mesh.example.com CNAME lb.example.net",
		"contour.example.com A 192.0.2.9", "t1.example.com A 192.0.2.20", "t2.example.com A 192.0.2.20", "os.example.com CNAME router.example.net",
		"own.example.com A 192.0.2.30,192.0.2.31", "text.example.com TXT hello",
	}
}

func everything() string { return strings.ReplaceAll(everySource, "§", "`") }

func TestEachSourceHasItsRecordsOnEitherServer(t *testing.T) {
	onEither(t, []string{"definitions"}, func(w *world) {
		w.run(externaldns.Options{Owner: "a", Policy: externaldns.Sync})
		w.put(everything())
		w.records(recordsOfEverySource()...)
		ends := client.For(w.admin, externaldns.DNSEndpoints)
		key := meta.Key{Namespace: "default", Name: "own"}
		for range 2 {
			w.until("the status says what the plan has", func() error {
				if d := must(ends.Get(w.Context(), key))(w); d.Status.ObservedGeneration == nil || *d.Status.ObservedGeneration != d.Generation {
					return fmt.Errorf("it is %v at generation %d", d.Status.ObservedGeneration, d.Generation)
				}
				return nil
			})
			must(ends.Modify(w.Context(), key, func(d *externaldns.DNSEndpoint) error { d.Spec.Endpoints = d.Spec.Endpoints[:1]; return nil }))(w)
		}
		w.records(recordsOfEverySource()[:len(recordsOfEverySource())-1]...)
		if err := w.group.Ready(); err != nil {
			w.Error(err)
		}
	})
}

// The definitions of Contour are installed while the controller runs. Everything else works before, and readiness does not
// wait for it.
func TestASourceBeginsWhenItsDefinitionIsInstalledOnEitherServer(t *testing.T) {
	onEither(t, nil, func(w *world) {
		w.run(externaldns.Options{Owner: "a", Policy: externaldns.Sync})
		services := client.For(w.admin, core.Services())
		must(services.Create(w.Context(), service("a", "a.example.com", "192.0.2.1")))(w)
		w.records("a.example.com A 192.0.2.1")
		if err := w.group.Ready(); err != nil {
			w.Error(err)
		}
		w.define("definitions/contour.yaml")
		w.put(`{apiVersion: projectcontour.io/v1, kind: HTTPProxy, metadata: {name: root}, spec: {virtualhost: {fqdn: contour.example.com}},
			status: {currentStatus: valid, loadBalancer: {ingress: [{ip: 192.0.2.9}]}}}`)
		w.records("a.example.com A 192.0.2.1", "contour.example.com A 192.0.2.9")
		if err := services.Delete(w.Context(), meta.Key{Namespace: "default", Name: "a"}, client.DeleteOptions{}); err != nil {
			w.Fatal(err)
		}
		w.records("contour.example.com A 192.0.2.9")

		// Without the definition, the record stays also after a restart: nobody knows whether it is wanted.
		w.end()
		definitions := client.For(w.admin, client.Type[*meta.Unstructured]{
			Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions", Scope: meta.Cluster,
		})
		if err := definitions.Delete(w.Context(), meta.Key{Name: "httpproxies.projectcontour.io"}, client.DeleteOptions{}); err != nil {
			w.Fatal(err)
		}
		w.until("the server has forgotten the definition", func() error { // it deletes the objects first
			_, err := client.For(w.admin, contour.HTTPProxies).List(w.Context(), client.ListOptions{})
			if !errors.Is(err, apierrors.NotFound) {
				return fmt.Errorf("a list returns %v", err)
			}
			return nil
		})
		w.run(externaldns.Options{Owner: "a", Policy: externaldns.Sync})
		must(services.Create(w.Context(), service("b", "b.example.com", "192.0.2.2")))(w)
		w.records("b.example.com A 192.0.2.2", "contour.example.com A 192.0.2.9")
	})
}

// role.yaml is what the controller asks for, and what it says that it asks for.
func TestTheRoleIsWhatTheControllerAsksFor(t *testing.T) {
	onFake(t, clienttest.Options{CRDs: []string{"definitions"}}, func(w *world) {
		w.run(externaldns.Options{Owner: "a"})
		w.put(everything())
		w.records(recordsOfEverySource()...)
		time.Sleep(time.Hour)
		options := clienttest.RoleOptions{User: account}
		role := w.server.Role("external-dns", options)
		if says, err := clienttest.RoleOf("external-dns", w.group.Permissions(), options); err != nil || string(says) != string(role) {
			t.Errorf("the controller asks for\n%s\nand says (%v) that it asks for\n%s", role, err, says)
		}
		if *update {
			if err := os.WriteFile("role.yaml", role, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := mustRead(w, "role.yaml"); string(want) != string(role) {
			t.Errorf("role.yaml is not what the controller asks for; go test -run Role . -update writes this:\n%s", role)
		}
	})
}

// The types are what typegen writes from the definitions: go generate ./...
func TestTheTypesAreThoseOfTheDefinitions(t *testing.T) {
	line := regexp.MustCompile(`(?m)^//go:generate go run github\.com/bowline-go/bowline/client/typegen (.+)$`)
	typegen := filepath.Join(t.TempDir(), "typegen")
	if out, err := exec.Command("go", "build", "-o", typegen, "github.com/bowline-go/bowline/client/typegen").CombinedOutput(); err != nil {
		t.Fatalf("build typegen: %v\n%s", err, out)
	}
	files, err := filepath.Glob("*/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, file := range append(files, "doc.go") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range line.FindAllStringSubmatch(string(text), -1) {
			cmd := exec.Command(typegen, append([]string{"-check"}, strings.Fields(m[1])...)...)
			cmd.Dir = filepath.Dir(file)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", file, m[1], err, out)
			}
			made++
		}
	}
	if made != 9 {
		t.Errorf("%d files are made by typegen, want 9", made)
	}
}
