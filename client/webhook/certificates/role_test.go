package certificates_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/webhook"
	"github.com/bowline-go/bowline/client/webhook/certificates"
)

// The permissions in the documentation are those that are used over a year.
func TestThePermissionsAreThoseInTheDocumentation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		cfg := w.server.Config()
		cfg.Impersonate = &client.Subject{User: "hooks"}
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		a := certificates.New(c, options())
		w.look(a)
		for range 15 {
			time.Sleep(45 * day)
			w.look(a)
		}
		w.overwrite(nil)
		w.look(a)
		o := clienttest.RoleOptions{User: "hooks", Namespaced: true, Names: []string{
			"secrets", "validatingwebhookconfigurations", "mutatingwebhookconfigurations", "customresourcedefinitions",
		}}
		got := w.server.Role("hooks", o)
		const want = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: hooks
rules:
- apiGroups: [admissionregistration.k8s.io]
  resourceNames: [sites]
  resources: [mutatingwebhookconfigurations]
  verbs: [get, patch]
- apiGroups: [admissionregistration.k8s.io]
  resourceNames: [sites]
  resources: [validatingwebhookconfigurations]
  verbs: [get, patch]
- apiGroups: [apiextensions.k8s.io]
  resourceNames: [sites.example.com]
  resources: [customresourcedefinitions]
  verbs: [get, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: hooks
  namespace: web
rules:
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
- apiGroups: [""]
  resourceNames: [hooks-certificate]
  resources: [secrets]
  verbs: [get, update]
`
		if string(got) != want {
			t.Errorf("the role is\n%s", got)
		}
		if says, err := clienttest.RoleOf("hooks", (&webhook.Server{Certificates: a}).Permissions(), o); err != nil || string(says) != want {
			t.Errorf("the server says that it needs this role (%v):\n%s", err, says)
		}
		if says := (&webhook.Server{CertFile: "tls.crt", KeyFile: "tls.key"}).Permissions(); len(says) > 0 {
			t.Errorf("a server with files says that it needs %v", says)
		}
	})
}
