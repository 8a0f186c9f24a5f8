// Command controllerruntime runs the operator of package copies/controllerruntime.
package main

import (
	"flag"
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	copies "github.com/bowline-go/bowline/internal/proof/bench/copies/controllerruntime"
)

func main() {
	flag.Parse() // controller-runtime has registered the flag -kubeconfig
	config, err := ctrl.GetConfig()
	if err == nil {
		err = copies.Run(ctrl.SetupSignalHandler(), config, "default")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
