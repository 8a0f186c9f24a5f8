package kubeconfig

import (
	"errors"
	"strings"
	"testing"
)

// A misspelt field is most often why a file cannot be used, and only the warnings of a Load that succeeds named it.
func TestErrorsNameTheUnknownFields(t *testing.T) {
	environment(t)
	const lists = "contexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: https://s}}]\nusers: [{name: u, user: {token: t}}]\n"
	for _, test := range []struct{ name, data, want string }{
		{"a current context", "currentContext: x\n" + lists, ": current-context is not set, and Options.Context is empty (FILE: currentContext is not known, and was ignored)"},
		{"a list", "current-context: x\n" + strings.Replace(lists, "clusters:", "Clusters:", 1), `: contexts["x"]: cluster "c" not found (FILE: Clusters is not known, and was ignored)`},
		{"everything", "Contexts: []\nClusters: []\n", ": is empty (FILE: Contexts is not known, and was ignored; FILE: Clusters is not known, and was ignored)"},
		{"beside a list that is none", "current_context: x\nclusters: {}\n", ": clusters must be a list (FILE: current_context is not known, and was ignored)"},
		{"within a context", "current-context: x\n" + strings.Replace(lists, "cluster: c", "Cluster: c", 1), `: contexts["x"]: cluster is not set (FILE: contexts["x"]: Cluster is not known, and was ignored)`},
		{"within a cluster", "current-context: x\n" + strings.Replace(lists, "server:", "sever:", 1), `: clusters["c"]: server is not set (FILE: clusters["c"]: sever is not known, and was ignored)`},
		{"within a user", "current-context: x\n" + strings.Replace(lists, "token: t", "client-certificate-data: YQ==, client-key-date: YQ==", 1), `: users["u"]: client-certificate needs client-key or client-key-data (FILE: users["u"]: client-key-date is not known, and was ignored)`},
		{"within a plugin", "current-context: x\n" + strings.Replace(lists, "token: t", "exec: {apiVersion: client.authentication.k8s.io/v1, Command: c}", 1), `: users["u"].exec: command is not set (FILE: users["u"].exec: Command is not known, and was ignored)`},
	} {
		file := write(t, t.TempDir()+"/config", test.data)
		want := strings.ReplaceAll("FILE"+test.want, "FILE", "kubeconfig "+file)
		if _, err := Load(Options{Path: file}); err == nil || err.Error() != want {
			t.Errorf("%s: error is\n%v, want\n%s", test.name, err, want)
		}
	}
}

// A file that has nothing but misspelt fields is as if it were empty, so the pod is looked for. The error, or the warning, names the fields.
func TestAFileOfUnknownFieldsIsNamed(t *testing.T) {
	environment(t)
	file := write(t, t.TempDir()+"/config", "Contexts: []\n")
	t.Setenv("KUBECONFIG", file)
	for _, context := range []string{"", "x"} {
		_, err := Load(Options{Context: context})
		if empty := (*EmptyError)(nil); !errors.As(err, &empty) || !strings.Contains(err.Error(), "(kubeconfig "+file+": Contexts is not known, and was ignored)") {
			t.Errorf("context %q: error is %v", context, err)
		}
	}
}
