package e2e

import (
	"flag"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/controlplane/build"
	"github.com/bowline-go/bowline/internal/proof/e2e/kubectlscript"
)

var chosenScripts = flag.String("script", kubectlscript.Short, `which scripts of package kubectlscript to run, by their names and with commas; "all" is all of them`)

// The same commands, against a real server and the one in the process: kubectl exits with the same code and prints the same.
func TestKubectlSaysTheSameOfBothServers(t *testing.T) {
	if *kubernetes != build.Minors()[0] {
		t.Skip("clienttest follows the newest release")
	}
	scripts := must(kubectlscript.Scripts())(t)
	if *chosenScripts != "all" {
		chosen := strings.Split(*chosenScripts, ",")
		scripts = slices.DeleteFunc(scripts, func(s kubectlscript.Script) bool { return !slices.Contains(chosen, s.Name) })
		if len(scripts) != len(chosen) {
			t.Fatalf("-script %s: not all of these are in kubectlscript/commands", *chosenScripts)
		}
	}
	exceptions := must(kubectlscript.Exceptions())(t)
	maps.DeleteFunc(exceptions, func(name, _ string) bool {
		script, _, _ := strings.Cut(name, " ")
		return !slices.ContainsFunc(scripts, func(s kubectlscript.Script) bool { return s.Name == script })
	})

	// Servers of their own, because the outputs include what others have made.
	p, err := controlplane.Start(t.Context(), servers())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	listener := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	config := clienttest.Start(t, clienttest.Options{Listener: listener, TLS: true, RBAC: true, Token: client.Secret(p.Token)}).Config()
	reference := &kubectlscript.Server{URL: p.Server, CA: p.CA, Token: p.Token, Kubectl: p.KubectlPath(), Directory: t.TempDir()}
	subject := &kubectlscript.Server{URL: config.Server, CA: []byte(config.TLS.CAData), Token: p.Token, Kubectl: p.KubectlPath(), Directory: t.TempDir()}

	compared := must(kubectlscript.Compare(t.Context(), scripts, reference, subject))(t)
	for _, name := range slices.Sorted(maps.Keys(compared.Details)) {
		reason := exceptions[name]
		if reason == "" {
			t.Errorf("%s differs; - is kube-apiserver, + is clienttest:\n%s", name, compared.Details[name])
		} else {
			t.Logf("%s differs, which is an exception: %s\n%s", name, reason, compared.Details[name])
		}
	}
	for _, wrong := range exceptions.Check(compared.Differs) {
		t.Errorf("kubectlscript/exceptions.txt: %s", wrong)
	}
	t.Logf("%d commands: %d with the same outputs, %d with others, %d exceptions", compared.Commands,
		compared.Commands-len(compared.Details), len(compared.Details), len(exceptions))
}
