package patch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
	"github.com/bowline-go/bowline/patch"
)

var mine = patch.FieldManager{Name: "mine"}

// migrated returns the object that a migration's patch makes of one.
func migrated(t *testing.T, obj json.RawMessage, p patch.Patch) json.RawMessage {
	t.Helper()
	got, err := patch.ApplyJSON(obj, []byte(body(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// shares returns who owns how many fields, as "manager operation subresource version": fields.
func shares(t *testing.T, obj json.RawMessage) map[string]string {
	t.Helper()
	var o struct {
		Metadata struct{ ManagedFields []meta.ManagedFields }
	}
	if err := json.Unmarshal(obj, &o); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, e := range o.Metadata.ManagedFields {
		s, err := fieldset.Parse(e.FieldsV1)
		if err != nil || e.FieldsType != "FieldsV1" {
			t.Fatalf("%v of a %s", err, e.FieldsType)
		}
		all[strings.Join(strings.Fields(e.Manager+" "+e.Operation+" "+e.Subresource+" "+e.APIVersion), " ")] = string(s.Append(nil))
	}
	return all
}

func owner(manager, operation, subresource, version, fields string) string {
	b, _ := json.Marshal(meta.ManagedFields{
		Manager: manager, Operation: operation, APIVersion: version, FieldsType: "FieldsV1", FieldsV1: raw(fields), Subresource: subresource,
	})
	return string(b)
}

func owners(entries ...string) json.RawMessage {
	return raw(`{"apiVersion":"v1","metadata":{"resourceVersion":"7","managedFields":[` + strings.Join(entries, ",") + `]}}`)
}

// behaviour 326
func TestTheFieldsOfUpdatesBecomeThoseOfAnApplier(t *testing.T) {
	for _, test := range []struct {
		name string
		obj  json.RawMessage
		from []string
		want map[string]string
	}{
		{
			"one manager, who is renamed", owners(owner("csa", "Update", "", "v1", `{"f:a":{}}`)),
			[]string{"csa"},
			map[string]string{"mine Apply v1": `{"f:a":{}}`},
		},
		{
			"one that has applied before, too", owners(owner("csa", "Update", "", "v1", `{"f:a":{},"f:b":{}}`), owner("mine", "Apply", "", "v1", `{"f:b":{},"f:c":{}}`)),
			[]string{"csa"},
			map[string]string{"mine Apply v1": `{"f:a":{},"f:b":{},"f:c":{}}`},
		},
		{
			"several managers", owners(owner("csa", "Update", "", "v1", `{"f:a":{}}`), owner("x", "Update", "", "v1", `{"f:x":{}}`), owner("old", "Update", "", "v1", `{"f:b":{}}`)),
			[]string{"old", "csa", "none"},
			map[string]string{"mine Apply v1": `{"f:a":{},"f:b":{}}`, "x Update v1": `{"f:x":{}}`},
		},
		{
			"a manager's own updates", owners(owner("mine", "Update", "", "v1", `{"f:a":{}}`)),
			[]string{"mine"},
			map[string]string{"mine Apply v1": `{"f:a":{}}`},
		},
		{
			"other subresources and applies stay",
			owners(owner("csa", "Update", "status", "v1", `{"f:s":{}}`), owner("csa", "Apply", "", "v1", `{"f:b":{}}`), owner("csa", "Update", "", "v1", `{"f:a":{}}`)),
			[]string{"csa"},
			map[string]string{"mine Apply v1": `{"f:a":{}}`, "csa Apply v1": `{"f:b":{}}`, "csa Update status v1": `{"f:s":{}}`},
		},
		{
			"of versions that of the object counts", owners(owner("csa", "Update", "", "v1beta1", `{"f:b":{}}`), owner("csa", "Update", "", "v1", `{"f:a":{}}`)),
			[]string{"csa"},
			map[string]string{"mine Apply v1": `{"f:a":{}}`},
		},
		{
			"or that of the applier",
			owners(owner("csa", "Update", "", "v1beta1", `{"f:b":{}}`), owner("csa", "Update", "", "v1", `{"f:a":{}}`), owner("mine", "Apply", "", "v1beta1", `{"f:c":{}}`)),
			[]string{"csa"},
			map[string]string{"mine Apply v1beta1": `{"f:b":{},"f:c":{}}`},
		},
		{
			"or any", owners(owner("csa", "Update", "", "v1beta1", `{"f:b":{}}`)),
			[]string{"csa"},
			map[string]string{"mine Apply v1beta1": `{"f:b":{}}`},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := patch.MigrateFields(test.obj, mine, test.from...)
			if p.MediaType() != patch.JSONType || p.IsEmpty() {
				t.Fatalf("the patch is %v", p)
			}
			after := migrated(t, test.obj, p)
			got := shares(t, after)
			if a, b := jsonOf(t, got), jsonOf(t, test.want); a != b {
				t.Errorf("the owners are %s\n        want %s", a, b)
			}
			if again := patch.MigrateFields(after, mine, test.from...); !again.IsEmpty() {
				t.Errorf("the second migration is %s", body(t, again))
			}
			if !strings.HasSuffix(body(t, p), `{"op":"replace","path":"/metadata/resourceVersion","value":"7"}]`) {
				t.Errorf("the patch has no guard: %s", body(t, p))
			}
		})
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// behaviour 326, for an object that kubectl has made: what it owned is extracted as if it had been applied.
func TestExtractReturnsFieldsMigratedFromClientSideApply(t *testing.T) {
	before := recorded(t, "deployment-csa.json")
	after := migrated(t, before, patch.MigrateFields(before, mine, "kubectl-client-side-apply", "kubectl-edit"))
	config, err := patch.Extract(after, mine)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"replicas":2`, `"minReadySeconds":5`, `"kubectl.kubernetes.io/last-applied-configuration":"{}"`, `"args":["a","b"]`, `"emptyDir":{}`,
	} {
		if !strings.Contains(string(config), want) {
			t.Errorf("%s is not in %s", want, config)
		}
	}
	if patch.Apply(config).IsApplied(after, mine) {
		t.Error("what an update owned is known to be applied")
	}
	p := patch.MigrateFields(recorded(t, "deployment-migrated.json"), mine, "kubectl-client-side-apply", "kubectl-edit")
	if !p.IsEmpty() {
		t.Errorf("what the server has migrated is migrated again: %s", body(t, p))
	}
}

func TestInvalidMigrationsAreRefused(t *testing.T) {
	csa := owner("csa", "Update", "", "v1", `{"f:a":{}}`)
	for _, test := range []struct {
		obj  any
		to   patch.FieldManager
		from []string
		want string
	}{
		{owners(csa), patch.FieldManager{}, []string{"csa"}, "FieldManager: Name must not be empty"},
		{owners(csa), mine, nil, "from must name the managers whose fields are to be migrated"},
		{owners(csa), mine, []string{"csa", ""}, "from must name the managers whose fields are to be migrated"},
		{"s3cr3t", mine, []string{"csa"}, "the object is string, which does not encode to a JSON object"},
		{
			owners(),
			mine,
			[]string{"csa"},
			"the object has no metadata.managedFields: a cache drops the field unless KeepManagedFields is set, and a struct must have it, as meta.ObjectMeta does",
		},
		{
			raw(strings.Replace(string(owners(csa)), `"7"`, `""`, 1)),
			mine,
			[]string{"csa"},
			"metadata.resourceVersion must not be empty: the patch needs it to detect other writes",
		},
		{owners(owner("csa", "Update", "", "v1", `{"a":{}}`)), mine, []string{"csa"}, `metadata.managedFields of "csa": fieldset: key "a" must start with i:, k:, v: or f: and a name`},
	} {
		p := patch.MigrateFields(test.obj, test.to, test.from...)
		if _, err := p.Body(); err == nil || err.Error() != "patch.MigrateFields: "+test.want || p.IsEmpty() {
			t.Errorf("error is %v\n    want patch.MigrateFields: %s", err, test.want)
		}
	}
}
