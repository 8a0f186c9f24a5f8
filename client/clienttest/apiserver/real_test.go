package apiserver

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/kubeconfig"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/controlplane/build"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// chosen returns the options of the server that the flag -apiserver names, or of the one that the test binary plays.
func chosen(t *testing.T) (o Options, release string) {
	if minor := flag.Lookup("apiserver").Value.String(); minor != "" {
		return Options{Minor: minor}, "v" + build.Release(minor)
	}
	return Options{bin: programs(t)}, "v1.37.1" // that of clienttest
}

// With the flag -apiserver this test needs the real controllers. Without it, a server of clienttest does the same at once.
func TestAWholeControlPlaneOnEitherServer(t *testing.T) {
	o, release := chosen(t)
	o.ControllerManager = true
	s := Start(t, o)
	config, err := kubeconfig.Load(kubeconfig.Options{Path: s.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, config.Config)
	if version, err := discovery.New(c, discovery.Options{}).Version(t.Context()); err != nil || version.GitVersion != release {
		t.Errorf("the version is %+v, %v, want %s", version, err, release)
	}
	t.Run("a namespace goes with its contents", func(t *testing.T) {
		ns := meta.Key{Name: "crowded"}
		namespaces, maps := client.For(c, conformance.Namespaces), client.For(c, conformance.ConfigMaps)
		if _, err := namespaces.Create(t.Context(), &conformance.Namespace{ObjectMeta: meta.ObjectMeta{Name: ns.Name}}); err != nil {
			t.Fatal(err)
		}
		guest := &conformance.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: ns.Name, Name: "guest"}}
		if _, err := maps.Create(t.Context(), guest); err != nil {
			t.Fatal(err)
		}
		if err := namespaces.Delete(t.Context(), ns, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.WaitFor(t.Context(), namespaces, ns, client.UntilDeleted("")); err != nil {
			t.Fatal(err)
		}
		if _, err := maps.Get(t.Context(), guest.Key()); !errors.Is(err, apierrors.NotFound) {
			t.Errorf("the ConfigMap of the deleted namespace: %v, want that it is gone", err)
		}
	})
	t.Run("a webhook is called at its url", func(t *testing.T) { testWebhook(t, c) })
}

// testWebhook refuses the ConfigMaps of the namespace default, by a webhook on a loopback address.
func testWebhook(t *testing.T, c *client.Client) {
	hook := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct {
				UID string `json:"uid"`
			} `json:"request"`
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
			"response": map[string]any{"uid": review.Request.UID, "allowed": false, "status": map[string]any{"message": "not on my watch"}},
		})
	}))
	hook.Config.ErrorLog = log.New(io.Discard, "", 0)
	hook.StartTLS()
	defer hook.Close()
	hooks := client.For(c, client.Type[*meta.Unstructured]{
		Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration",
		Resource: "validatingwebhookconfigurations", Scope: meta.Cluster,
	})
	_, err := hooks.Create(t.Context(), &meta.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
		"metadata": map[string]any{"name": "watch"},
		"webhooks": []any{map[string]any{
			"name": "watch.example.com", "sideEffects": "None", "admissionReviewVersions": []any{"v1"},
			"clientConfig": map[string]any{"url": hook.URL, "caBundle": certificatePEM(hook)},
			"rules": []any{map[string]any{
				"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"configmaps"}, "operations": []any{"CREATE"},
			}},
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": "default"}},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	maps := client.For(c, conformance.ConfigMaps).With(client.WriteOptions{DryRun: true})
	for { // a real server learns of its webhooks a moment later
		_, err = maps.Create(t.Context(), &conformance.ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}})
		if err != nil || t.Context().Err() != nil {
			break
		}
	}
	const want = `admission webhook "watch.example.com" denied the request: not on my watch`
	var refused *apierrors.StatusError
	if !errors.As(err, &refused) || refused.Status.Message != want {
		t.Errorf("the create returned %v, want %s", err, want)
	}
}

func certificatePEM(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}
