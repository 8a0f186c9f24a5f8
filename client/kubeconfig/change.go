package kubeconfig

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/bowline-go/bowline/client"
)

// Change is the change that [Write] makes. The zero value changes nothing.
//
// A named stanza is set to its value: fields that the value leaves empty are removed, and fields that this package does
// not know stay, extensions too. If a stanza does not exist, Write adds it. A nil value deletes the stanza, if it
// exists. Contexts that refer to a deleted stanza stay, and can no longer be used.
type Change struct {
	Contexts map[string]*Context
	Clusters map[string]*Cluster
	Users    map[string]*User

	// Current becomes the current context, which must exist after the change; empty leaves it unchanged. If the current
	// context is deleted it stays the current one: programs that use it then fail, rather than act on another context.
	Current string

	// Namespace becomes the namespace of one context, that of Options.Context or the current one, and nothing else of
	// the context changes. Empty leaves it unchanged.
	Namespace string
}

// Format prints only the names in c, for every verb. Without it, package fmt would for some verbs print everything
// behind the pointers, without calling a method.
func (c Change) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "{Contexts:%q Clusters:%q Users:%q Current:%q Namespace:%q}", slices.Sorted(maps.Keys(c.Contexts)),
		slices.Sorted(maps.Keys(c.Clusters)), slices.Sorted(maps.Keys(c.Users)), c.Current, c.Namespace)
}

// Context combines a cluster, a user and a namespace. Cluster must exist, and User unless it is empty. An empty
// Namespace is "default".
type Context struct {
	Cluster, User, Namespace string
}

// Cluster is the address of a server and how to verify it. A relative CAFile starts at the folder of the kubeconfig.
type Cluster struct {
	Server       string        // server
	CAFile       string        // certificate-authority
	CAData       client.Secret // certificate-authority-data, here as PEM
	Insecure     bool          // insecure-skip-tls-verify
	ServerName   string        // tls-server-name
	ProxyURL     client.Secret // proxy-url
	Uncompressed bool          // disable-compression
}

// Format prints c for every verb, without secrets, even behind a pointer.
func (c Cluster) Format(f fmt.State, _ rune) {
	type plain Cluster
	_, _ = fmt.Fprintf(f, "%+v", plain(c))
}

// User has credentials: a token, a password, a plugin, or a client certificate, which a token or a password may
// accompany. A relative path starts at the folder of the kubeconfig.
type User struct {
	Token             client.Secret // token
	TokenFile         string        // tokenFile
	Username          string        // username
	Password          client.Secret // password
	CertFile, KeyFile string        // client-certificate, client-key
	CertData, KeyData client.Secret // client-certificate-data, client-key-data, here as PEM
	Exec              Exec          // exec; the zero Exec means no plugin

	As       string              // as
	AsUID    string              // as-uid
	AsGroups []string            // as-groups
	AsExtra  map[string][]string // as-user-extra
}

// Format prints u for every verb, without secrets, even behind a pointer.
func (u User) Format(f fmt.State, _ rune) {
	type plain User
	_, _ = fmt.Fprintf(f, "%+v", plain(u))
}

// Exec is a program that prints a credential (client-go credential plugins in the Kubernetes documentation).
type Exec struct {
	APIVersion      string                   // "client.authentication.k8s.io/v1", unless the plugin knows only v1beta1
	Command         string                   // the program: a name that is looked up in PATH, or a path
	Args            []client.Secret          // the arguments of the program
	Env             map[string]client.Secret // variables added to its environment
	InteractiveMode string                   // Never, IfAvailable or Always
	InstallHint     string                   // shown to a user who does not have the program
	ClusterInfo     bool                     // provideClusterInfo: the program receives the cluster
}

// Format prints e for every verb, without secrets, even behind a pointer.
func (e Exec) Format(f fmt.State, _ rune) {
	type plain Exec
	_, _ = fmt.Fprintf(f, "%+v", plain(e))
}

// field is a field of a stanza and its new value; without a value it is removed.
type field struct {
	name  string
	value *yaml.Node
}

func (c Context) fields() []field {
	return []field{
		{name: "cluster", value: stringNode(c.Cluster)},
		{name: "user", value: stringNode(c.User)},
		{name: "namespace", value: stringNode(c.Namespace)},
	}
}

func (c Cluster) fields() []field {
	return []field{
		{name: "server", value: stringNode(c.Server)},
		{name: "certificate-authority", value: stringNode(c.CAFile)},
		{name: "certificate-authority-data", value: dataNode(c.CAData)},
		{name: "insecure-skip-tls-verify", value: boolNode(c.Insecure)},
		{name: "tls-server-name", value: stringNode(c.ServerName)},
		{name: "proxy-url", value: stringNode(c.ProxyURL)},
		{name: "disable-compression", value: boolNode(c.Uncompressed)},
	}
}

func (u User) fields() []field {
	extra := mappingNode()
	for _, key := range slices.Sorted(maps.Keys(u.AsExtra)) {
		list := listNode(u.AsExtra[key])
		if list == nil {
			list = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
		}
		extra.Content = append(extra.Content, quotedNode(key), list)
	}
	return []field{
		{name: "token", value: stringNode(u.Token)},
		{name: "tokenFile", value: stringNode(u.TokenFile)},
		{name: "username", value: stringNode(u.Username)},
		{name: "password", value: stringNode(u.Password)},
		{name: "client-certificate", value: stringNode(u.CertFile)},
		{name: "client-certificate-data", value: dataNode(u.CertData)},
		{name: "client-key", value: stringNode(u.KeyFile)},
		{name: "client-key-data", value: dataNode(u.KeyData)},
		{name: "exec", value: u.Exec.node()},
		{name: "as", value: stringNode(u.As)},
		{name: "as-uid", value: stringNode(u.AsUID)},
		{name: "as-groups", value: listNode(u.AsGroups)},
		{name: "as-user-extra", value: unlessEmpty(extra)},
		{name: "auth-provider"},
	}
}

func (e Exec) node() *yaml.Node {
	env := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		item := mappingNode()
		item.Content = []*yaml.Node{quotedNode("name"), quotedNode(name), quotedNode("value"), quotedNode(string(e.Env[name]))}
		env.Content = append(env.Content, item)
	}
	n := mappingNode()
	for _, f := range []field{
		{name: "apiVersion", value: stringNode(e.APIVersion)},
		{name: "command", value: stringNode(e.Command)},
		{name: "args", value: listNode(e.Args)},
		{name: "env", value: unlessEmpty(env)},
		{name: "installHint", value: stringNode(e.InstallHint)},
		{name: "interactiveMode", value: stringNode(e.InteractiveMode)},
		{name: "provideClusterInfo", value: boolNode(e.ClusterInfo)},
	} {
		setField(n, f)
	}
	return unlessEmpty(n)
}

// validate returns what is wrong with c, independently of the files.
func (c Change) validate() error {
	names := func(field string, names []string) error {
		if slices.Contains(names, "") {
			return fmt.Errorf("%s must not have an empty name", field)
		}
		return nil
	}
	return errors.Join(
		names("Contexts", slices.Collect(maps.Keys(c.Contexts))), names("Clusters", slices.Collect(maps.Keys(c.Clusters))),
		names("Users", slices.Collect(maps.Keys(c.Users))),
	)
}
