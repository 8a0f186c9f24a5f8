package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/typegen/internal/schema"
	"github.com/bowline-go/bowline/client/typegen/internal/source"
	"github.com/bowline-go/bowline/client/typegen/testdata/backups"
	"github.com/bowline-go/bowline/client/typegen/testdata/certificates"
	"github.com/bowline-go/bowline/client/typegen/testdata/compositions"
	"github.com/bowline-go/bowline/client/typegen/testdata/databases"
	"github.com/bowline-go/bowline/client/typegen/testdata/flows"
	"github.com/bowline-go/bowline/client/typegen/testdata/functions"
	"github.com/bowline-go/bowline/client/typegen/testdata/gateways"
	"github.com/bowline-go/bowline/client/typegen/testdata/hostile"
	"github.com/bowline-go/bowline/client/typegen/testdata/lost"
	"github.com/bowline-go/bowline/client/typegen/testdata/machines"
	"github.com/bowline-go/bowline/client/typegen/testdata/monitors"
	"github.com/bowline-go/bowline/client/typegen/testdata/policies"
	"github.com/bowline-go/bowline/client/typegen/testdata/scalers"
	"github.com/bowline-go/bowline/client/typegen/testdata/traffic"
	wordtypes "github.com/bowline-go/bowline/client/typegen/testdata/words"
	"github.com/bowline-go/bowline/internal/codec"
)

// typed is a kind whose type was written.
type typed struct {
	kind  meta.GVK
	scope meta.Scope
	// trip decodes an object into the type, as a client does, and encodes it. plain does so with encoding/json.
	trip, plain func(object []byte) ([]byte, error)
	usable      func(ctx context.Context, c *client.Client) error
}

func of[T meta.Object](d client.Type[T]) typed {
	// A handle of each type would take the compiler a minute; trip shows that a client can decode it.
	untyped := client.Type[*meta.Unstructured]{
		Group: d.Group, Version: d.Version, Kind: d.Kind, ListKind: d.ListKind, Resource: d.Resource, Scope: d.Scope,
	}
	return typed{
		kind: d.GVK(), scope: d.Scope,
		trip: func(object []byte) ([]byte, error) {
			obj, err := codec.Unmarshal[T](object)
			if err != nil {
				return nil, err
			}
			return codec.Marshal(meta.Clone(obj), d.GVK().APIVersion(), d.Kind)
		},
		plain: func(object []byte) ([]byte, error) {
			var obj T
			if err := json.Unmarshal(object, &obj); err != nil {
				return nil, err
			}
			return json.Marshal(obj)
		},
		usable: func(ctx context.Context, c *client.Client) error {
			_, err := client.For(c, untyped).List(ctx, client.ListOptions{})
			return err
		},
	}
}

// definedTypes are the written types by the folder in testdata.
var definedTypes = map[string][]typed{
	"backups":      {of(backups.Backups)},
	"certificates": {of(certificates.Certs)},
	"compositions": {of(compositions.Compositions)},
	"databases":    {of(databases.Databases)},
	"flows":        {of(flows.Flows)},
	"functions":    {of(functions.Functions), of(functions.Sinks)},
	"gateways":     {of(gateways.GatewaysV1), of(gateways.GatewaysV1beta1), of(gateways.GatewayClasses)},
	"hostile":      {of(hostile.EvilsX)},
	"lost":         {of(lost.Losts)},
	"machines":     {of(machines.MachinesV1beta1), of(machines.MachinesV1beta2)},
	"monitors":     {of(monitors.Monitors)},
	"policies":     {of(policies.Policies)},
	"scalers":      {of(scalers.Scalers)},
	"traffic":      {of(traffic.Traffics)},
	"words":        {of(wordtypes.WordsV1), of(wordtypes.WordsV2)},
}

// canonical returns JSON with sorted members and without white space.
func canonical(t *testing.T, text []byte) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return must(json.Marshal(v))(t)
}

// objects is how many objects of a kind a test makes.
const objects = 100

func roundTrips(t *testing.T, kinds []schema.Kind, types []typed, hints func(component, property string) source.Hint) {
	t.Helper()
	for _, typ := range types {
		found := false
		for _, k := range kinds {
			if k.GVK != typ.kind {
				continue
			}
			found = true
			if k.Scope != typ.scope {
				t.Errorf("%v has the scope %v, want %v", k.GVK, typ.scope, k.Scope)
			}
			for seed := range uint64(objects) {
				roundTrip(t, typ, &random{Rand: rand.New(rand.NewPCG(seed, 0)), kind: k, hints: hints}, seed)
				if t.Failed() {
					return
				}
			}
		}
		if !found {
			t.Errorf("the schemas lack %v", typ.kind)
		}
	}
}

func roundTrip(t *testing.T, typ typed, r *random, seed uint64) {
	t.Helper()
	object := must(json.Marshal(r.object()))(t)
	for how, trip := range map[string]func([]byte) ([]byte, error){"a client": typ.trip, "encoding/json": typ.plain} {
		got, err := trip(object)
		if err != nil {
			t.Errorf("%v, seed %d: %s cannot decode or encode %s: %v", typ.kind, seed, how, object, err)
		} else if got, want := canonical(t, got), canonical(t, object); !bytes.Equal(got, want) {
			t.Errorf("%v, seed %d: %s makes\n%s\nof\n%s", typ.kind, seed, how, got, want)
		}
	}
}

func TestObjectsOfDefinitionsKeepTheirBytes(t *testing.T) {
	for _, name := range definitions(t) {
		t.Run(name, func(t *testing.T) {
			file := "testdata/" + name + "/" + name + ".yaml"
			kinds := must(schema.Read(file, must(os.ReadFile(file))(t)))(t)
			if len(definedTypes[name]) == 0 {
				t.Fatal("no type is known")
			}
			roundTrips(t, kinds, definedTypes[name], func(string, string) source.Hint { return source.Hint{} })
		})
	}
}

// A server with the definitions serves each type under the written names.
func TestAServerWithTheDefinitionsServesTheTypes(t *testing.T) {
	served := maps.Clone(builtinTypes)
	delete(served, "authentication") // reviews cannot be listed
	delete(served, "authorization")
	served["core"] = slices.DeleteFunc(slices.Clone(served["core"]), func(typ typed) bool { return typ.kind.Kind == "Binding" })
	var manifests []string
	for _, name := range definitions(t) {
		if name == "hostile" || name == "policies" { // the names of the one are no names, and the other is a List
			continue
		}
		manifests = append(manifests, "testdata/"+name+"/"+name+".yaml")
		served[name] = definedTypes[name]
	}
	c := newClient(t, clienttest.Options{CRDs: manifests, Lenient: true})
	for _, types := range served {
		for _, typ := range types {
			if err := typ.usable(t.Context(), c); err != nil {
				t.Errorf("%v: %v", typ.kind, err)
			}
		}
	}
}
