//go:build unix

package kubeconfig

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe in the place of a file held Load for ever. No function here has a context, so none may wait for one.
func TestAPipeInThePlaceOfAFileIsAnError(t *testing.T) {
	pipe := func(t *testing.T, name string) string {
		t.Helper()
		if err := errors.Join(os.RemoveAll(name), syscall.Mkfifo(name, 0o600)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	refused := func(t *testing.T, err error, file string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "is not a regular file") || !strings.Contains(err.Error(), file) {
			t.Errorf("error is %v, want one that names %s as a pipe", err, file)
		}
	}
	t.Run("kubeconfig", func(t *testing.T) {
		file := pipe(t, filepath.Join(t.TempDir(), "config"))
		_, err := Load(Options{Path: file})
		refused(t, err, file)
		_, err = Contexts(Options{Path: file})
		refused(t, err, file)
		refused(t, Write(t.Context(), Options{Path: file}, Change{Current: "x"}), file)
		t.Setenv("KUBECONFIG", file)
		_, err = Load(Options{})
		refused(t, err, file)
	})
	t.Run("a file that it names", func(t *testing.T) {
		dir := t.TempDir()
		ca, file := pipe(t, filepath.Join(dir, "ca.crt")), filepath.Join(dir, "config")
		text := "{clusters: [{name: a, cluster: {server: 'https://a', certificate-authority: ca.crt}}], contexts: [{name: a, context: {cluster: a}}], current-context: a}"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(Options{Path: file})
		refused(t, err, ca)
	})
	for _, name := range []string{"token", "ca.crt", "namespace"} {
		t.Run("service account's "+name, func(t *testing.T) {
			dir := t.TempDir()
			for _, n := range []string{"token", "ca.crt", "namespace"} {
				if err := os.WriteFile(filepath.Join(dir, n), []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			file := pipe(t, filepath.Join(dir, name))
			t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
			t.Setenv("KUBERNETES_SERVICE_PORT", "443")
			_, err := inCluster(dir)
			refused(t, err, file)
		})
	}
}
