package controllers

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// Jobs returns the controller that runs Jobs: it makes their pods, counts how they end, makes others for those that
// failed, after a time that grows, and decides when a job is complete or has failed. It deletes finished jobs with
// ttlSecondsAfterFinished, which another controller does in a cluster. It supports all fields of a job.
func Jobs() Controller { return jobController{} }

type jobController struct{}

func (jobController) name() string { return "job controller" }

// job has the fields of a Job that its controller uses.
type job struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            jobSpec   `json:"spec"`
	Status          jobStatus `json:"status,omitzero"`
}

type jobSpec struct {
	Parallelism             *int                `json:"parallelism,omitempty"`
	Completions             *int                `json:"completions,omitempty"`
	ActiveDeadlineSeconds   *int64              `json:"activeDeadlineSeconds,omitempty"`
	BackoffLimit            *int                `json:"backoffLimit,omitempty"`
	BackoffLimitPerIndex    *int                `json:"backoffLimitPerIndex,omitempty"`
	MaxFailedIndexes        *int                `json:"maxFailedIndexes,omitempty"`
	Selector                *meta.LabelSelector `json:"selector,omitempty"`
	Template                template            `json:"template,omitzero"`
	TTLSecondsAfterFinished *int                `json:"ttlSecondsAfterFinished,omitempty"`
	CompletionMode          string              `json:"completionMode,omitempty"`
	Suspend                 bool                `json:"suspend,omitempty"`
	PodReplacementPolicy    string              `json:"podReplacementPolicy,omitempty"`
	PodFailurePolicy        *podFailurePolicy   `json:"podFailurePolicy,omitempty"`
	SuccessPolicy           *successPolicy      `json:"successPolicy,omitempty"`
	ManagedBy               string              `json:"managedBy,omitempty"`
}

type jobStatus struct {
	Conditions       []jobCondition `json:"conditions,omitempty"`
	StartTime        *meta.Time     `json:"startTime,omitempty"`
	CompletionTime   *meta.Time     `json:"completionTime,omitempty"`
	Active           int            `json:"active,omitempty"`
	Succeeded        int            `json:"succeeded,omitempty"`
	Failed           int            `json:"failed,omitempty"`
	Terminating      *int           `json:"terminating,omitempty"`
	CompletedIndexes string         `json:"completedIndexes,omitempty"`
	FailedIndexes    *string        `json:"failedIndexes,omitempty"`
	Uncounted        *uncounted     `json:"uncountedTerminatedPods,omitempty"`
	Ready            *int           `json:"ready,omitempty"`
}

// uncounted has the uids of pods that have ended, still have the finalizer, and are not in the counters.
type uncounted struct {
	Succeeded []string `json:"succeeded,omitempty"`
	Failed    []string `json:"failed,omitempty"`
}

type jobCondition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	LastProbeTime      meta.Time `json:"lastProbeTime,omitzero"`
	LastTransitionTime meta.Time `json:"lastTransitionTime,omitzero"`
	Reason             string    `json:"reason,omitempty"`
	Message            string    `json:"message,omitempty"`
}

func jobType() client.Type[*job] {
	return client.Type[*job]{Group: "batch", Version: "v1", Kind: "Job", Resource: "jobs"}
}

// trackingFinalizer is on the pods of jobs until they have been counted.
const trackingFinalizer = "batch.kubernetes.io/job-tracking"

// track adds the finalizer to a pod, or removes it.
func track(p *podObject, present bool) {
	p.Finalizers = slices.DeleteFunc(p.Finalizers, func(f string) bool { return f == trackingFinalizer })
	if present {
		p.Finalizers = append(p.Finalizers, trackingFinalizer)
	}
}

func isTracked(p *podObject) bool { return slices.Contains(p.Finalizers, trackingFinalizer) }

func (j *job) isIndexed() bool { return j.Spec.CompletionMode == "Indexed" }

// replacesOnlyFailed reports whether a pod is replaced only when it has failed, and not already when it is being
// deleted.
func (j *job) replacesOnlyFailed() bool { return j.Spec.PodReplacementPolicy == "Failed" }

// isElsewhere reports whether another controller runs the job.
func (j *job) isElsewhere() bool {
	return j.Spec.ManagedBy != "" && j.Spec.ManagedBy != "kubernetes.io/job-controller"
}

// finished returns the condition Complete or Failed of a job that has ended, or nil.
func (j *job) finished() *jobCondition {
	for _, kind := range []string{"Complete", "Failed"} {
		if c := meta.FindCondition(j.Status.Conditions, kind); c != nil && c.Status == "True" {
			return c
		}
	}
	return nil
}

// or returns the number that p points to, or n if there is none.
func or[N int | int64](p *N, n N) N {
	if p == nil {
		return n
	}
	return *p
}

// jobs has the clients, caches and index of the controller of jobs, and the backoff of each job.
type jobs struct {
	jobs     client.Resource[*job]
	pods     client.Resource[*podObject]
	cache    cache.Reader[*job]
	podCache cache.Reader[*podObject]
	podsOf   *cache.Index[ownedBy, *podObject]

	mu       sync.Mutex
	backoffs map[string]backoff // by the uid of the job
}

func (jobController) run(ctx context.Context, env *environment) error {
	all, pods := cached(env, jobType()), cached(env, podType())
	c := &jobs{
		jobs: client.For(env.client, jobType()), pods: client.For(env.client, podType()),
		cache: all.Reader(), podCache: pods.Reader(),
		podsOf: cache.NewValueIndex(pods.Reader(), byController[*podObject]), backoffs: map[string]backoff{},
	}
	defer c.podsOf.Close()
	return informer.Run(ctx,
		controller.New("jobs", controller.Options{Workers: workers}, c.reconcile,
			controller.Watch(all),
			controller.Owns(pods, jobType()),
			controller.Map(pods, c.adopters),
			controller.Fresh[meta.Key](all, pods)),
		controller.New("pods of jobs", controller.Options{Workers: workers}, c.release,
			controller.Watch(pods),
			controller.Map(all, c.podsOfEnded),
			controller.Fresh[meta.Key](pods)))
}

// adopters returns the jobs that select a pod without a controller.
func (c *jobs) adopters(p *podObject) (keys []meta.Key) {
	if _, has := meta.ControllerOf(p); has {
		return nil
	}
	for j := range c.cache.Namespace(p.Namespace) {
		if s, err := j.Spec.Selector.Selector(); err == nil && s.Matches(p.Labels) {
			keys = append(keys, j.Key())
		}
	}
	return keys
}

// podsOfEnded returns the pods of a job that still have the finalizer. They lose it when the job is gone or finished.
func (c *jobs) podsOfEnded(j *job) (keys []meta.Key) {
	for p := range c.podsOf.Get(ownedBy{j.Namespace, j.UID}) {
		if isTracked(p) {
			keys = append(keys, p.Key())
		}
	}
	return keys
}

// release removes the finalizer from a pod that no job counts any more.
func (c *jobs) release(ctx context.Context, key meta.Key) (controller.Result, error) {
	p, found := c.podCache.Get(key)
	if !found || !isTracked(p) {
		return controller.Result{}, nil
	}
	if owner, has := meta.ControllerOf(p); has {
		if owner.Kind != "Job" || owner.APIVersion != jobType().GVR().APIVersion() {
			return controller.Result{}, nil
		}
		j, found := c.cache.Get(meta.Key{Namespace: p.Namespace, Name: owner.Name})
		if found && j.UID == owner.UID && (j.isElsewhere() || j.finished() == nil) {
			return controller.Result{}, nil
		}
	}
	return controller.Result{}, c.untrack(ctx, p)
}

// untrack removes the finalizer from a pod, whatever else has changed since the cache saw it: the pod may just have
// been deleted, and counts as it did before.
func (c *jobs) untrack(ctx context.Context, p *podObject) error {
	_, err := c.pods.RemoveFinalizer(ctx, p.Key(), trackingFinalizer, meta.FinalizerOptions{UID: p.UID})
	return unlessGone(err)
}

func (c *jobs) reconcile(ctx context.Context, key meta.Key) (controller.Result, error) {
	j, found := c.cache.Get(key)
	if !found || j.isElsewhere() {
		return controller.Result{}, nil
	}
	if end := j.finished(); end != nil {
		c.forget(j.UID)
		return c.expire(ctx, j, end)
	}
	selector, err := j.Spec.Selector.Selector()
	if err != nil {
		return controller.Result{}, controller.Terminal(err)
	}
	claimed := claim[*podObject]{
		objects: c.pods, owner: client.OwnerOf(jobType(), j), uid: j.UID, deleting: meta.IsDeleting(j),
		selector: selector, check: stillThere(c.jobs, j), setFinalizer: track,
	}
	candidates := func(yield func(*podObject) bool) {
		for _, uid := range []string{j.UID, ""} {
			for p := range c.podsOf.Get(ownedBy{j.Namespace, uid}) {
				if !yield(p) {
					return
				}
			}
		}
	}
	pods, err := claimed.run(ctx, candidates)
	if err != nil {
		return controller.Result{}, err
	}
	return newJobRun(c, j, pods).run(ctx)
}

// expire deletes a finished job when its ttlSecondsAfterFinished have passed.
func (c *jobs) expire(ctx context.Context, j *job, end *jobCondition) (controller.Result, error) {
	if j.Spec.TTLSecondsAfterFinished == nil || meta.IsDeleting(j) {
		return controller.Result{}, nil
	}
	at := end.LastTransitionTime.Add(time.Duration(*j.Spec.TTLSecondsAfterFinished) * time.Second)
	if time.Now().Before(at) {
		return controller.Result{RequeueAt: at}, nil
	}
	err := c.jobs.Delete(ctx, j.Key(), client.DeleteOptions{UID: j.UID, ResourceVersion: j.ResourceVersion, Propagation: client.Foreground})
	return controller.Result{}, apierrors.Ignore(err, apierrors.NotFound)
}

// forget forgets the backoff of a job that needs no further pods.
func (c *jobs) forget(uid string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.backoffs, uid)
}
