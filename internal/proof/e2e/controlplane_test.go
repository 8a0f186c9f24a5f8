package e2e

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/controlplane"
)

// failToStart starts a control plane that has to fail, and sees to it that nothing of it is left on disk.
func failToStart(t *testing.T, ctx context.Context, o controlplane.Options) error {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	p, err := controlplane.Start(ctx, o)
	if err == nil {
		t.Fatalf("the control plane started; stop: %v", p.Stop())
	}
	if left, readErr := os.ReadDir(dir); readErr != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v), want nothing", left, readErr)
	}
	return err
}

func TestAControlPlaneThatRefusesItsFlagsSaysSo(t *testing.T) {
	err := failToStart(t, t.Context(), servers("--no-such-flag"))
	for _, want := range []string{
		"start control plane: kube-apiserver ended by itself: exit status 1; end of its log:\n",
		"unknown flag: --no-such-flag",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
}

func TestAStartEndsWithItsContext(t *testing.T) {
	// Enough for etcd, and not for the API server; whatever it is at by then, it has to end.
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := failToStart(t, ctx, servers()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want that the deadline was exceeded", err)
	}
}

func TestControlPlanesRunSideBySide(t *testing.T) {
	p, err := controlplane.Start(t.Context(), servers())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Kubectl(t.Context(), "create", "namespace", "side-by-side"); err != nil {
		t.Error(err)
	}
	if out, err := plane.Kubectl(t.Context(), "get", "namespace", "side-by-side"); err == nil {
		t.Errorf("the other control plane has the same namespace: %s", out)
	}
	for range 2 {
		if err := p.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	if _, err := os.Stat(p.Kubeconfig); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kubeconfig after Stop: %v, want that it is gone", err)
	}
}
