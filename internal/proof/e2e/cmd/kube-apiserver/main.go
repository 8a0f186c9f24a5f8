package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	"github.com/bowline-go/bowline/internal/proof/e2e/lifeline"
)

func main() {
	lifeline.Hold()
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
