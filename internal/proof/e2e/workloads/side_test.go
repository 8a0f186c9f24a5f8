package workloads

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/controllers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

type object = *meta.Unstructured

// resources are what scenarios create and compare.
func resources() map[string]client.Type[object] {
	all := map[string]client.Type[object]{}
	for _, t := range []client.Type[object]{
		{Version: "v1", Kind: "Pod", Resource: "pods"},
		{Version: "v1", Kind: "Service", Resource: "services"},
		{Version: "v1", Kind: "ResourceQuota", Resource: "resourcequotas"},
		{Version: "v1", Kind: "ServiceAccount", Resource: "serviceaccounts"},
		{Group: "apps", Version: "v1", Kind: "ReplicaSet", Resource: "replicasets"},
		{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"},
		{Group: "batch", Version: "v1", Kind: "Job", Resource: "jobs"},
		{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice", Resource: "endpointslices"},
	} {
		all[t.Resource] = t
	}
	return all
}

// side is one namespace of one of the two clusters.
type side struct {
	c         *client.Client
	kubelet   *controllers.Kubelet
	namespace string
}

func (s *side) of(resource string) client.Resource[object] {
	t, known := resources()[resource]
	if !known {
		panic("no resource " + resource)
	}
	return client.For(s.c, t)
}

func (s *side) key(name string) meta.Key { return meta.Key{Namespace: s.namespace, Name: name} }

// prepare makes the namespace, and waits for its service account, without which a kube-apiserver takes no pods.
func (s *side) prepare(ctx context.Context) error {
	namespaces := client.For(s.c, client.Type[object]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster})
	ns := &meta.Unstructured{Object: map[string]any{}}
	ns.SetName(s.namespace)
	if _, err := namespaces.Create(ctx, ns); err != nil {
		return err
	}
	_, err := client.WaitFor(ctx, s.of("serviceaccounts"), s.key("default"), client.UntilCreated())
	return err
}

// step is a change of a cluster.
type step struct {
	name string
	do   func(ctx context.Context, s *side) error
	// rest is how long the controllers may take to come to rest, beside the time that requests take.
	rest time.Duration
}

// create creates an object.
func create(resource, text string) step {
	return step{name: "create " + resource, do: func(ctx context.Context, s *side) error {
		obj := new(meta.Unstructured)
		if err := json.Unmarshal([]byte(text), obj); err != nil {
			return fmt.Errorf("%w in %s", err, text)
		}
		obj.SetNamespace(s.namespace)
		_, err := s.of(resource).Create(ctx, obj)
		return err
	}}
}

// change sends a merge patch.
func change(resource, name, text string) step {
	return step{name: fmt.Sprintf("change %s %s: %s", resource, name, text), do: func(ctx context.Context, s *side) error {
		_, err := s.of(resource).Patch(ctx, s.key(name), patch.Merge(json.RawMessage(text)))
		return err
	}}
}

// changeOne sends a merge patch to one of the pods with some labels.
func changeOne(labels, text string) step {
	return step{name: fmt.Sprintf("change a pod with %s: %s", labels, text), do: func(ctx context.Context, s *side) error {
		p, err := s.one(ctx, labels)
		if err != nil {
			return err
		}
		_, err = s.of("pods").Patch(ctx, meta.KeyOf(p), patch.Merge(json.RawMessage(text)))
		return err
	}}
}

// remove deletes an object.
func remove(resource, name string, how client.Propagation) step {
	return step{name: fmt.Sprintf("delete %s %s with %s", resource, name, how), do: func(ctx context.Context, s *side) error {
		return s.of(resource).Delete(ctx, s.key(name), client.DeleteOptions{Propagation: how})
	}}
}

// removeOne deletes one of the pods with some labels.
func removeOne(labels string) step {
	return step{name: "delete a pod with " + labels, do: func(ctx context.Context, s *side) error {
		p, err := s.one(ctx, labels)
		if err != nil {
			return err
		}
		return s.of("pods").Delete(ctx, meta.KeyOf(p), client.DeleteOptions{})
	}}
}

// tell calls a method of the kubelet for one of the pods with some labels.
func tell(what, labels string, say func(ctx context.Context, k *controllers.Kubelet, pod meta.Key) error) step {
	return step{name: fmt.Sprintf("%s a pod with %s", what, labels), do: func(ctx context.Context, s *side) error {
		p, err := s.one(ctx, labels)
		if err != nil {
			return err
		}
		return say(ctx, s.kubelet, meta.KeyOf(p))
	}}
}

func finish(labels string, code int) step {
	return tell(fmt.Sprintf("finish with %d", code), labels, func(ctx context.Context, k *controllers.Kubelet, pod meta.Key) error {
		return k.Finish(ctx, pod, "", code)
	})
}

func setReady(labels string, ready bool) step {
	return tell(fmt.Sprintf("set ready to %t of", ready), labels, func(ctx context.Context, k *controllers.Kubelet, pod meta.Key) error {
		return k.SetReady(ctx, pod, ready)
	})
}

func evict(labels string) step {
	return tell("evict", labels, func(ctx context.Context, k *controllers.Kubelet, pod meta.Key) error {
		return k.Evict(ctx, pod, "no memory")
	})
}

// in gives the controllers more time to come to rest.
func (s step) in(rest time.Duration) step {
	s.rest = rest
	return s
}

// one returns a pod that has labels and is active.
func (s *side) one(ctx context.Context, labels string) (object, error) {
	l, err := s.of("pods").List(ctx, client.ListOptions{Namespace: s.namespace, LabelSelector: labels})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(l.Items, func(a, b object) int { return strings.Compare(a.GetName(), b.GetName()) })
	for _, p := range l.Items {
		phase, _, _ := meta.Nested[string](p, "status", "phase")
		if phase == "Running" && !meta.IsDeleting(p) {
			return p, nil
		}
	}
	return nil, fmt.Errorf("no pod with %s runs", labels)
}

// life is what a container does: its image is "run", "unready", which never becomes ready, "stuck", which never starts,
// "slow", which takes two seconds to become ready, "lingering", which takes two seconds to stop, "deaf", which must be killed, or "exit-" and a code.
func life(c controllers.Container) controllers.Life {
	name, code, _ := strings.Cut(c.Image, "-")
	switch name {
	case "unready":
		return controllers.Life{Ready: -1}
	case "stuck":
		return controllers.Life{Start: -1}
	case "slow":
		return controllers.Life{Ready: 2 * time.Second}
	case "lingering":
		return controllers.Life{Stop: 2 * time.Second}
	case "deaf":
		return controllers.Life{Stop: -1}
	case "exit":
		l := controllers.Life{End: time.Second}
		if _, err := fmt.Sscan(code, &l.Code); err != nil {
			panic(err)
		}
		return l
	}
	return controllers.Life{}
}

// snapshot returns the objects of the namespace, each in its normal form.
func (s *side) snapshot(ctx context.Context) ([]string, error) {
	var all []string
	n := newNormalizer()
	for _, resource := range []string{"replicasets", "deployments", "pods", "jobs", "endpointslices", "serviceaccounts"} {
		l, err := s.of(resource).List(ctx, client.ListOptions{Namespace: s.namespace})
		if err != nil {
			return nil, err
		}
		if resource == "replicasets" {
			n.learnHashes(l.Items)
		}
		for _, obj := range l.Items {
			all = append(all, resource+" "+n.text(resource, obj))
		}
	}
	slices.Sort(all)
	return all, nil
}
