package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/cel"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// trapDefinition is a custom resource with a schema and a rule. Its field replicas is required.
const trapDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"traps.e2e.bowline.example"},"spec":{
	"group":"e2e.bowline.example","scope":"Namespaced","names":{"kind":"Trap","plural":"traps"},"versions":[{"name":"v1","served":true,"storage":true,
	"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","required":["replicas"],"properties":{
		"replicas":{"type":"integer"},"most":{"type":"integer"}},
		"x-kubernetes-validations":[{"rule":"!has(self.most) || self.replicas <= self.most","message":"too many"}]}}}}}]}}`

const trapRoles = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"traps","namespace":"NSPACE"},
	"rules":[{"verbs":["get","list","watch","create"],"apiGroups":[""],"resources":["configmaps"]}]}
---
{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"traps","namespace":"NSPACE"},
	"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"traps"},"subjects":[{"kind":"ServiceAccount","name":"traps","namespace":"NSPACE"}]}`

// A test of a program must not pass where the program fails in a cluster. Each of these mistakes is refused by both servers, in the
// same words where a program could look at them.
func TestMistakesAreRefusedByBothServers(t *testing.T) {
	t.Parallel()
	real, ns := admin(t)
	manifests := strings.ReplaceAll(trapRoles, "NSPACE", ns)
	inside := open(t, clienttest.Start(t, clienttest.Options{
		RBAC: true, Rules: cel.Rules(), CRDs: []string{manifestFile(t, "traps.yaml", trapDefinition)}, Objects: []string{manifestFile(t, "roles.yaml", manifests)},
	}).Config())
	made := create(t, client.For(real, definitions), "", trapDefinition)
	must(client.WaitFor(t.Context(), client.For(real, definitions), meta.KeyOf(made), client.UntilReady()))(t)
	for doc := range strings.SplitSeq(manifests, "---") {
		create(t, client.For(real, map[bool]client.Type[object]{true: roleBindings, false: roles}[strings.Contains(doc, "roleRef")]), ns, doc)
	}
	traps := client.Type[object]{Group: "e2e.bowline.example", Version: "v1", Kind: "Trap", Resource: "traps"}
	deployments := client.Type[object]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	const template = `"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"a","image":"example.com/a"}]}}`
	for _, trap := range []struct {
		name string
		do   func(c *client.Client) error
		want string
	}{
		{"an unknown field", func(c *client.Client) error {
			strict := client.For(c, traps).With(client.WriteOptions{FieldValidation: client.ValidateStrict})
			_, err := strict.Create(t.Context(), in(t, ns, `{"metadata":{"name":"a"},"spec":{"replicas":1,"replcas":2}}`))
			return err
		}, `400 BadRequest `},
		{"a required field that is missing", func(c *client.Client) error {
			_, err := client.For(c, traps).Create(t.Context(), in(t, ns, `{"metadata":{"name":"b"},"spec":{"most":2}}`))
			return err
		}, "422 Invalid FieldValueRequired spec.replicas; FieldValueInvalid <nil>"},
		{"a pod without containers", func(c *client.Client) error {
			_, err := client.For(c, pods).Create(t.Context(), in(t, ns, `{"metadata":{"name":"c"},"spec":{"nodeName":"n"}}`))
			return err
		}, "422 Invalid FieldValueRequired spec.containers"},
		{"a rule that is broken", func(c *client.Client) error {
			_, err := client.For(c, traps).Create(t.Context(), in(t, ns, `{"metadata":{"name":"d"},"spec":{"replicas":3,"most":2}}`))
			return err
		}, "422 Invalid FieldValueInvalid spec"},
		{"another selector", func(c *client.Client) error {
			key := meta.Key{Namespace: ns, Name: "traps"}
			_, err := client.For(c, deployments).Create(t.Context(), in(t, ns, `{"metadata":{"name":"traps"},"spec":{"selector":{"matchLabels":{"app":"a"}},`+template+`}}`))
			if err != nil {
				return err
			}
			_, err = client.For(c, deployments).Modify(t.Context(), key, func(o object) error {
				spec := o.Object["spec"].(map[string]any)
				spec["selector"] = map[string]any{"matchLabels": map[string]any{"app": "b"}}
				spec["template"].(map[string]any)["metadata"] = map[string]any{"labels": map[string]any{"app": "b"}}
				return nil
			})
			return err
		}, "422 Invalid FieldValueInvalid spec.selector"},
		{"a verb that the role lacks", func(c *client.Client) error {
			account := client.For(c, configMaps).As(client.Subject{User: "system:serviceaccount:" + ns + ":traps"})
			var made object
			eventually(t, func() (err error) { // the roles of a real server take effect a little later
				made, err = account.Create(t.Context(), in(t, ns, `{"metadata":{"generateName":"traps-"}}`))
				return err
			})
			_, err := account.Modify(t.Context(), meta.KeyOf(made), func(o object) error { o.Object["data"] = map[string]any{"a": "b"}; return nil })
			return err
		}, "403 Forbidden "},
	} {
		t.Run(trap.name, func(t *testing.T) {
			for server, c := range map[string]*client.Client{"kube-apiserver": real, "clienttest": inside} {
				err := trap.do(c)
				refusal, ok := errors.AsType[*apierrors.StatusError](err)
				if !ok {
					t.Errorf("%s: %v, want %s", server, err, trap.want)
					continue
				}
				var causes []string
				if d := refusal.Status.Details; d != nil {
					for _, c := range d.Causes {
						causes = append(causes, c.Reason+" "+c.Field)
					}
				}
				got := fmt.Sprintf("%d %s %s", refusal.Status.Code, refusal.Status.Reason, strings.Join(slices.Compact(causes), "; "))
				if got != trap.want {
					t.Errorf("%s: %s, want %s", server, got, trap.want)
				}
			}
		})
	}
}

// in returns an object in a namespace.
func in(t *testing.T, ns, text string) object {
	t.Helper()
	o := parse(t, text)
	o.Object["metadata"].(map[string]any)["namespace"] = ns
	return o
}

// manifestFile writes a file.
func manifestFile(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
