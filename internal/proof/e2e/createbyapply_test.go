package e2e

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// Both servers want the permission to create for an apply and an update that create, in the same words.
func TestAWriteThatCreatesNeedsThePermissionToCreate(t *testing.T) {
	t.Parallel()
	c, ns := admin(t)
	real := playCreates(t, c, ns, userConfig(t, "appliers-user", "appliers"))
	server := clienttest.Start(t, clienttest.Options{RBAC: true})
	as := server.Config()
	as.Impersonate = &client.Subject{User: "appliers-user", Groups: []string{"appliers"}}
	fake := playCreates(t, open(t, server.Config()), "default", as)
	for i := range real {
		if fake[i] != real[i] {
			t.Errorf("kube-apiserver returns\n%s\nand clienttest\n%s", real[i], fake[i])
		}
	}
}

func playCreates(t *testing.T, c *client.Client, ns string, user client.Config) (errs []string) {
	t.Helper()
	grant(t, c, ns, "appliers", `[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]},
		{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["update"]}]`)
	u, key := open(t, user), meta.Key{Namespace: ns, Name: "a"}
	note := func(err error) {
		text := "done"
		if err != nil {
			text = err.Error()
		}
		errs = append(errs, strings.ReplaceAll(text, ns, "{ns}"))
	}
	apply := func() {
		_, err := client.For(u, configMaps).With(client.WriteOptions{FieldManager: "e2e"}).Apply(t.Context(), key, map[string]any{"data": map[string]any{"a": "b"}}, client.ApplyOptions{})
		note(err)
	}
	apply()
	_, err := client.For(u, client.Type[*meta.Partial]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"}).
		Update(t.Context(), &meta.Partial{ObjectMeta: key.ObjectMeta()})
	note(err)
	create(t, client.For(c, configMaps), ns, `{"metadata": {"name": "a"}}`)
	apply()
	if errs[0] == "done" || errs[1] == "done" || errs[2] != "done" {
		t.Errorf("the writes return %q", errs)
	}
	return errs
}
