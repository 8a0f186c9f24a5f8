package e2e

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
)

// A real kubectl against the server in the process: what a person tries first.
func TestKubectlWorksWithClienttest(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := clienttest.Start(t, clienttest.Options{Listener: listener})
	url := "http://" + listener.Addr().String()
	kubectl := func(args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out, err := plane.Kubectl(ctx, append([]string{"--server=" + url}, args...)...)
		if err != nil {
			t.Fatalf("kubectl %s: %v", strings.Join(args, " "), err)
		}
		return out
	}
	contains := func(out string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("kubectl printed %q, want %q in it", out, w)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "b.yaml")
	manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n  labels: {app: web}\ndata: {k: v}\n"
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}

	contains(kubectl("get", "--raw", "/version"), `"major"`) // "kubectl version" wants to have been built with a version itself
	contains(kubectl("api-resources"), "configmaps", "cm", "deployments", "leases")
	contains(kubectl("create", "configmap", "a", "--from-literal=k=v"), "configmap/a created")
	contains(kubectl("create", "--validate=false", "-f", file), "configmap/b created")
	contains(kubectl("get", "cm"), "NAME", "a", "b")
	contains(kubectl("get", "cm", "-l", "app=web", "-o", "name"), "configmap/b")
	contains(kubectl("get", "cm", "a", "-o", "yaml"), "k: v", "uid:", "resourceVersion:")
	contains(kubectl("patch", "cm", "a", "--type=merge", "-p", `{"data":{"n":"1"}}`), "configmap/a patched")
	contains(kubectl("get", "cm", "a", "-o", "jsonpath={.data.n}"), "1")
	contains(kubectl("patch", "cm", "a", "--type=json", "-p", `[{"op":"move","from":"/data/n","path":"/data/j"}]`), "configmap/a patched")
	contains(kubectl("patch", "cm", "a", "-p", `{"data":{"j":null,"s":"2"}}`), "configmap/a patched")
	contains(kubectl("get", "cm", "a", "-o", "jsonpath={.data}"), `{"k":"v","s":"2"}`)
	applyDeployment(t, kubectl, contains)
	contains(kubectl("get", "namespaces"), "default")
	contains(kubectl("get", "all", "-A"), "")

	request := filepath.Join(t.TempDir(), "request.yaml")
	manifest = "apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: {name: jane}\n" +
		"spec: {request: " + certificateRequest() + ", signerName: example.com/signer, usages: [client auth]}\n"
	if err := os.WriteFile(request, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	contains(kubectl("create", "--validate=false", "-f", request), "jane created")
	contains(kubectl("certificate", "approve", "jane"), "jane approved")
	contains(kubectl("get", "csr", "jane", "-o", "jsonpath={.status.conditions[*].type} {.spec.username}"), "Approved admin")
	contains(kubectl("auth", "can-i", "--list"), "*.*", "[*]")
	contains(kubectl("auth", "can-i", "list", "pods"), "yes")
	contains(kubectl("auth", "whoami"), "system:masters")

	// A watch sees a change that is made while it is open; --output-watch-events says of what type it is.
	asked, watched := make(chan struct{}), make(chan string, 1)
	var once sync.Once
	server.Intercept(func(r *http.Request) http.HandlerFunc {
		if clienttest.RequestOf(r).Verb == "watch" {
			once.Do(func() { close(asked) })
		}
		return nil
	})
	go func() {
		out, _ := plane.Kubectl(t.Context(), "--server="+url, "get", "cm", "b", "--watch", "--output-watch-events", "--request-timeout=3s")
		watched <- out
	}()
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatal("kubectl opens no watch")
	}
	contains(kubectl("label", "cm", "b", "new=label"), "configmap/b labeled")
	contains(kubectl("delete", "cm", "b"), `configmap "b" deleted`)
	contains(<-watched, "ADDED", "MODIFIED", "DELETED")
	if out, err := plane.Kubectl(t.Context(), "--server="+url, "get", "cm", "b"); err == nil || !strings.Contains(err.Error(), "NotFound") {
		t.Errorf("kubectl get of a deleted object gives %q, %v; want NotFound", out, err)
	}
}

// applyDeployment is what kubectl apply and others do to a deployment with strategic merge patches, whose schema they read from the server.
func applyDeployment(t *testing.T, kubectl func(...string) string, contains func(string, ...string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "web.yaml")
	write := func(args string) string {
		manifest := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n" +
			"  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - {name: web, image: \"example.invalid/web:1\"" + args + "}\n"
		if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	contains(kubectl("apply", "-f", write("")), "deployment.apps/web created")
	contains(kubectl("apply", "-f", file), "deployment.apps/web unchanged")
	contains(kubectl("set", "image", "deployment/web", "web=example.invalid/web:2"), "image updated")
	contains(kubectl("set", "env", "deployment/web", "A=1"), "env updated")
	contains(kubectl("apply", "-f", write(", args: [a]")), "deployment.apps/web configured")
	contains(kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0]}"),
		`"args":["a"]`, `"name":"A"`, `"image":"example.invalid/web:1"`)
	contains(kubectl("apply", "--server-side", "-f", write(", args: [b]")), "deployment.apps/web serverside-applied")
	contains(kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].args} {.metadata.managedFields[*].operation}"),
		`["b"]`, "Apply")
	contains(kubectl("scale", "deployment/web", "--replicas=3"), "deployment.apps/web scaled")
	contains(kubectl("explain", "deployment.spec.strategy"), "rollingUpdate", "RollingUpdateDeployment")
}
