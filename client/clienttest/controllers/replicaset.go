package controllers

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// ReplicaSets returns the controller that keeps the number of pods of each ReplicaSet: it adopts and releases pods,
// creates missing ones, deletes surplus ones in the order of a cluster, and writes the status.
func ReplicaSets() Controller { return replicaSetController{} }

type replicaSetController struct{}

func (replicaSetController) name() string { return "replica set controller" }

// replicaSet has the fields of a ReplicaSet that its controller and that of deployments use.
type replicaSet struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Replicas        *int                `json:"replicas,omitempty"`
		MinReadySeconds int                 `json:"minReadySeconds,omitempty"`
		Selector        *meta.LabelSelector `json:"selector"`
		Template        template            `json:"template,omitzero"`
	} `json:"spec"`
	Status replicaSetStatus `json:"status,omitzero"`
}

type replicaSetStatus struct {
	Replicas             int                 `json:"replicas"`
	FullyLabeledReplicas int                 `json:"fullyLabeledReplicas,omitempty"`
	ReadyReplicas        int                 `json:"readyReplicas,omitempty"`
	AvailableReplicas    int                 `json:"availableReplicas,omitempty"`
	TerminatingReplicas  *int                `json:"terminatingReplicas,omitempty"`
	ObservedGeneration   int64               `json:"observedGeneration,omitempty"`
	Conditions           []workloadCondition `json:"conditions,omitempty"`
}

// workloadCondition is a condition of a ReplicaSet or a Deployment. Only those of deployments have LastUpdateTime.
type workloadCondition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	LastUpdateTime     meta.Time `json:"lastUpdateTime,omitzero"`
	LastTransitionTime meta.Time `json:"lastTransitionTime,omitzero"`
	Reason             string    `json:"reason,omitempty"`
	Message            string    `json:"message,omitempty"`
}

// replicaFailure is the condition of a replica set that cannot create or delete pods.
const replicaFailure = "ReplicaFailure"

func replicaSetType() client.Type[*replicaSet] {
	return client.Type[*replicaSet]{Group: "apps", Version: "v1", Kind: "ReplicaSet", Resource: "replicasets"}
}

// replicas returns how many pods the set should have.
func (rs *replicaSet) replicas() int {
	if rs.Spec.Replicas == nil {
		return 1 // the server's default
	}
	return *rs.Spec.Replicas
}

// replicaSets has the clients, caches and indexes of the controller of replica sets.
type replicaSets struct {
	sets     client.Resource[*replicaSet]
	pods     client.Resource[*podObject]
	setCache cache.Reader[*replicaSet]
	podCache cache.Reader[*podObject]
	podsOf   *cache.Index[ownedBy, *podObject]
	setsOf   *cache.Index[ownedBy, *replicaSet]
}

func (replicaSetController) run(ctx context.Context, env *environment) error {
	sets, pods := cached(env, replicaSetType()), cached(env, podType())
	c := &replicaSets{
		sets: client.For(env.client, replicaSetType()), pods: client.For(env.client, podType()),
		setCache: sets.Reader(), podCache: pods.Reader(),
		podsOf: cache.NewValueIndex(pods.Reader(), byController[*podObject]),
		setsOf: cache.NewValueIndex(sets.Reader(), byController[*replicaSet]),
	}
	defer c.podsOf.Close()
	defer c.setsOf.Close()
	return informer.Run(ctx, controller.New("replicasets", controller.Options{Workers: workers}, c.reconcile,
		controller.Watch(sets),
		controller.Owns(pods, replicaSetType()),
		controller.Map(pods, c.adopters), controller.Reads[meta.Key](pods),
		controller.Fresh[meta.Key](sets, pods)))
}

// adopters returns the sets that select a pod without a controller.
func (c *replicaSets) adopters(p *podObject) (keys []meta.Key) {
	if _, has := meta.ControllerOf(p); has {
		return nil
	}
	for set := range c.setCache.Namespace(p.Namespace) {
		if s, err := set.Spec.Selector.Selector(); err == nil && s.Matches(p.Labels) {
			keys = append(keys, set.Key())
		}
	}
	return keys
}

func (c *replicaSets) reconcile(ctx context.Context, key meta.Key) (controller.Result, error) {
	set, found := c.setCache.Get(key)
	if !found {
		return controller.Result{}, nil
	}
	selector, err := set.Spec.Selector.Selector()
	if err != nil {
		return controller.Result{}, controller.Terminal(err)
	}
	candidates := slices.Collect(c.candidates(set))
	active := slices.DeleteFunc(slices.Clone(candidates), func(p *podObject) bool { return !p.isActive() })
	claimed := claim[*podObject]{
		objects: c.pods, owner: client.OwnerOf(replicaSetType(), set), uid: set.UID, deleting: meta.IsDeleting(set),
		selector: selector, check: stillThere(c.sets, set),
	}
	pods, err := claimed.run(ctx, slices.Values(active))
	if err != nil {
		return controller.Result{}, err
	}
	terminating := 0
	for _, p := range candidates {
		if owner, _ := meta.ControllerOf(p); owner.UID == set.UID && p.isTerminating() && selector.Matches(p.Labels) {
			terminating++
		}
	}
	var failure error
	if !meta.IsDeleting(set) {
		failure = c.scale(ctx, set, pods)
	}
	now := time.Now()
	counted := meta.Clone(set)
	counted.Status = set.status(pods, terminating, failure, now)
	if _, err := write(ctx, c.sets.Status().Patch, set, counted); err != nil {
		return controller.Result{}, errors.Join(failure, unlessGone(err))
	}
	return controller.Result{RequeueAt: nextAvailable(pods, set.Spec.MinReadySeconds, now)}, failure
}

// candidates are the pods that the set controls, and those that nobody controls.
func (c *replicaSets) candidates(set *replicaSet) iter.Seq[*podObject] {
	return func(yield func(*podObject) bool) {
		for _, uid := range []string{set.UID, ""} {
			for p := range c.podsOf.Get(ownedBy{set.Namespace, uid}) {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// burst is how many pods one reconcile creates or deletes at most.
const burst = 500

// scale creates missing pods, or deletes surplus ones.
func (c *replicaSets) scale(ctx context.Context, set *replicaSet, pods []*podObject) error {
	missing := set.replicas() - len(pods)
	for range min(missing, burst) {
		p := set.Spec.Template.pod(set.Namespace, prefix(set.Name))
		if err := createPod(ctx, c.pods, p, client.OwnerOf(replicaSetType(), set)); err != nil {
			return err
		}
	}
	if missing >= 0 {
		return nil
	}
	var errs []error
	for _, p := range surplus(pods, c.siblings(set), min(-missing, burst)) {
		errs = append(errs, apierrors.Ignore(c.pods.Delete(ctx, p.Key(), client.DeleteOptions{}), apierrors.NotFound))
	}
	return errors.Join(errs...)
}

// siblings counts, by node, the active pods of all sets that have the same controller as this one.
func (c *replicaSets) siblings(set *replicaSet) map[string]int {
	sets := []*replicaSet{set}
	if owner, has := meta.ControllerOf(set); has {
		sets = slices.Collect(c.setsOf.Get(ownedBy{set.Namespace, owner.UID}))
	}
	onNode, seen := map[string]int{}, map[string]bool{}
	for _, s := range sets {
		selector, err := s.Spec.Selector.Selector()
		if err != nil {
			continue // selects nothing
		}
		for p := range c.podCache.Namespace(s.Namespace) {
			if p.isActive() && selector.Matches(p.Labels) && !seen[p.UID] {
				seen[p.UID] = true
				onNode[p.Spec.NodeName]++
			}
		}
	}
	return onNode
}
