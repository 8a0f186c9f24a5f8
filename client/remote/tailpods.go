package remote

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/retry"
)

// podState has the fields of a pod that Tail reads.
type podState struct {
	meta.Identity `json:"metadata"`
	Status        struct {
		ContainerStatuses          []containerStatus `json:"containerStatuses"`
		InitContainerStatuses      []containerStatus `json:"initContainerStatuses"`
		EphemeralContainerStatuses []containerStatus `json:"ephemeralContainerStatuses"`
	} `json:"status"`
}

type containerStatus struct {
	Name         string         `json:"name"`
	ContainerID  string         `json:"containerID"`
	RestartCount int            `json:"restartCount"`
	State        containerState `json:"state"`
	LastState    containerState `json:"lastState"`
}

type containerState struct {
	Running    *struct{}   `json:"running"`
	Terminated *terminated `json:"terminated"`
}

type terminated struct {
	ContainerID string `json:"containerID"`
}

// runs says which runs of a container have a log, by the rules of the kubelet. A run is identified by its container ID,
// or else by its restart count.
type runs struct {
	current  string // empty if the container has not started
	previous string // the run whose log LogOptions.Previous reads
	running  bool   // the current run has not ended
	gone     bool   // the pod is gone, so no log of it can be opened
}

func (c containerStatus) runs() runs {
	id := func(t *terminated, restarts int) string {
		if t == nil {
			return ""
		}
		return cmp.Or(t.ContainerID, "run "+strconv.Itoa(restarts))
	}
	last := c.LastState.Terminated
	r := runs{previous: id(last, c.RestartCount-1)}
	switch ended := c.State.Terminated; {
	case c.State.Running != nil:
		r.current, r.running = id(&terminated{c.ContainerID}, c.RestartCount), true
	case ended != nil && ended.ContainerID == "" && last != nil: // the run did not start
		r.current = r.previous
	case ended != nil:
		r.current = id(ended, c.RestartCount)
	case last != nil: // the container waits for its next start
		r.current = r.previous
	}
	return r
}

// follow lists and watches the pods, and starts and updates the source of each container. It returns when ctx ends, or
// if the pods cannot be listed at all.
func (t *tailing) follow(ctx context.Context, q *queue) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // this ends the sources
	f := &follower{t: t, q: q, pods: map[string]map[string]*source{}}
	pace := retry.New(retry.Policy{})
	failures, barren, told := 0, 0, false
	for {
		start := time.Now()
		listed := f.version == ""
		var err error
		if listed {
			err = f.list(ctx)
		} else {
			f.events = 0
			err = f.watch(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !f.seen && hopeless(err):
			return err
		case err == nil && listed:
			failures, told = 0, false
			continue
		case err == nil && (f.events > 0 || time.Since(start) > time.Minute):
			failures, barren, told = 0, 0, false
			pace.Reset()
			continue
		}
		if errors.Is(err, apierrors.Expired) || errors.Is(err, apierrors.Gone) || errors.As(err, new(*client.EventError)) {
			f.version = ""
		} else if err == nil { // some servers end a watch at once if the resource version is too old
			if barren++; barren == 3 {
				f.version, barren = "", 0
			}
		} else if failures++; !told && (failures == 3 || refused(err)) {
			told = true
			t.report(ctx, q, meta.Key{}, "", err)
		}
		floor, _ := apierrors.RetryAfter(err)
		if err := retry.Sleep(ctx, pace.Next(floor)); err != nil {
			return err
		}
	}
}

// refused reports whether the server denied access (401 or 403).
func refused(err error) bool {
	return errors.Is(err, apierrors.Forbidden) || errors.Is(err, apierrors.Unauthorized)
}

// hopeless reports whether a retry of the request would fail in the same way.
func hopeless(err error) bool {
	if errors.As(err, new(*client.UsageError)) {
		return true
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && status.Status.Code >= 400 && status.Status.Code < 500 && status.Status.Code != 429 &&
		!errors.Is(err, apierrors.Expired) && !errors.Is(err, apierrors.Gone)
}

// follower tracks the pods and their sources.
type follower struct {
	t       *tailing
	q       *queue
	version string                        // to watch from; empty if the pods must be listed
	seen    bool                          // the pods have been listed once
	events  int                           // number of events of the current watch
	pods    map[string]map[string]*source // by UID and container; a nil source is not followed
}

// list lists the pods and updates the sources.
func (f *follower) list(ctx context.Context) error {
	present := map[string]bool{}
	o := client.ListOptions{Namespace: f.t.o.Namespace, LabelSelector: f.t.o.LabelSelector, FieldSelector: f.t.o.FieldSelector}
	m, err := f.t.pods.ListEach(ctx, o, nil, func(item client.Item[*podState]) error {
		present[item.Identity.UID] = true
		f.see(ctx, item.Identity, item.Object, item.Err)
		return nil
	})
	if err != nil {
		return err
	}
	f.version, f.seen = m.ResourceVersion, true
	f.t.merge.setLive(f.q, false)
	for uid := range f.pods {
		if !present[uid] {
			f.gone(uid)
		}
	}
	return nil
}

// watch updates the sources from one watch of the pods, until the watch ends.
func (f *follower) watch(ctx context.Context) error {
	// The server ends the watch after a few minutes. If it does not, as when the connection is dead, the client ends
	// it.
	const long, slack = 4 * time.Minute, 15 * time.Second
	timeout := (long + rand.N(long)).Truncate(time.Second)
	watching, cancel := context.WithTimeout(ctx, timeout+slack)
	defer cancel()
	err := f.t.pods.WatchEach(watching, client.WatchOptions{
		Namespace: f.t.o.Namespace, LabelSelector: f.t.o.LabelSelector, FieldSelector: f.t.o.FieldSelector,
		ResourceVersion: f.version, Bookmarks: true, Timeout: timeout,
	}, nil, func(e client.Event[*podState]) error {
		f.events++
		if e.Identity.ResourceVersion != "" {
			f.version = e.Identity.ResourceVersion
		}
		switch e.Type {
		case client.Added, client.Modified:
			f.see(ctx, e.Identity, e.Object, e.Err)
		case client.Deleted:
			f.gone(e.Identity.UID)
		}
		return nil
	})
	if watching.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// see updates the sources of a pod from the pod's status.
func (f *follower) see(ctx context.Context, id meta.Identity, pod *podState, err error) {
	if err != nil {
		f.t.report(ctx, f.q, id.Key(), "", err)
		return
	}
	sources := f.pods[id.UID]
	if sources == nil {
		sources = map[string]*source{}
		f.pods[id.UID] = sources
	}
	for _, list := range [][]containerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses} {
		for _, c := range list {
			s, known := sources[c.Name]
			if !known && (f.t.o.Containers == nil || f.t.o.Containers(id.Key(), c.Name)) {
				started := c.runs().current != ""
				s = newSource(f.t, id, c.Name, !f.seen && started)
				f.t.merge.setLive(s.q, started) // before run yields lines of other containers
				f.t.all.Go(func() {
					defer f.t.merge.end(s.q)
					s.follow(ctx)
				})
			}
			if sources[c.Name] = s; s != nil { // nil: TailOptions.Containers does not select it
				s.set(c.runs())
			}
		}
	}
}

// gone ends the sources of a pod that is deleted or no longer selected.
func (f *follower) gone(uid string) {
	for _, s := range f.pods[uid] {
		if s != nil {
			s.set(runs{gone: true})
		}
	}
	delete(f.pods, uid)
}
