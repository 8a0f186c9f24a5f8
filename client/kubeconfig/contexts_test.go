package kubeconfig

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Contexts are listed in the order in which they are written, each from the first file that has it, usable or not.
func TestContextsAreListedWithTheirFiles(t *testing.T) {
	home := environment(t)
	first := write(t, filepath.Join(home, "1"), `
current-context: z
contexts:
- {name: z, context: {cluster: c, user: u, namespace: web}}
- {name: a, context: {cluster: c}}
- {name: no-cluster, context: {user: u}}
- {name: missing-cluster, context: {cluster: d, user: u}}
- {name: missing-user, context: {cluster: c, user: v}}
- {name: shape, context: [1]}
clusters:
- {name: c, cluster: {server: "https://s"}}
- {name: plain, cluster: {server: "http://p"}}
- {name: secret, cluster: {server: "https://a:s3cr3t@s"}}
users:
- {name: u, user: {token: s3cr3t}}
---
contexts:
- {name: b, context: {cluster: plain, user: u}}
`)
	second := write(t, filepath.Join(home, "2"), `
current-context: b
contexts:
- {name: y, context: {cluster: secret}}
- {name: z, context: {cluster: c, namespace: not-this}}
- {name: c, context: {cluster: c, user: u}}
`)
	broken := write(t, filepath.Join(home, "3"), "contexts: {")
	missing := filepath.Join(home, "4")
	t.Setenv("KUBECONFIG", strings.Join([]string{missing, first, broken, second}, string(filepath.ListSeparator)))

	list, err := Contexts(Options{})
	if want := "kubeconfig " + broken + ": is not YAML: line 1: did not find expected node content"; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	if f := (*FieldError)(nil); !errors.As(err, &f) || f.file != broken {
		t.Errorf("error is %#v, want a FieldError of the file", err)
	}
	reasons := map[string]string{
		"no-cluster":      `contexts["no-cluster"]: cluster is not set`,
		"missing-cluster": `contexts["missing-cluster"]: cluster "d" not found`,
		"shape":           `contexts["shape"]: must be a mapping`,
	}
	for i, e := range list {
		got := ""
		if e.Err != nil {
			got = e.Err.Error()
		}
		want := reasons[e.Name]
		if want != "" {
			want = "kubeconfig " + first + ": " + want
		}
		if got != want {
			t.Errorf("context %s has the error\n%s, want\n%s", e.Name, got, want)
		}
		list[i].Err = nil
	}
	want := []Entry{
		{Name: "z", Context: Context{Cluster: "c", User: "u", Namespace: "web"}, Server: "https://s", File: first, Current: true},
		{Name: "a", Context: Context{Cluster: "c"}, Server: "https://s", File: first},
		{Name: "no-cluster", Context: Context{User: "u"}, File: first},
		{Name: "missing-cluster", Context: Context{Cluster: "d", User: "u"}, File: first},
		{Name: "missing-user", Context: Context{Cluster: "c", User: "v"}, Server: "https://s", File: first},
		{Name: "shape", File: first},
		{Name: "b", Context: Context{Cluster: "plain", User: "u"}, Server: "http://p", File: first},
		{Name: "y", Context: Context{Cluster: "secret"}, Server: "https://s", File: second},
		{Name: "c", Context: Context{Cluster: "c", User: "u"}, Server: "https://s", File: second},
	}
	if !reflect.DeepEqual(list, want) {
		t.Errorf("listed\n%+v, want\n%+v", list, want)
	}
	if strings.Contains(fmt.Sprintf("%+v %v", list, err), "s3cr3t") {
		t.Error("the list shows a secret")
	}

	list, err = Contexts(Options{Path: second, Context: "y"})
	if err != nil || len(list) != 3 || !list[0].Current || list[2].Current {
		t.Errorf("listed %+v, %v", list, err)
	}
}

func TestContextsWithoutAKubeconfigAreEmpty(t *testing.T) {
	home := environment(t)
	if list, err := Contexts(Options{}); err != nil || len(list) > 0 {
		t.Errorf("listed %v, %v", list, err)
	}
	account(t)
	if list, err := Contexts(Options{}); err != nil || len(list) > 0 {
		t.Errorf("listed %v, %v in a pod", list, err)
	}
	// behaviour 87
	missing := filepath.Join(home, "missing")
	if list, err := Contexts(Options{Path: missing}); err == nil || !strings.HasPrefix(err.Error(), "kubeconfig "+missing+": cannot be read: ") {
		t.Errorf("listed %v, %v", list, err)
	}
	// behaviour 109, guarantee S7
	file := write(t, filepath.Join(home, "bomb"), bomb(20))
	if list, err := Contexts(Options{Path: file}); err == nil || len(list) > 0 {
		t.Errorf("listed %v, %v", list, err)
	}
}

// guarantee S7: a list of contexts looks at the user of each, and all of them may have the same, which is large. With 20,000
// contexts and a user of 8 MiB it took minutes.
func TestAListDoesNotLookAtALargeUserForEachOfManyContexts(t *testing.T) {
	var b strings.Builder
	b.WriteString("clusters: [{name: c, cluster: {server: \"https://s\"}}]\nusers: [{name: u, user: {client-key-data: \"!\", client-certificate-data: ")
	b.WriteString(strings.Repeat("QUFB", 1<<19) + "}}]\ncontexts:\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "- {name: c%d, context: {cluster: c, user: u}}\n", i)
	}
	file := write(t, filepath.Join(t.TempDir(), "config"), b.String())
	list, err := Contexts(Options{Path: file})
	if err != nil || len(list) != 1000 {
		t.Fatalf("there are %d contexts, %v", len(list), err)
	}
	if first, why := list[0], `users["u"]: client-key-data is not base64`; first.Err == nil || !strings.Contains(first.Err.Error(), why) {
		t.Errorf("the first is %v, %v", first, first.Err)
	}
	last := list[len(list)-1]
	want := "kubeconfig " + file + `: contexts["c999"]: is not checked, because the contexts before it are too large`
	if last.Err == nil || last.Err.Error() != want || last.Cluster != "c" || last.User != "u" {
		t.Errorf("the last is %v, %v", last, last.Err)
	}
}
