package tenant_test

import (
	"flag"
	"os/exec"
	"testing"

	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/internal/proof/e2e/tenant"
)

var update = flag.Bool("update", false, "write the files that come from the types and from what the tests see")

func TestTheFilesAreWhatTheTypesSay(t *testing.T) {
	args := []string{"run", "github.com/bowline-go/bowline/client/typegen", "-crd", "-check", "-o", "descriptions.go", "Tenant", "OldTenant"}
	if *update {
		args = append(args[:3], args[4:]...)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Errorf("go generate writes another descriptions.go: %v\n%s", err, out)
	}
	if err := crd.CheckFile("crd.yaml", *update, tenant.Definition(service)); err != nil {
		t.Error(err)
	}
}
