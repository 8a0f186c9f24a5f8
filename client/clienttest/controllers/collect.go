package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/patch"
)

// collectAlive looks at an object that is not being deleted, and deletes it if no owner is left.
func (c *collector) collectAlive(ctx context.Context, i item) (controller.Result, error) {
	live, err := c.get(ctx, i)
	if live == nil || err != nil || len(live.OwnerReferences) == 0 {
		return controller.Result{}, err
	}
	changes := c.countChanges()
	owners, err := c.classify(ctx, i, live.OwnerReferences)
	switch _, unmapped := errors.AsType[*discovery.NoMatchError](err); {
	case errors.Is(err, errNamespacedOwner):
		return controller.Result{}, nil // a later look would find the same
	case unmapped:
		return c.wait(i, live, changes), nil
	case err != nil:
		return controller.Result{}, err
	}
	switch {
	case len(owners.solid) > 0:
		result := controller.Result{}
		if owners.unseen {
			result.RequeueAfter = unseenPeriod
		}
		return result, c.release(ctx, i, live, slices.Concat(owners.dangling, owners.waiting))
	case len(owners.waiting) > 0 && len(i.dependents) > 0:
		if err := c.breakCycle(ctx, i, live); err != nil {
			return controller.Result{}, err
		}
		return controller.Result{}, c.delete(ctx, i, live, client.Foreground)
	case slices.Contains(live.Finalizers, orphanFinalizer):
		return controller.Result{}, c.delete(ctx, i, live, client.Orphan)
	case slices.Contains(live.Finalizers, foregroundFinalizer):
		return controller.Result{}, c.delete(ctx, i, live, client.Foreground)
	}
	return controller.Result{}, c.delete(ctx, i, live, client.Background)
}

// get returns an object as it is; nil if it has gone, or another one has its name.
func (c *collector) get(ctx context.Context, i item) (*meta.Partial, error) {
	live, err := metadataOf(c.env, i.resource).Get(ctx, i.at.key)
	if errors.Is(err, apierrors.NotFound) || err == nil && live.UID != i.uid {
		return nil, nil
	}
	return live, err
}

// classified has the uids of an object's owners, by their state on the server.
type classified struct {
	solid    []string // they exist
	dangling []string // they do not exist
	waiting  []string // they wait for their dependents, in a foreground deletion
	unseen   bool     // a solid one is not in the graph
}

// errNamespacedOwner says that a cluster-scoped object names an owner of a namespaced kind.
var errNamespacedOwner = errors.New("a cluster-scoped object cannot have an owner in a namespace")

// classify asks the server about the owners of an object.
func (c *collector) classify(ctx context.Context, i item, owners []meta.OwnerReference) (by classified, _ error) {
	for _, r := range owners {
		owner, err := c.owner(ctx, i, r)
		switch {
		case err != nil:
			return by, err
		case owner == nil:
			by.dangling = append(by.dangling, r.UID)
		case phaseOf(owner) == foreground:
			by.waiting = append(by.waiting, r.UID)
		default:
			by.solid = append(by.solid, r.UID)
			_, known := c.graph.isKnown(r.UID)
			by.unseen = by.unseen || !known
		}
	}
	return by, nil
}

// owner returns the owner that a reference names; nil if it does not exist.
func (c *collector) owner(ctx context.Context, i item, r meta.OwnerReference) (*meta.Partial, error) {
	named := reference{place{r.APIVersion, r.Kind, meta.Key{Namespace: i.at.key.Namespace, Name: r.Name}}, r.UID}
	if c.graph.isAbsent(named) {
		return nil, nil
	}
	group, version := meta.SplitAPIVersion(r.APIVersion)
	resource, err := c.env.catalog.Resource(ctx, meta.GVK{Group: group, Version: version, Kind: r.Kind})
	if err != nil {
		return nil, fmt.Errorf("find the resource of the owner %s: %w", named, err)
	}
	key := named.at.key
	switch {
	case resource.Scope == meta.Cluster:
		key.Namespace = ""
	case key.Namespace == "":
		return nil, errNamespacedOwner
	}
	owner, err := metadataOf(c.env, &resource).Get(ctx, key)
	if errors.Is(err, apierrors.NotFound) || err == nil && owner.UID != r.UID {
		c.reportStray(i, named)
		c.graph.setAbsent(named)
		return nil, nil
	}
	return owner, err
}

// reportStray makes a record if an owner that was not found is in another namespace.
func (c *collector) reportStray(i item, named reference) {
	at, known := c.graph.isKnown(named.uid)
	if !known || at.key.Namespace == "" || at.key.Namespace == i.at.key.Namespace {
		return
	}
	about := recorder.For(c.records, client.Retype[*meta.Partial](client.For(c.env.client, i.resource.Type())).Type())
	about.Warningf(&meta.Partial{ObjectMeta: meta.ObjectMeta{Namespace: i.at.key.Namespace, Name: i.at.key.Name, UID: i.uid}},
		"OwnerRefInvalidNamespace", "ownerRef %s does not exist in namespace %q", named, i.at.key.Namespace)
}

// release removes the references to some owners from an object.
func (c *collector) release(ctx context.Context, i item, live *meta.Partial, uids []string) error {
	left := slices.DeleteFunc(slices.Clone(live.OwnerReferences), func(r meta.OwnerReference) bool { return slices.Contains(uids, r.UID) })
	if len(left) == len(live.OwnerReferences) {
		return nil
	}
	return c.setOwners(ctx, i, live, left)
}

// setOwners writes the owners of an object, unless it has changed since it was read.
func (c *collector) setOwners(ctx context.Context, i item, live *meta.Partial, owners []meta.OwnerReference) error {
	change := patch.Merge(map[string]any{"metadata": map[string]any{"ownerReferences": owners}}).WithResourceVersion(live.ResourceVersion)
	_, err := metadataOf(c.env, i.resource).Patch(ctx, i.at.key, change)
	return apierrors.Ignore(err, apierrors.NotFound)
}

// breakCycle changes the owner references of an object so that the object no longer blocks its owners. It does that
// only if one of the object's dependents waits for its own dependents, because that dependent may be one of the owners.
// The deletion that follows then fails with a Conflict, because the object has changed, and the collector looks at the
// object again. By then the owners may have gone, or may no longer wait. Kubernetes' collector does the same.
func (c *collector) breakCycle(ctx context.Context, i item, live *meta.Partial) error {
	if !slices.ContainsFunc(i.dependents, func(d item) bool { return d.waited }) || !slices.ContainsFunc(live.OwnerReferences, blocking) {
		return nil
	}
	owners := slices.Clone(live.OwnerReferences)
	for n := range owners {
		if blocking(owners[n]) {
			owners[n].BlockOwnerDeletion = new(false)
		}
	}
	return c.setOwners(ctx, i, live, owners)
}

// delete deletes an object, unless it has changed since it was read. A change that leaves the owners as they were does
// not matter: delete then tries again without the version.
func (c *collector) delete(ctx context.Context, i item, live *meta.Partial, p client.Propagation) error {
	r := metadataOf(c.env, i.resource)
	o := client.DeleteOptions{UID: i.uid, ResourceVersion: live.ResourceVersion, Propagation: p}
	err := r.Delete(ctx, i.at.key, o)
	if errors.Is(err, apierrors.Conflict) {
		now, failed := c.get(ctx, i)
		if failed != nil || now == nil {
			return failed
		}
		if slices.EqualFunc(now.OwnerReferences, live.OwnerReferences, sameReference) {
			o.ResourceVersion = ""
			err = r.Delete(ctx, i.at.key, o)
		}
	}
	return apierrors.Ignore(err, apierrors.NotFound)
}

// orphan removes the references to an object from its dependents, and then the finalizer from the object.
func (c *collector) orphan(ctx context.Context, i item) error {
	var errs []error
	for _, d := range i.dependents {
		live, err := c.get(ctx, d)
		if err == nil && live != nil {
			err = c.release(ctx, d, live, []string{i.uid})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("orphan %s %s: %w", d.at.kind, d.at.key, err))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return c.removeFinalizer(ctx, i, orphanFinalizer)
}
