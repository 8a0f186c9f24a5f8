package cluster

import (
	"testing"

	"github.com/bowline-go/bowline/client/kubeconfig"
)

func TestAMissingKubeconfigIsAnError(t *testing.T) {
	if err := onCluster(t.Context(), kubeconfig.Options{Path: t.TempDir() + "/none"}, nil); err == nil {
		t.Error("it worked")
	}
}
