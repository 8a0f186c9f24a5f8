package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
	backups "github.com/bowline-go/bowline/client/typegen/testdata/backups/defined"
	certificates "github.com/bowline-go/bowline/client/typegen/testdata/certificates/defined"
	compositions "github.com/bowline-go/bowline/client/typegen/testdata/compositions/defined"
	databases "github.com/bowline-go/bowline/client/typegen/testdata/databases/defined"
	flows "github.com/bowline-go/bowline/client/typegen/testdata/flows/defined"
	functions "github.com/bowline-go/bowline/client/typegen/testdata/functions/defined"
	gateways "github.com/bowline-go/bowline/client/typegen/testdata/gateways/defined"
	losts "github.com/bowline-go/bowline/client/typegen/testdata/lost/defined"
	machines "github.com/bowline-go/bowline/client/typegen/testdata/machines/defined"
	monitors "github.com/bowline-go/bowline/client/typegen/testdata/monitors/defined"
	policies "github.com/bowline-go/bowline/client/typegen/testdata/policies/defined"
	scalers "github.com/bowline-go/bowline/client/typegen/testdata/scalers/defined"
	traffic "github.com/bowline-go/bowline/client/typegen/testdata/traffic/defined"
	words "github.com/bowline-go/bowline/client/typegen/testdata/words/defined"
	zoo "github.com/bowline-go/bowline/client/typegen/testdata/zoo/defined"
	apierrors "github.com/bowline-go/bowline/errors"
)

// writtenGroup is the end of the groups in this file.
const writtenGroup = ".written.e2e.bowline.example"

// written is a kind whose types and tags typegen wrote, in a group of this file.
type written struct {
	definition *crd.Definition
	version    string
	schema     *crd.Schema
	// trip writes an object in two ways, and compares what the server has of both. It returns why the server does not
	// take the object at all.
	trip func(t *testing.T, c *client.Client, object []byte) error
}

// here returns a definition in a group of this file, without a webhook.
func here(d *crd.Definition) *crd.Definition {
	group := strings.Split(d.Spec.Group, ".")[0] + writtenGroup
	d.Name, d.Spec.Group, d.Spec.Conversion = d.Spec.Names.Plural+"."+group, group, nil
	return d
}

// writtenAs returns a version of a definition with its type.
func writtenAs[T meta.Object](d *crd.Definition, typ client.Type[T]) written {
	typ.Group = d.Spec.Group
	w := written{definition: d, version: typ.Version}
	for _, v := range d.Spec.Versions {
		if v.Name == typ.Version {
			w.schema = v.Schema.OpenAPIV3Schema
		}
	}
	hasStatus := slices.ContainsFunc(d.Spec.Versions, func(v crd.Version) bool { return v.Name == typ.Version && v.Subresources.Status != nil })
	w.trip = func(t *testing.T, c *client.Client, object []byte) error { return trip(t, c, typ, object, hasStatus) }
	return w
}

// trip creates an object as it is and through the type, and compares what the server has of both.
func trip[T meta.Object](t *testing.T, c *client.Client, typ client.Type[T], object []byte, hasStatus bool) error {
	t.Helper()
	raw := client.For(c, client.Type[*meta.Raw]{
		Group: typ.Group, Version: typ.Version, Kind: typ.Kind, ListKind: typ.ListKind, Resource: typ.Resource, Scope: typ.Scope,
	})
	typed := client.For(c, typ)
	plain, err := raw.Create(t.Context(), parseAs[*meta.Raw](t, object))
	if errors.Is(err, apierrors.Invalid) {
		return err
	}
	key := meta.KeyOf(must(plain, err)(t))
	if hasStatus {
		must(raw.Status().Update(t.Context(), withStatus(t, plain, object)))(t)
	}
	same := func(what string) []byte {
		t.Helper()
		is := canonicalObject(t, must(json.Marshal(must(raw.Get(t.Context(), key))(t)))(t))
		got := canonicalObject(t, must(json.Marshal(must(typed.Get(t.Context(), key))(t)))(t))
		if !bytes.Equal(is, got) {
			t.Fatalf("%s: the type makes\n%s\nof\n%s", what, got, is)
		}
		return is
	}
	before := same("an object that was written as it is")

	// The second object has the content of the first, written by the type.
	second := parseAs[map[string]any](t, object)
	name := key.Name + "-2"
	second["metadata"].(map[string]any)["name"] = name
	text := must(json.Marshal(second))(t)
	must(typed.Create(t.Context(), parseAs[T](t, text)))(t)
	key.Name = name
	if hasStatus {
		full := must(json.Marshal(withStatus(t, must(raw.Get(t.Context(), key))(t), text)))(t)
		must(typed.Status().Update(t.Context(), parseAs[T](t, full)))(t)
	}
	after := same("an object that the type wrote")
	if a, b := content(t, before), content(t, after); a != b {
		t.Fatalf("written by the type, an object is\n%s\nand written as it is\n%s", b, a)
	}
	return nil
}

// withStatus returns an object of the server with the status of a text.
func withStatus(t *testing.T, object *meta.Raw, text []byte) *meta.Raw {
	t.Helper()
	all := parseAs[map[string]any](t, must(json.Marshal(object))(t))
	if status, has := parseAs[map[string]any](t, text)["status"]; has {
		all["status"] = status
	}
	return parseAs[*meta.Raw](t, must(json.Marshal(all))(t))
}

func parseAs[V any](t *testing.T, text []byte) (v V) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// canonicalObject returns an object with sorted members, without the fields of managers, and without a status that is
// empty, since no type writes one.
func canonicalObject(t *testing.T, object []byte) []byte {
	t.Helper()
	all := parseAs[map[string]any](t, object)
	delete(all["metadata"].(map[string]any), "managedFields")
	if onlyZeros(all["status"]) {
		delete(all, "status")
	}
	return must(json.Marshal(all))(t)
}

// content returns what is not metadata of an object.
func content(t *testing.T, object []byte) string {
	t.Helper()
	all := parseAs[map[string]any](t, object)
	delete(all, "metadata")
	return string(must(json.Marshal(all))(t))
}

func writtenKinds() []written {
	machine, gateway, word := here(machines.MachinesDefinition()), here(gateways.GatewaysDefinition()), here(words.WordsDefinition())
	return []written{
		writtenAs(here(backups.BackupsDefinition()), backups.Backups),
		writtenAs(here(certificates.CertsDefinition()), certificates.Certs),
		writtenAs(here(compositions.CompositionsDefinition()), compositions.Compositions),
		writtenAs(here(databases.DatabasesDefinition()), databases.DatabasesV1),
		writtenAs(here(flows.FlowsDefinition()), flows.Flows),
		writtenAs(here(functions.FunctionsDefinition()), functions.Functions),
		writtenAs(here(functions.SinksDefinition()), functions.Sinks),
		writtenAs(gateway, gateways.GatewaysV1),
		writtenAs(gateway, gateways.GatewaysV1beta1),
		writtenAs(here(gateways.GatewayClassesDefinition()), gateways.GatewayClasses),
		writtenAs(here(losts.LostsDefinition()), losts.Losts),
		writtenAs(machine, machines.MachinesV1beta1),
		writtenAs(machine, machines.MachinesV1beta2),
		writtenAs(here(monitors.MonitorsDefinition()), monitors.Monitors),
		writtenAs(here(policies.PoliciesDefinition()), policies.Policies),
		writtenAs(here(scalers.ScalersDefinition()), scalers.Scalers),
		writtenAs(here(traffic.TrafficsDefinition()), traffic.Traffics),
		writtenAs(word, words.WordsV1),
		writtenAs(word, words.WordsV2),
		writtenAs(here(zoo.ZoosDefinition()), zoo.Zoos),
	}
}

// A real server takes the definitions of the types that typegen writes, and its objects keep their bytes in them.
func TestObjectsOfWrittenTypesKeepTheirBytesOnARealServer(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	kinds := writtenKinds()
	var definitions []*crd.Definition
	for _, w := range kinds {
		if !slices.Contains(definitions, w.definition) {
			definitions = append(definitions, w.definition)
		}
	}
	for range 2 {
		if err := crd.Install(t.Context(), c, definitions...); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range definitions {
		is := must(client.For(c, crd.Definitions()).Get(t.Context(), meta.Key{Name: d.Name}))(t)
		if !meta.IsConditionTrue(is.Status.Conditions, "Established") || meta.IsConditionTrue(is.Status.Conditions, "NonStructuralSchema") {
			t.Errorf("%s has the conditions %+v", d.Name, is.Status.Conditions)
		}
	}
	for i, w := range kinds {
		t.Run(w.definition.Spec.Names.Kind+"/"+w.version, func(t *testing.T) {
			t.Parallel()
			const objects = 10
			taken := 0
			for seed := range uint64(objects) {
				r := sampler{rand.New(rand.NewPCG(seed, uint64(i)))}
				object := r.object(w.schema)
				object["apiVersion"], object["kind"] = w.definition.Spec.Group+"/"+w.version, w.definition.Spec.Names.Kind
				metadata := map[string]any{"name": fmt.Sprintf("a-%s-%d", w.version, seed), "labels": map[string]any{"seed": fmt.Sprint(seed)}}
				if w.definition.Spec.Scope == "Namespaced" {
					metadata["namespace"] = ns
				}
				object["metadata"] = metadata
				switch err := w.trip(t, c, must(json.Marshal(object))(t)); {
				case err == nil:
					taken++
				case !strings.Contains(err.Error(), "min must not be above max") && !strings.Contains(err.Error(), "failed rule: self.max < 1000"):
					t.Error(err) // no rule, of which the objects do not know, but a schema
				}
			}
			if taken < objects/2 {
				t.Errorf("the server takes %d objects", taken)
			}
		})
	}
}
