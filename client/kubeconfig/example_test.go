package kubeconfig_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
)

// A program uses the current context of the configuration that it finds, unless its user names another.
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

// Bytes may come from anywhere, such as a Secret. An error says what is wrong and where, and its type can be checked.
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
	// kubeconfig: users["admin"]: auth-provider is not supported: use a credential plugin (exec), which has replaced it in Kubernetes
	// unsupported: true
	// context "test" not found
}

// A tool that logs in writes its result, and keeps the rest of the file.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	o := kubeconfig.Options{Path: filepath.Join(dir, "config")} // without a path: KUBECONFIG, or ~/.kube/config

	err = kubeconfig.Write(context.Background(), o, kubeconfig.Change{
		Clusters: map[string]*kubeconfig.Cluster{"prod": {Server: "https://10.0.0.1:6443", CAFile: "prod-ca.crt"}},
		Users:    map[string]*kubeconfig.User{"anna@prod": {Token: "not-to-be-shown"}},
		Contexts: map[string]*kubeconfig.Context{"prod": {Cluster: "prod", User: "anna@prod"}},
		Current:  "prod",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Later, change the namespace and nothing else.
	if err := kubeconfig.Write(context.Background(), o, kubeconfig.Change{Namespace: "web"}); err != nil {
		fmt.Println(err)
		return
	}

	data, err := os.ReadFile(o.Path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(data))
	// Output:
	// apiVersion: v1
	// kind: Config
	// contexts:
	// - name: prod
	//   context:
	//     cluster: prod
	//     user: anna@prod
	//     namespace: web
	// clusters:
	// - name: prod
	//   cluster:
	//     server: https://10.0.0.1:6443
	//     certificate-authority: prod-ca.crt
	// users:
	// - name: anna@prod
	//   user:
	//     token: not-to-be-shown
	// current-context: prod
}

// A context that cannot be used is listed, with the reason.
func ExampleContexts() {
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
  context: {cluster: dev, namespace: web}
- name: old
  context: {cluster: gone}
clusters:
- name: dev
  cluster: {server: "https://10.0.0.1:6443"}
`), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	entries, err := kubeconfig.Contexts(kubeconfig.Options{Path: file})
	if err != nil {
		fmt.Println(err) // and go on: the other files are listed
	}
	for _, e := range entries {
		var missing *kubeconfig.NotFoundError
		if errors.As(e.Err, &missing) {
			fmt.Println(e.Name, "has no", missing.What, missing.Name)
			continue
		}
		fmt.Println(e.Name, e.Server, e.Namespace, e.Current, filepath.Base(e.File))
	}
	// Output:
	// dev https://10.0.0.1:6443 web true config
	// old has no cluster gone
}

// A program that receives kubeconfigs from others restricts the credential plugins that may run.
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
		Plugins: kubeconfig.Plugins{Restricted: true, Allowed: []string{"aws", "/usr/bin/kubelogin"}},
	})
	fmt.Println(err)
	fmt.Println("may not run:", errors.Is(err, fs.ErrPermission))
	// Output:
	// kubeconfig: users["admin"].exec: command is not allowed: Options.Plugins.Allowed has no "/tmp/get-token"
	// may not run: true
}
