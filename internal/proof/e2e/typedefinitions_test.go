package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/e2e/cronjob"
	"github.com/bowline-go/bowline/internal/proof/e2e/sample"
)

// A real server takes the definitions that package crd makes of the types of examples and ports, and of every kind of
// field, and keeps them as they are. The groups are those of this test.
func TestARealServerKeepsTheDefinitionsOfTypes(t *testing.T) {
	t.Parallel()
	c := open(t, adminConfig())
	cronJobs, foos := cronjob.CronJobs, sample.Foos
	cronJobs.Group, foos.Group = "ports.types.e2e.bowline.example", "ports.types.e2e.bowline.example"
	definitions := []*crd.Definition{
		must(crd.Of(cronJobs, crd.Options{}))(t), must(crd.Of(foos, crd.Options{}))(t),
	}
	for _, file := range []string{"client/crd/testdata/zoo.yaml", "examples/operator/pages.yaml"} {
		text := must(os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(file))))(t)
		group := strings.Split(filepath.Base(file), ".")[0] + ".types.e2e.bowline.example"
		text = must(yaml.YAMLToJSON([]byte(strings.ReplaceAll(string(text), "example.com", group))))(t)
		d := new(crd.Definition)
		if err := json.Unmarshal(text, d); err != nil {
			t.Fatal(err)
		}
		definitions = append(definitions, d)
	}
	for range 2 {
		if err := crd.Install(t.Context(), c, definitions...); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range definitions {
		if plan, err := crd.PlanOf(t.Context(), c, d); err != nil || plan.New || len(plan.Changes) > 0 {
			t.Errorf("the server has another definition: %v, %v", plan, err)
		}
		is := must(client.For(c, crd.Definitions()).Get(t.Context(), meta.Key{Name: d.Name}))(t)
		if is.Generation != 1 || !meta.IsConditionTrue(is.Status.Conditions, "Established") || meta.IsConditionTrue(is.Status.Conditions, "NonStructuralSchema") {
			t.Errorf("%s has the generation %d and the conditions %+v", d.Name, is.Generation, is.Status.Conditions)
		}
	}
}
