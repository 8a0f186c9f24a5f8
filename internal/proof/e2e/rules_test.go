package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/cel"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// ruledSpec is a schema with rules about old values, with messages of their own, in lists, and with a cost at run time.
const ruledSpec = `{"type":"object","properties":{
	"name":{"type":"string","maxLength":20,"x-kubernetes-validations":[{"rule":"self == oldSelf","message":"the name stays"}]},
	"min":{"type":"integer"},"max":{"type":"integer"},
	"phase":{"type":"string","enum":["a","b"],"x-kubernetes-validations":[
		{"rule":"!oldSelf.hasValue() || oldSelf.value() <= self","optionalOldSelf":true,"reason":"FieldValueForbidden"}]},
	"ports":{"type":"array","maxItems":10,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["n"],"items":{"type":"object","required":["n"],
		"properties":{"n":{"type":"integer"},"host":{"type":"string","maxLength":20}},
		"x-kubernetes-validations":[{"rule":"!has(self.host) || self.host.matches('^[a-z]+$')","messageExpression":"'host ' + self.host + ' is wrong'"}]}},
	"words":{"type":"object","maxProperties":5,"additionalProperties":{"type":"string","maxLength":10,
		"x-kubernetes-validations":[{"rule":"self != 'no'"}]}}},
	"x-kubernetes-validations":[{"rule":"!has(self.min) || !has(self.max) || self.min <= self.max","fieldPath":".max","message":"max is less than min"}]}`

// clienttest with its CEL rules refuses the same writes as a real server, in the same words.
func TestRulesOfCustomResources(t *testing.T) {
	t.Parallel()
	const group = "rules.e2e.bowline.example"
	real, ns := admin(t)
	inside := open(t, clienttest.Start(t, clienttest.Options{Rules: cel.Rules()}).Config())
	must(client.For(inside, client.Type[object]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster}).
		Create(t.Context(), parse(t, `{"metadata":{"name":"`+ns+`"}}`)))(t)
	servers := []*client.Client{real, inside}
	same := func(what string, call func(c *client.Client) error) {
		t.Helper()
		if want, got := whyRefused(call(real)), whyRefused(call(inside)); want != got {
			t.Errorf("%s: the servers say\n%s\nand\n%s", what, want, got)
		}
	}
	define := func(spec string) func(c *client.Client) error {
		return func(c *client.Client) error {
			_, err := client.For(c, definitions).Create(t.Context(), parse(t, fmt.Sprintf(`{"metadata":{"name":"things.%[1]s"},"spec":{
				"group":%[1]q,"scope":"Namespaced","names":{"kind":"Thing","plural":"things"},"versions":[{"name":"v1","served":true,"storage":true,
				"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":%[2]s,
				"status":{"type":"object","properties":{"n":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 0"}]}}}}}}}]}}`, group, spec)))
			return err
		}
	}
	same("a rule that does not compile", define(`{"type":"object","x-kubernetes-validations":[{"rule":"self.x > 1"}]}`))
	same("a rule that is too expensive", define(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},
		"x-kubernetes-validations":[{"rule":"self.all(x, self.all(y, x == y))"}]}}}`))
	for _, c := range servers {
		if err := define(ruledSpec)(c); err != nil {
			t.Fatal(err)
		}
	}
	must(client.WaitFor(t.Context(), client.For(real, definitions), meta.Key{Name: "things." + group}, client.UntilReady()))(t)

	things := client.Type[object]{Group: group, Version: "v1", Kind: "Thing", Resource: "things"}
	made := `{"name":"x","min":1,"max":2,"phase":"a","ports":[{"n":1,"host":"h"}],"words":{"k":"yes"}}`
	for i, spec := range []string{
		made, `{"name":"x","min":3,"max":2}`, `{"ports":[{"n":1,"host":"H"},{"n":2},{"n":3,"host":"3"}]}`, `{"words":{"a":"no","b":"yes"}}`,
		`{"min":3,"max":2,"phase":"c"}`, `{"ports":[{"host":"H"}]}`, `{"min":"3"}`,
	} {
		same("create "+spec, func(c *client.Client) error {
			_, err := client.For(c, things).Create(t.Context(), parse(t, fmt.Sprintf(`{"metadata":{"name":"a%d","namespace":%q},"spec":%s}`, i, ns, spec)))
			return err
		})
	}
	for _, change := range []string{
		`{"spec":{"name":"y"}}`, `{"spec":{"name":null}}`, `{"spec":{"name":"z"}}`, `{"spec":{"phase":"b"}}`, `{"spec":{"phase":"a"}}`, `{"spec":{"max":0}}`,
		`{"spec":{"ports":[{"n":1,"host":"UP"}]}}`, `{"spec":{"words":{"k":"no"}}}`, `{"metadata":{"labels":{"a":"b"}}}`,
	} {
		same("patch "+change, func(c *client.Client) error {
			_, err := client.For(c, things).Patch(t.Context(), meta.Key{Namespace: ns, Name: "a0"}, patch.Merge(json.RawMessage(change)))
			return err
		})
	}
	for _, n := range []int{1, 0} {
		same(fmt.Sprint("status ", n), func(c *client.Client) error {
			_, err := client.For(c, things).Status().Patch(t.Context(), meta.Key{Namespace: ns, Name: "a0"},
				patch.Merge(json.RawMessage(fmt.Sprintf(`{"status":{"n":%d}}`, n))))
			return err
		})
	}
}

// whyRefused returns why a write is refused, one cause in a line, or nothing.
func whyRefused(err error) string {
	refusal, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return fmt.Sprint(err)
	}
	lines := []string{string(refusal.Status.Reason)}
	for _, c := range refusal.Causes() {
		lines = append(lines, fmt.Sprintf("%s %s: %s", c.Reason, c.Field, c.Message))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
