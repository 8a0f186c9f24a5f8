package e2e

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	typed "github.com/bowline-go/bowline/client/webhook"
	"github.com/bowline-go/bowline/client/webhook/certificates"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/patch"
)

// Beds have two versions, and webhooks for all that there is.
type (
	bedV1 struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			Plant string `json:"plant,omitempty"`
		} `json:"spec"`
	}
	bedV2 struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			Plants []string `json:"plants,omitempty"`
		} `json:"spec"`
	}
)

const bedGroup = "beds.e2e.bowline.example"

func beds[T meta.Object](version string) client.Type[T] {
	return client.Type[T]{Group: bedGroup, Version: version, Kind: "Bed", Resource: "beds"}
}

// bedHooks are the webhooks of beds.
func bedHooks() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/default", typed.Default(beds[*bedV2]("v2"), func(_ context.Context, r *typed.Request[*bedV2]) error {
		if len(r.Object.Spec.Plants) == 0 {
			r.Object.Spec.Plants = []string{"grass"}
		}
		return nil
	}))
	mux.Handle("/validate", typed.Validate(beds[*bedV2]("v2"), func(_ context.Context, r *typed.Request[*bedV2]) error {
		if r.Operation != typed.Delete && r.Object.Spec.Plants[0] == "weed" {
			return typed.Invalid("spec.plants", "weed must not grow here")
		}
		return nil
	}))
	mux.Handle("/convert", typed.Convert(typed.Between(beds[*bedV1]("v1"), beds[*bedV2]("v2"), func(_ context.Context, from *bedV1, to *bedV2) error {
		if from.Spec.Plant != "" {
			to.Spec.Plants = []string{from.Spec.Plant}
		}
		return nil
	}, func(_ context.Context, from *bedV2, to *bedV1) error {
		if len(from.Spec.Plants) > 0 {
			to.Spec.Plant = from.Spec.Plants[0]
		}
		return nil
	})))
	return mux
}

// bedObjects are the configurations, without a caBundle, and the role of the program.
const bedObjects = `POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions
{"metadata":{"name":"beds.{group}"},"spec":{"group":"{group}","names":{"kind":"Bed","plural":"beds"},"scope":"Namespaced",
"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"{url}/convert"}}},
"versions":[{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
"plants":{"type":"array","items":{"type":"string"}}}}}}}},
{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"plant":{"type":"string"}}}}}}}]}}

POST /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations
{"metadata":{"name":"beds"},"webhooks":[{"name":"default.{group}","clientConfig":{"url":"{url}/default"},"sideEffects":"None","timeoutSeconds":5,
"admissionReviewVersions":["v1"],"rules":[{"operations":["CREATE","UPDATE"],"apiGroups":["{group}"],"apiVersions":["v2"],"resources":["beds"]}]}]}

POST /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations
{"metadata":{"name":"beds"},"webhooks":[{"name":"validate.{group}","clientConfig":{"url":"{url}/validate"},"sideEffects":"None","timeoutSeconds":5,
"admissionReviewVersions":["v1"],"rules":[{"operations":["CREATE","UPDATE","DELETE"],"apiGroups":["{group}"],"apiVersions":["v2"],"resources":["beds"]}]}]}

POST /apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles
{"metadata":{"name":"beds"},"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["create"]},
{"apiGroups":[""],"resources":["secrets"],"resourceNames":["beds-certificate"],"verbs":["get","update"]}]}

POST /apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings
{"metadata":{"name":"beds"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"beds"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"beds"}]}

POST /apis/rbac.authorization.k8s.io/v1/clusterroles
{"metadata":{"name":"beds"},"rules":[{"apiGroups":["admissionregistration.k8s.io"],"resources":["validatingwebhookconfigurations","mutatingwebhookconfigurations"],
"resourceNames":["beds"],"verbs":["get","patch"]},
{"apiGroups":["apiextensions.k8s.io"],"resources":["customresourcedefinitions"],"resourceNames":["beds.{group}"],"verbs":["get","patch"]}]}

POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings
{"metadata":{"name":"beds"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"beds"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"beds"}]}`

// A program with webhooks makes its certificate, and both servers trust it, with the permissions in the documentation.
func TestCertificatesOfWebhooksAtBothServers(t *testing.T) {
	t.Parallel()
	t.Run("kube-apiserver", func(t *testing.T) {
		t.Parallel()
		c, ns := admin(t)
		playBeds(t, c, ns, userConfig(t, "beds"))
	})
	t.Run("clienttest", func(t *testing.T) {
		t.Parallel()
		server := clienttest.Start(t, clienttest.Options{RBAC: true})
		as := server.Config()
		as.Impersonate = &client.Subject{User: "beds"}
		playBeds(t, open(t, server.Config()), "default", as)
	})
}

// bedProgram runs the program until end is called.
func bedProgram(t *testing.T, cfg client.Config, ns, address string) (end func()) {
	t.Helper()
	listener := must(net.Listen("tcp", address))(t)
	server := &typed.Server{Handler: bedHooks(), Listener: listener, Certificates: certificates.New(open(t, cfg), certificates.Options{
		Secret: meta.Key{Namespace: ns, Name: "beds-certificate"}, Names: []string{"127.0.0.1"},
		Validating: []string{"beds"}, Mutating: []string{"beds"}, Definitions: []string{"beds." + bedGroup},
	})}
	group := &informer.Group{Services: []informer.Runner{server}}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- group.Run(ctx) }()
	eventually(t, group.Ready)
	return func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func playBeds(t *testing.T, c *client.Client, ns string, cfg client.Config) {
	t.Helper()
	place := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := place.Addr().String()
	_ = place.Close()
	names := strings.NewReplacer("{ns}", ns, "{group}", bedGroup, "{url}", "https://"+address)
	for _, step := range strings.Split(bedObjects, "\n\n") {
		path, _, _ := strings.Cut(strings.TrimPrefix(names.Replace(step), "POST "), "\n")
		if answer := sendStep(t, c, names.Replace(step)); !strings.HasPrefix(answer, "201") {
			t.Fatal(answer)
		}
		if !strings.Contains(path, "/namespaces/") {
			name := map[bool]string{true: "beds." + bedGroup, false: "beds"}[strings.HasSuffix(path, "definitions")]
			t.Cleanup(func() {
				resp, err := c.Raw(context.WithoutCancel(t.Context()), client.RawRequest{Method: http.MethodDelete, Path: path + "/" + name})
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
			})
		}
	}
	old, sites := client.For(c, beds[*bedV1]("v1")).In(ns), client.For(c, beds[*bedV2]("v2")).In(ns)
	calls := func(plant string) error { // all three webhooks
		made, err := old.Create(t.Context(), &bedV1{ObjectMeta: meta.ObjectMeta{GenerateName: "bed-", Namespace: ns}})
		if err == nil && made.Spec.Plant != "grass" {
			err = errors.New("the default is missing")
		}
		if err != nil {
			return err
		}
		if _, err := sites.Modify(t.Context(), made.Key(), func(b *bedV2) error { b.Spec.Plants = []string{plant}; return nil }); (err == nil) != (plant != "weed") {
			return errors.Join(errors.New("the validation is wrong"), err)
		}
		return nil
	}
	end := bedProgram(t, cfg, ns, address)
	eventually(t, func() error { return errors.Join(calls("rose"), calls("weed")) })
	end()
	end = bedProgram(t, cfg, ns, address) // with the keys in the Secret
	if err := calls("rose"); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	hooks := client.For(c, client.Type[*meta.Unstructured]{
		Group: "admissionregistration.k8s.io", Version: "v1", Kind: "ValidatingWebhookConfiguration", Resource: "validatingwebhookconfigurations", Scope: meta.Cluster,
	})
	if _, err := hooks.Patch(t.Context(), meta.Key{Name: "beds"}, patch.JSON(patch.Remove("/webhooks/0/clientConfig/caBundle"))); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	eventually(t, func() error { // the server sees the removal, and then the repair
		if err := calls("rose"); err != nil || time.Since(began) < 12*time.Second {
			return errors.Join(err, errors.New("wait for the next look"))
		}
		return nil
	})
	end()
}
