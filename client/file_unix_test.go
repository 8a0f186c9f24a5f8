//go:build unix

package client_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/kubeconfig"
)

// A pipe in the place of a token, a certificate, an authority or a kubeconfig held every call, past its context: to open it waits
// for somebody who writes.
func TestAPipeInThePlaceOfAFileIsAnError(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*client.Config){
		"read Config.BearerTokenFile": func(c *client.Config) { c.BearerTokenFile = pipe },
		"read TLS.CAFile":             func(c *client.Config) { c.TLS.CAFile = pipe },
		"read TLS.CertFile":           func(c *client.Config) { c.TLS.CertFile, c.TLS.KeyFile = pipe, pipe },
	} {
		cfg := serve(t, says(object("a", "1")))
		cfg.Retry = client.Retry{Attempts: 1}
		change(&cfg)
		_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
		wantErr(t, err, name+": read "+pipe+": is not a regular file but a pipe")
	}
	_, err := kubeconfig.Load(kubeconfig.Options{Path: pipe})
	if err == nil || !strings.HasSuffix(err.Error(), "pipe: cannot be read: is not a regular file but a pipe") {
		t.Errorf("Load: error is %v", err)
	}
}
