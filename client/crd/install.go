package crd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

var errNil = errors.New("crd: the definition must not be nil; crd.Of makes one")

// InstallOptions choose what [InstallWith] may change. The zero value is the behaviour of [Install].
type InstallOptions struct {
	// Drop names versions that may be dropped although clients may use them. Install still refuses to drop a version in
	// which objects may be stored (status.storedVersions), because the server refuses that too. First write all objects
	// again in another version, and remove the name from status.storedVersions, as Kubernetes' storage version
	// migration does.
	Drop []string
	// Narrow permits schemas that refuse or drop values which objects may have.
	Narrow bool
	// Timeout limits the wait for the server to serve the resource. Zero means one minute. The context may end it
	// earlier.
	Timeout time.Duration
}

// RefusedError is the error of a change that could break clients or objects, or that no server accepts. The definition
// is unchanged. Earlier definitions of the same call of Install may have been written.
type RefusedError struct {
	// Plan has all changes.
	Plan Plan
	// Reasons are the changes with a Danger that the options do not permit.
	Reasons []Change
	// Stored are those dropped versions in which objects may be stored.
	Stored []string
}

// Error returns a line for each reason, and a line that says how to proceed.
func (e *RefusedError) Error() string {
	var b strings.Builder
	b.WriteString("the change is refused:")
	for _, c := range e.Reasons {
		b.WriteString("\n  " + c.String())
	}
	has := func(danger Danger) bool {
		return slices.ContainsFunc(e.Reasons, func(c Change) bool { return c.Danger == danger })
	}
	if has(Fixed) {
		b.WriteString("\nno server changes that; the definition must be deleted, with all objects, and made again")
	}
	if has(Narrowed) {
		b.WriteString("\nthere are objects; InstallOptions.Narrow permits it")
	}
	switch {
	case len(e.Stored) > 0:
		fmt.Fprintf(&b, "\nobjects may be stored in %q: write each object again, then remove the version from status.storedVersions", e.Stored)
	case has(Dropped):
		b.WriteString("\nInstallOptions.Drop permits it")
	}
	return b.String()
}

// Install creates the definitions at the server or updates the server's definitions, and waits until the server serves
// the resources (condition Established). It writes nothing if the server already has them. Several programs may install
// the same definitions at once.
//
// If the server has another definition, Install replaces its spec. Labels and annotations that the definition does not
// have stay, and so does a CABundle that it leaves empty. Install returns a [*RefusedError] if a change drops a version
// that is served or in which objects may be stored, if no server accepts the change, or if the change narrows a schema
// and there are objects. So an older release of a program, which lacks a field of the newer one, does not undo the
// newer schema while there are objects: its Install fails. [PlanOf] returns the changes without making them.
//
// Install needs the permissions get, create, update, list and watch for customresourcedefinitions, and, only when a
// schema is narrowed, list for the resource. Install does not notice an object that is created between that list and
// the write. A server may take some milliseconds after Install to use a changed schema.
func Install(ctx context.Context, c *client.Client, defs ...*Definition) error {
	return InstallWith(ctx, c, defs, InstallOptions{})
}

// InstallWith is [Install] with options.
func InstallWith(ctx context.Context, c *client.Client, defs []*Definition, o InstallOptions) error {
	if o.Timeout < 0 {
		return fmt.Errorf("crd.InstallOptions: Timeout must not be negative, got %v", o.Timeout)
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(o.Timeout, time.Minute))
	defer cancel()
	i := installer{c: c, o: o, handle: client.For(c, Definitions())}
	for _, want := range defs {
		if want == nil {
			return errNil
		}
		if err := i.write(ctx, want); err != nil {
			return fmt.Errorf("crd.Install %s: %w", want.Name, err)
		}
	}
	for _, want := range defs {
		if _, err := client.WaitFor(ctx, i.handle, meta.Key{Name: want.Name}, client.UntilReady()); err != nil {
			return fmt.Errorf("crd.Install %s: %w", want.Name, err)
		}
	}
	return nil
}

// installer installs definitions.
type installer struct {
	c      *client.Client
	o      InstallOptions
	handle client.Resource[*Definition]
}

// write creates a definition, or changes the server's. Other programs may create or delete it at the same time.
func (i installer) write(ctx context.Context, want *Definition) error {
	for {
		_, err := i.handle.Modify(ctx, meta.Key{Name: want.Name}, func(live *Definition) error { return i.change(ctx, live, want) })
		if !errors.Is(err, apierrors.NotFound) {
			return err
		}
		made := meta.Clone(want)
		made.Status = Status{}
		made.ResourceVersion, made.UID = "", ""
		if _, err = i.handle.Create(ctx, made); !errors.Is(err, apierrors.AlreadyExists) {
			return err
		}
	}
}

// change turns the server's definition into the wanted one.
func (i installer) change(ctx context.Context, live, want *Definition) error {
	if live.DeletionTimestamp != nil {
		return errors.New("the definition is being deleted, which lasts until all its objects are gone; install it again then")
	}
	plan := Compare(live, want)
	if len(plan.Changes) == 0 {
		return nil
	}
	if err := i.permit(ctx, live, plan); err != nil {
		return err
	}
	is := overlay(live, want)
	live.Labels, live.Annotations, live.Spec = is.Labels, is.Annotations, is.Spec
	return nil
}

// permit returns a RefusedError unless the options permit the changes.
func (i installer) permit(ctx context.Context, live *Definition, plan Plan) error {
	e := &RefusedError{Plan: plan}
	var narrowed []Change
	for _, c := range plan.Changes {
		version, _, _ := strings.Cut(c.Path, ".")
		stored := c.Path == version && slices.Contains(live.Status.StoredVersions, version)
		switch {
		case c.Danger == Fixed, c.Danger == Dropped && (stored || !slices.Contains(i.o.Drop, version)):
			e.Reasons = append(e.Reasons, c)
			if c.Danger == Dropped && stored {
				e.Stored = append(e.Stored, version)
			}
		case c.Danger == Narrowed && !i.o.Narrow:
			narrowed = append(narrowed, c)
		}
	}
	if len(narrowed) > 0 {
		found, err := i.hasObjects(ctx, live)
		if err != nil {
			return fmt.Errorf("%s narrows the schema, and whether there are objects is unknown: %w", narrowed[0], err)
		}
		if found {
			e.Reasons = append(e.Reasons, narrowed...)
		}
	}
	if len(e.Reasons) > 0 {
		return e
	}
	return nil
}

// hasObjects reports whether the resource of the server's definition has objects.
func (i installer) hasObjects(ctx context.Context, live *Definition) (bool, error) {
	at := slices.IndexFunc(live.Spec.Versions, func(v Version) bool { return v.Served })
	if at < 0 {
		return true, nil // no version can be read, and objects may be stored
	}
	t := client.Type[*meta.Partial]{
		Group: live.Spec.Group, Version: live.Spec.Versions[at].Name, Kind: live.Spec.Names.Kind, ListKind: live.Spec.Names.ListKind,
		Resource: live.Spec.Names.Plural,
	}
	if live.Spec.Scope == meta.Cluster.String() {
		t.Scope = meta.Cluster
	}
	for _, err := range client.Metadata(client.For(i.c, t)).All(ctx, client.ListOptions{PageSize: 1}) {
		if errors.Is(err, apierrors.NotFound) && !meta.IsConditionTrue(live.Status.Conditions, "Established") {
			return false, nil // the resource is not served, so nobody could create objects
		}
		return err == nil, err
	}
	return false, nil
}
