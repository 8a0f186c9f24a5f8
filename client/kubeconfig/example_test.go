package kubeconfig_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
)

// A program takes the current context of whatever configuration there is, unless its user says otherwise.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(`
current-context: dev
contexts:
- name: dev
  context: {cluster: dev, user: me, namespace: web}
clusters:
- name: dev
  cluster: {server: "https://10.0.0.1:6443"}
users:
- name: me
  user: {token: not-to-be-shown}
`), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	loaded, err := kubeconfig.Load(kubeconfig.Options{Path: file}) // without a path: KUBECONFIG, ~/.kube/config, the pod
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := client.New(loaded.Config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	fmt.Println(loaded.Context, loaded.Namespace)
	fmt.Println(loaded.Config.Server)
	// Output:
	// dev web
	// https://10.0.0.1:6443
}

// Bytes may come from anywhere, such as a Secret. Errors say what is wrong, where, and of which type it is.
func ExampleParse() {
	data := []byte(`
contexts:
- name: prod
  context: {cluster: prod, user: admin}
clusters:
- name: prod
  cluster: {server: "https://10.0.0.1:6443"}
users:
- name: admin
  user:
    auth-provider: {name: gcp}
`)
	_, err := kubeconfig.Parse(data, kubeconfig.Options{Context: "prod"})
	fmt.Println(err)
	fmt.Println("unsupported:", errors.Is(err, errors.ErrUnsupported))

	_, err = kubeconfig.Parse(data, kubeconfig.Options{Context: "test"})
	fmt.Println(err)
	// Output:
	// kubeconfig: users["admin"]: auth-provider is not supported: Kubernetes has replaced it by credential plugins (exec)
	// unsupported: true
	// context "test" not found
}

// A program that is given kubeconfigs by others says which credential plugins it may run.
func ExamplePlugins() {
	data := []byte(`
contexts:
- name: prod
  context: {cluster: prod, user: admin}
clusters:
- name: prod
  cluster: {server: "https://10.0.0.1:6443"}
users:
- name: admin
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: /tmp/get-token
      interactiveMode: Never
`)
	_, err := kubeconfig.Parse(data, kubeconfig.Options{
		Context: "prod",
		Plugins: kubeconfig.Plugins{Policy: kubeconfig.Allowlist, Allowed: []string{"aws", "/usr/bin/kubelogin"}},
	})
	fmt.Println(err)
	fmt.Println("may not run:", errors.Is(err, fs.ErrPermission))
	// Output:
	// kubeconfig: users["admin"].exec: command is not allowed: Options.Plugins.Allowed has no "/tmp/get-token"
	// may not run: true
}
