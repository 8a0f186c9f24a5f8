package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/controlplane"
	"github.com/bowline-go/bowline/internal/controlplane/build"
)

// Options say which servers run, and what they have from the start. The zero value is an API server of the newest minor
// release in [Minors], without custom resources.
type Options struct {
	// Minor is the minor release of Kubernetes, one of [Minors], such as "1.37". Empty means the newest.
	Minor string

	// CRDs are files and folders with CustomResourceDefinitions in YAML or JSON, as in clienttest.Options. When the server
	// is ready, their resources are served and discovery lists them.
	CRDs []string

	// Objects are files and folders with objects of all other kinds, as in clienttest.Options: they are created in their
	// order after the definitions, and so are the namespaces that they are in. A real server drops their status.
	Objects []string

	// Resources become CustomResourceDefinitions. A resource without a Schema keeps unknown fields, as on clienttest. A
	// real server requires a Group, and for SelectableFields a Schema that has them.
	Resources []clienttest.Resource

	// ControllerManager also runs kube-controller-manager, with all controllers that it runs by default: the garbage
	// collector, namespaces, deployments, jobs, service accounts and others. Then pods also get a service account, and
	// client certificates are signed.
	ControllerManager bool

	// Flags are further flags of kube-apiserver, such as "--feature-gates=ShardedListAndWatch=true". They come after those
	// of this package, and the last one of a name counts.
	Flags []string

	// Progress receives the progress of a build, a line every ten seconds. If it is nil, Start writes to the test's
	// output, which `go test` shows only with -v or after a failure; Run and Build write nothing.
	Progress io.Writer

	bin string // a directory with the programs of a test of this package, instead of those that are built
}

// Minors returns the minor releases of Kubernetes that Start knows, such as "1.37", the newest first.
func Minors() []string { return build.Minors() }

// Build builds the servers that Start would need for o, if they are missing. The error says what the build lacks, and
// has the words of the go command.
func Build(ctx context.Context, o Options) error {
	if err := o.validate(); err != nil {
		return err
	}
	return o.build(ctx)
}

func (o Options) build(ctx context.Context) error {
	if o.bin != "" {
		return nil
	}
	_, err := build.Programs(ctx, o.Minor, o.plane().Programs(), o.Progress)
	return err
}

// plane returns the options of the control plane.
func (o Options) plane() controlplane.Options {
	return controlplane.Options{
		Kubernetes: o.Minor, ServerFlags: o.Flags, ControllerManager: o.ControllerManager, Progress: o.Progress, Bin: o.bin,
	}
}

// validate returns every reason why o cannot be used.
func (o Options) validate() error {
	var errs []error
	if _, err := build.Resolve(o.Minor); err != nil {
		errs = append(errs, fmt.Errorf("apiserver.Options: Minor: %w", err))
	}
	for i, flag := range o.Flags {
		if !strings.HasPrefix(flag, "--") || len(flag) == len("--") {
			errs = append(errs, fmt.Errorf("apiserver.Options: Flags[%d] must be a flag of kube-apiserver such as --name=value, got %q", i, flag))
		}
	}
	for i, r := range o.Resources {
		if _, err := definitionOf(r); err != nil {
			errs = append(errs, fmt.Errorf("apiserver.Options: Resources[%d]: %w", i, err))
		}
	}
	return errors.Join(errs...)
}
