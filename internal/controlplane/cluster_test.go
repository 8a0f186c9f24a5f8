package controlplane

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A temporary directory with a long path, as that of a test, kept the control plane from starting: "bind: invalid argument".
func TestTheSocketHasAPathThatTheSystemAllows(t *testing.T) {
	for name, dir := range map[string]string{"short": t.TempDir(), "long": filepath.Join(t.TempDir(), strings.Repeat("d", 120))} {
		p := &ControlPlane{dir: dir}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := p.startCluster(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		socket := filepath.Join(p.cluster.dir, socketName)
		c, err := net.Dial("unix", socket)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else {
			_ = c.Close()
		}
		if err := p.cluster.stop(); err != nil {
			t.Errorf("%s: stop: %v", name, err)
		}
		if left, _ := filepath.Glob(p.cluster.dir); len(left) > 0 {
			t.Errorf("%s: left behind: %v", name, left)
		}
	}
}
