package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// contents describes the objects that are left in a namespace after an attempt to delete all of them.
type contents struct {
	discovery  error          // why the resources are not all known
	failed     []error        // why objects could not be deleted
	objects    map[string]int // how many are left, by the name and the group of their resource
	finalizers map[string]int // on how many objects each finalizer is
	estimate   time.Duration  // how long the remaining objects are expected to take
	podsOnly   bool           // pods are left, so nothing else was looked at
}

// finalizing is how long finalizers are expected to take.
const finalizing = 15 * time.Second

// empty deletes the contents of a namespace.
func (c *terminator) empty(ctx context.Context, n *namespace) *contents {
	found := &contents{objects: map[string]int{}, finalizers: map[string]int{}}
	c.env.catalog.Invalidate()
	all, err := c.env.catalog.Preferred(ctx)
	found.discovery = err
	all = slices.DeleteFunc(all, func(r discovery.Resource) bool { return r.Scope != meta.Namespaced || !r.Can("delete") })
	isPods := func(r discovery.Resource) bool { return r.Group == "" && r.Name == "pods" }
	for _, r := range all {
		if isPods(r) {
			if err := c.emptyResource(ctx, n, r, found); err != nil {
				found.failed = append(found.failed, fmt.Errorf("failed to delete pods for namespace: %s, err: %w", n.Name, err))
			}
		}
	}
	if found.podsOnly = len(found.objects) > 0; found.podsOnly {
		return found
	}
	for _, r := range all {
		if !isPods(r) {
			if err := c.emptyResource(ctx, n, r, found); err != nil {
				found.failed = append(found.failed, err)
			}
		}
	}
	return found
}

// emptyResource deletes the objects of one resource, and notes in found what is left.
func (c *terminator) emptyResource(ctx context.Context, n *namespace, r discovery.Resource, found *contents) error {
	objects := metadataOf(c.env, &r).In(n.Name)
	before, err := list(ctx, objects, r)
	if err != nil || len(before) == 0 {
		return err
	}
	estimate, err := c.podsEnd(ctx, n, r)
	if err == nil {
		err = deleteAll(ctx, objects, r, before)
	}
	if err != nil {
		return err
	}
	left, err := list(ctx, objects, r)
	if err != nil || len(left) == 0 {
		return err
	}
	found.objects[r.Name+"."+r.Group] += len(left)
	finalizers := 0
	for _, o := range left {
		for _, f := range o.Finalizers {
			found.finalizers[f]++
			finalizers++
		}
	}
	if estimate == 0 && finalizers > 0 {
		estimate = finalizing
	}
	if found.estimate = max(found.estimate, estimate); estimate == 0 {
		return fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %s/%s, Resource=%s", n.Name, r.Group, r.Version, r.Name)
	}
	return nil
}

// list returns the objects of a resource; none if the resource has gone or cannot be listed.
func list(ctx context.Context, objects client.Resource[*meta.Partial], r discovery.Resource) ([]*meta.Partial, error) {
	if !r.Can("list") {
		return nil, nil
	}
	found, err := objects.List(ctx, client.ListOptions{})
	return found.Items, apierrors.Ignore(err, apierrors.NotFound, apierrors.MethodNotAllowed)
}

// deleteAll deletes the objects of a resource.
func deleteAll(ctx context.Context, objects client.Resource[*meta.Partial], r discovery.Resource, all []*meta.Partial) error {
	o := client.DeleteOptions{Propagation: client.Background}
	if r.Can("deletecollection") {
		err := objects.DeleteCollection(ctx, client.Selection{Everything: true}, o)
		return apierrors.Ignore(err, apierrors.NotFound, apierrors.MethodNotAllowed)
	}
	for _, one := range all {
		if err := objects.Delete(ctx, one.Key(), o); apierrors.Ignore(err, apierrors.NotFound, apierrors.MethodNotAllowed) != nil {
			return err
		}
	}
	return nil
}

// pod has the fields that decide how long a pod may take to end.
type pod struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		Grace int64 `json:"terminationGracePeriodSeconds"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// podsEnd returns how long the pods of a namespace may take to end: the longest grace period of those that have not
// ended, or 0 if the namespace has been terminating for that long. It is 0 for other resources.
func (c *terminator) podsEnd(ctx context.Context, n *namespace, r discovery.Resource) (time.Duration, error) {
	if r.Group != "" || r.Name != "pods" {
		return 0, nil
	}
	pods, err := client.Retype[*pod](client.For(c.env.client, r.Type())).In(n.Name).List(ctx, client.ListOptions{})
	if err != nil {
		return 0, err
	}
	longest := time.Duration(0)
	for _, p := range pods.Items {
		if p.Status.Phase != "Succeeded" && p.Status.Phase != "Failed" {
			longest = max(longest, time.Duration(p.Spec.Grace)*time.Second)
		}
	}
	if time.Since(n.DeletionTimestamp.Time) >= longest {
		return 0, nil
	}
	return longest, nil
}

// err returns why the attempt has to be repeated soon.
func (c *contents) err() error { return errors.Join(append(c.failed, c.discovery)...) }

// conditions returns the conditions of the namespace, in the words of Kubernetes' controller.
func (c *contents) conditions() []meta.Condition {
	all := []meta.Condition{
		{Type: "NamespaceDeletionDiscoveryFailure", Reason: "ResourcesDiscovered", Message: "All resources successfully discovered"},
		{Type: "NamespaceDeletionGroupVersionParsingFailure", Reason: "ParsedGroupVersions", Message: "All legacy kube types successfully parsed"},
		{
			Type: "NamespaceDeletionContentFailure", Reason: "ContentDeleted",
			Message: "All content successfully deleted, may be waiting on finalization",
		},
		{Type: "NamespaceContentRemaining", Reason: "ContentRemoved", Message: "All content successfully removed"},
		{Type: "NamespaceFinalizersRemaining", Reason: "ContentHasNoFinalizers", Message: "All content-preserving finalizers finished"},
	}
	for i := range all {
		all[i].Status = meta.ConditionFalse
	}
	bad := func(i int, reason, message string) {
		all[i].Status, all[i].Reason, all[i].Message = meta.ConditionTrue, reason, message
	}
	if c.discovery != nil {
		bad(0, "DiscoveryFailed", c.discoveryMessage())
	}
	if len(c.failed) > 0 {
		bad(2, "ContentDeletionFailed", fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(c.failed), joined(c.failed)))
	}
	if c.podsOnly { // the other objects are not known
		return all
	}
	if len(c.objects) > 0 {
		bad(3, "SomeResourcesRemain", "Some resources are remaining: "+counted(c.objects, "%s has %d resource instances"))
	}
	if len(c.finalizers) > 0 {
		bad(4, "SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: "+counted(c.finalizers, "%s in %d resource instances"))
	}
	return all
}

func (c *contents) discoveryMessage() string {
	if down, ok := errors.AsType[*discovery.DownError](c.discovery); ok {
		return fmt.Sprintf("Discovery failed for some groups, %d failing: %v", len(down.Failed), down)
	}
	return c.discovery.Error()
}

// joined returns the texts of errors, in order.
func joined(errs []error) string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

// counted returns the numbers of remaining objects as sorted text.
func counted(numbers map[string]int, format string) string {
	var texts []string
	for name, n := range numbers {
		texts = append(texts, fmt.Sprintf(format, name, n))
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}
