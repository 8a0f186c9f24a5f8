package e2e

import (
	"bytes"
	"context"
	"os/exec"
	"syscall"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// The program of README.md, as it stands there. It installs the definition of its resource.
func TestTheFirstControllerOfTheReadmeWorks(t *testing.T) {
	c := open(t, adminConfig())
	cmd := exec.CommandContext(t.Context(), buildExample(t, "controller"))
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+plane.Kubeconfig)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	definition := meta.Key{Name: "sites.example.com"}
	t.Cleanup(func() {
		if err := client.For(c, definitions).Delete(context.WithoutCancel(t.Context()), definition, client.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := client.WaitFor(ctx, client.For(c, definitions), definition, client.UntilReady()); err != nil {
		t.Error(err)
	}
	sites := client.For(c, client.Type[object]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"})
	site := create(t, sites, "default", `{"metadata": {"name": "home"}, "spec": {"domain": "example.com"}}`)
	written := client.Until("have an address", func(site object) (bool, error) {
		url, _, err := meta.Nested[string](site, "status", "url")
		return url == "https://example.com/", err
	})
	_, waited := client.WaitFor(ctx, sites, meta.KeyOf(site), written)
	signalled := cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil || waited != nil || signalled != nil {
		t.Errorf("%v, %v, %v, and it says %s", err, waited, signalled, said.String())
	}
}
