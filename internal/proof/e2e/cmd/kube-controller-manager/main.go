// Command kube-controller-manager is Kubernetes' controllers as its module releases them, held by a lifeline: it ends when
// its standard input ends. It takes kube-controller-manager's flags. Package controlplane starts it.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/bowline-go/bowline/internal/proof/e2e/lifeline"
)

func main() {
	lifeline.Hold()
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
