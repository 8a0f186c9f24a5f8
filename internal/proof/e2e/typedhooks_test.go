package e2e

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	typed "github.com/bowline-go/bowline/client/webhook"
)

// Gardens have two versions. The webhooks know a part of the second one, and the conversion knows both whole.
type (
	gardenV1 struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			Plant string `json:"plant,omitempty"`
		} `json:"spec"`
	}
	gardenV2 struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			Plants []string `json:"plants,omitempty"`
			Soil   string   `json:"soil,omitempty"`
		} `json:"spec"`
	}
	plantsOfGarden struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			Plants []string `json:"plants,omitempty"`
		} `json:"spec"`
	}
)

func gardens[T meta.Object](version string) client.Type[T] {
	return client.Type[T]{Group: "gardens.e2e.bowline.example", Version: version, Kind: "Garden", Resource: "gardens"}
}

// gardenHooks are the webhooks of gardens.
func gardenHooks() http.Handler {
	const soil = "gardens.e2e.bowline.example/soil"
	mux := http.NewServeMux()
	mux.Handle("/default", typed.Default(gardens[*plantsOfGarden]("v2"), func(_ context.Context, r *typed.Request[*plantsOfGarden]) error {
		if len(r.Object.Spec.Plants) == 0 {
			r.Object.Spec.Plants = []string{"grass"}
		}
		return nil
	}))
	mux.Handle("/validate", typed.Validate(gardens[*plantsOfGarden]("v2"), func(_ context.Context, r *typed.Request[*plantsOfGarden]) error {
		r.Audit("plants", "looked at")
		if r.Operation == typed.Delete {
			if slices.Contains(r.Old.Spec.Plants, "oak") {
				return errors.New("an oak is not cut down")
			}
			return nil
		}
		var errs []error
		for _, plant := range r.Object.Spec.Plants {
			switch plant {
			case "weed":
				errs = append(errs, typed.Invalid("spec.plants", "%s must not grow here", plant))
			case "thistle":
				r.Warnf("%s may hurt", plant)
			case "bug":
				panic("a bug")
			}
		}
		return errors.Join(errs...)
	}))
	mux.Handle("/convert", typed.Convert(typed.Between(gardens[*gardenV1]("v1"), gardens[*gardenV2]("v2"), func(_ context.Context, from *gardenV1, to *gardenV2) error {
		if from.Spec.Plant != "" {
			to.Spec.Plants = []string{from.Spec.Plant}
		}
		to.Spec.Soil = from.Annotations[soil]
		delete(to.Annotations, soil)
		return nil
	}, func(_ context.Context, from *gardenV2, to *gardenV1) error {
		switch len(from.Spec.Plants) {
		case 0:
		case 1:
			to.Spec.Plant = from.Spec.Plants[0]
		default:
			return errors.New("version v1 has room for one plant")
		}
		if from.Spec.Soil != "" {
			if to.Annotations == nil {
				to.Annotations = map[string]string{}
			}
			to.Annotations[soil] = from.Spec.Soil
		}
		return nil
	})))
	return mux
}

const gardenObjects = `POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions
{"metadata":{"name":"gardens.{group}"},"spec":{"group":"{group}","names":{"kind":"Garden","plural":"gardens"},"scope":"Namespaced",
"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"{url}/convert","caBundle":"{ca}"}}},
"versions":[{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
"plants":{"type":"array","items":{"type":"string"}},"soil":{"type":"string"}}}}}}},
{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"plant":{"type":"string"}}}}}}}]}}

POST /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations
{"metadata":{"name":"gardens"},"webhooks":[{"name":"default.{group}","clientConfig":{"url":"{url}/default","caBundle":"{ca}"},"sideEffects":"None","timeoutSeconds":5,
"admissionReviewVersions":["v1"],"rules":[{"operations":["CREATE","UPDATE"],"apiGroups":["{group}"],"apiVersions":["v2"],"resources":["gardens"]}]}]}

POST /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations
{"metadata":{"name":"gardens"},"webhooks":[{"name":"validate.{group}","clientConfig":{"url":"{url}/validate","caBundle":"{ca}"},"sideEffects":"None","timeoutSeconds":5,
"admissionReviewVersions":["v1"],"rules":[{"operations":["CREATE","UPDATE","DELETE"],"apiGroups":["{group}"],"apiVersions":["v2"],"resources":["gardens"]}]}]}`

// gardenSteps are the requests whose answers both servers must give.
const gardenSteps = `POST {path}/v2/namespaces/{ns}/gardens
{"metadata":{"name":"a"},"spec":{"soil":"clay"}}

GET {path}/v1/namespaces/{ns}/gardens/a

POST {path}/v1/namespaces/{ns}/gardens
{"metadata":{"name":"b","annotations":{"gardens.e2e.bowline.example/soil":"sand","kept":"yes"}},"spec":{"plant":"oak"}}

GET {path}/v2/namespaces/{ns}/gardens/b

PATCH {path}/v2/namespaces/{ns}/gardens/a merge-patch+json
{"spec":{"plants":["rose","weed","weed"]}}

PATCH {path}/v2/namespaces/{ns}/gardens/a merge-patch+json
{"spec":{"plants":["thistle"]}}

GET {path}/v1/namespaces/{ns}/gardens/a

POST {path}/v2/namespaces/{ns}/gardens
{"metadata":{"name":"c"},"spec":{"plants":["bug"]}}

DELETE {path}/v2/namespaces/{ns}/gardens/b

DELETE {path}/v2/namespaces/{ns}/gardens/a

GET {path}/v2/namespaces/{ns}/gardens`

// The webhooks of package client/webhook do the same behind clienttest and behind a kube-apiserver.
func TestTypedWebhooksOfBothServers(t *testing.T) {
	t.Parallel()
	_, ns := admin(t) // for its name, which both servers use
	ns = "gardens-" + ns
	want := playGardens(t, open(t, adminConfig()), ns)
	got := playGardens(t, open(t, clienttest.Start(t, clienttest.Options{}).Config()), ns)
	for i, step := range want {
		if got[i] != step {
			t.Errorf("kube-apiserver and clienttest differ in\n%s", differences(step, got[i]))
		}
	}
	all := strings.Join(want, "\n")
	for _, text := range []string{
		`admission webhook \"validate.gardens.e2e.bowline.example\" denied the request: Garden.gardens.e2e.bowline.example \"a\" is invalid: spec.plants: weed must not grow here, spec.plants: weed must not grow here`,
		"an oak is not cut down", "thistle may hurt", "failed calling webhook", `"soil": "sand"`,
		`"gardens.e2e.bowline.example/soil": "clay"`, `"plant": "grass"`, `"kept": "yes"`,
	} {
		if !strings.Contains(all, text) {
			t.Errorf("no answer has %q:\n%s", text, all)
		}
	}
}

func playGardens(t *testing.T, c *client.Client, ns string) (shown []string) {
	t.Helper()
	server := httptest.NewTLSServer(gardenHooks())
	t.Cleanup(server.Close)
	ca, _ := json.Marshal(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	group := gardens[*gardenV1]("v1").Group
	names := strings.NewReplacer("{ns}", ns, "{group}", group, "{path}", "/apis/"+group, "{url}", server.URL, "{ca}", strings.Trim(string(ca), `"`))
	send := func(step string) string {
		if after, found := strings.CutPrefix(step, "POST {path}/"); found { // whose objects say their kind
			step = strings.Replace(step, "\n{", "\n"+`{"apiVersion":"{group}/`+after[:2]+`","kind":"Garden",`, 1)
		}
		return sendStep(t, c, names.Replace(step))
	}
	send("POST /api/v1/namespaces\n" + `{"metadata":{"name":"{ns}"}}`)
	for _, step := range strings.Split(gardenObjects, "\n\n") {
		if answer := send(step); !strings.HasPrefix(answer, "201") {
			t.Fatal(answer)
		}
	}
	for _, version := range []string{"v1", "v2"} {
		eventually(t, func() error { // the webhooks are asked once the server has seen their configurations
			answer := send("POST {path}/" + version + "/namespaces/{ns}/gardens?dryRun=All\n" + `{"metadata":{"name":"ready"},"spec":{}}`)
			if !strings.HasPrefix(answer, "201") || !strings.Contains(answer, "grass") {
				return errors.New(answer)
			}
			return nil
		})
	}
	eventually(t, func() error {
		if answer := send("POST {path}/v2/namespaces/{ns}/gardens?dryRun=All\n" + `{"metadata":{"name":"ready"},"spec":{"plants":["weed"]}}`); !strings.HasPrefix(answer, "422") {
			return errors.New(answer)
		}
		return nil
	})
	for _, step := range strings.Split(gardenSteps, "\n\n") {
		if !strings.Contains(step, "\n") {
			step += "\n"
		}
		shown = append(shown, "> "+step+"\n"+hideChance(send(step), ns, server.URL))
	}
	for _, what := range []string{
		"admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/gardens", "admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gardens",
		"apiextensions.k8s.io/v1/customresourcedefinitions/gardens." + group,
	} {
		if answer := send("DELETE /apis/" + what + "\n"); !strings.HasPrefix(answer, "200") {
			t.Error(answer)
		}
	}
	return shown
}
