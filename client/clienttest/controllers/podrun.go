package controllers

import (
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// podRun is a pod on a node: a state machine whose input is time, the deletion of the pod, and the words of a test,
// which are calls of the Kubelet's methods.
type podRun struct {
	uid     string
	ip      string
	started time.Time
	policy  string // when containers are restarted
	meta    *meta.ObjectMeta
	life    func(Container) Life
	init    []*containerRun // in their order; each starts when those before have ended, or are sidecars that run
	main    []*containerRun

	failure *podFailure // ends the pod
	stopAt  time.Time   // when containers that still run are killed; zero unless the pod is being deleted
	stopped time.Time   // when the deletion began

	words, written int // how many words have been taken, and how many of them are in the pod's status on the server
}

// podFailure is why a pod fails although its containers might go on.
type podFailure struct {
	at              time.Time
	reason, message string
	disrupted       bool // whether the pod gets the condition DisruptionTarget
}

// containerRun is one container.
type containerRun struct {
	name, image string
	init        bool // and no sidecar
	sidecar     bool
	life        Life

	state    containerPhase
	startAt  time.Time // of a waiting container; zero means that it does not start by itself
	started  time.Time // of a container that runs or has ended
	readyAt  time.Time // zero means that it does not become ready by itself
	endAt    time.Time // zero means that it does not end by itself
	ready    *bool     // the word of the test
	restarts int
	again    int // restarts in a row without a long run between them, for the backoff
	ended    *terminatedState
	last     *terminatedState // the end before the present state
}

// containerPhase is what a container does.
type containerPhase int

const (
	idle    containerPhase = iota // other containers come first
	waiting                       // is about to start, or to start again
	working
	over
)

// newPodRun returns the run of a pod that has come to its node. If the pod's status says that containers run or have
// ended, they do.
func newPodRun(p *podObject, ip string, life func(Container) Life, now time.Time) *podRun {
	r := &podRun{uid: p.UID, ip: ip, started: now, policy: p.Spec.RestartPolicy, meta: &p.ObjectMeta, life: life}
	if p.Status.StartTime != nil {
		r.started = p.Status.StartTime.Time
	}
	for _, c := range p.Spec.InitContainers {
		r.init = append(r.init, &containerRun{name: c.Name, image: c.Image, init: !c.isSidecar(), sidecar: c.isSidecar()})
	}
	for _, c := range p.Spec.Containers {
		r.main = append(r.main, &containerRun{name: c.Name, image: c.Image})
	}
	for _, c := range r.all() {
		for _, s := range slices.Concat(p.Status.InitContainers, p.Status.Containers) {
			if s.Name == c.name {
				r.resume(c, s)
			}
		}
	}
	return r
}

// all returns the containers in the order in which they start.
func (r *podRun) all() []*containerRun { return slices.Concat(r.init, r.main) }

// resume continues a container from its status.
func (r *podRun) resume(c *containerRun, s containerStatus) {
	c.restarts, c.again, c.last = s.RestartCount, s.RestartCount, s.LastState.Terminated
	switch {
	case s.State.Running != nil:
		c.life = r.life(Container{Pod: r.meta, Name: c.name, Image: c.image, Init: c.init, Restarts: c.restarts})
		c.begin(s.State.Running.StartedAt.Time)
	case s.State.Terminated != nil:
		c.state, c.started, c.ended = over, s.State.Terminated.StartedAt.Time, s.State.Terminated
	}
}

// prepare makes a container wait for its start. from is the time from which its Life counts.
func (r *podRun) prepare(c *containerRun, from time.Time) {
	c.state = waiting
	c.life = r.life(Container{Pod: r.meta, Name: c.name, Image: c.image, Init: c.init, Restarts: c.restarts})
	c.startAt = time.Time{}
	if c.life.Start >= 0 {
		c.startAt = from.Add(c.life.Start)
	}
}

// begin starts a container.
func (c *containerRun) begin(at time.Time) {
	c.state, c.started, c.ready, c.readyAt, c.endAt = working, at, nil, time.Time{}, time.Time{}
	if c.life.Ready >= 0 {
		c.readyAt = at.Add(c.life.Ready)
	}
	if c.life.End > 0 || c.life.End == 0 && c.init {
		c.endAt = at.Add(c.life.End)
	}
}

// end ends a container that works.
func (c *containerRun) end(at time.Time, code int) {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	c.state = over
	c.ended = &terminatedState{ExitCode: code, Reason: reason, StartedAt: meta.Time{Time: c.started}, FinishedAt: meta.Time{Time: at}}
}

// isReady reports whether a container counts as ready: an init container after it has succeeded, any other while it
// works and is ready.
func (c *containerRun) isReady(now time.Time) bool {
	switch {
	case c.init:
		return c.state == over && c.ended.ExitCode == 0
	case c.state != working:
		return false
	case c.ready != nil:
		return *c.ready
	}
	return !c.readyAt.IsZero() && !c.readyAt.After(now)
}

// isDone reports whether an init container lets the next container start.
func (c *containerRun) isDone() bool {
	return c.sidecar && c.state == working || c.init && c.state == over && c.ended.ExitCode == 0
}

// advance brings the pod to a time, and returns when something happens next by itself; the zero time means never.
func (r *podRun) advance(now time.Time) time.Time {
	for r.step(now) {
	}
	var next time.Time
	for _, at := range r.timers() {
		if at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// timers returns the times at which something happens, some of which have passed.
func (r *podRun) timers() []time.Time {
	times := []time.Time{r.stopAt}
	for _, c := range r.all() {
		switch c.state {
		case waiting:
			times = append(times, c.startAt)
		case working:
			times = append(times, c.readyAt, c.endAt, r.stopOf(c))
		}
	}
	return times
}

// step makes one change that is due, and reports whether there was one.
func (r *podRun) step(now time.Time) bool {
	due := func(at time.Time) bool { return !at.IsZero() && !at.After(now) }
	open := r.failure == nil && r.stopped.IsZero()
	for i, c := range r.all() {
		switch {
		case c.state == working && r.failure != nil:
			c.end(r.failure.at, 137)
		case c.state == working && due(r.stopOf(c)) && (c.endAt.IsZero() || !c.endAt.Before(r.stopOf(c))):
			code := 143
			if !r.stopOf(c).Before(r.stopAt) && c.life.Stop != 0 {
				code = 137
			}
			c.end(r.stopOf(c), code)
		case c.state == working && due(c.endAt):
			c.end(c.endAt, c.life.Code)
		case c.state == working && c.sidecar && (r.mainEnded() || r.initFailed()):
			c.end(now, 0)
		case c.state == waiting && open && due(c.startAt):
			if c.last != nil {
				c.restarts++
			}
			c.begin(c.startAt)
		case c.state == idle && open && r.isTurnOf(i):
			r.prepare(c, r.turnBegan(i, now))
		case c.state == over && open && r.restarts(c):
			r.restart(c)
		default:
			continue
		}
		return true
	}
	return false
}

// stopOf returns when a container ends because its pod is being deleted, and the zero time if it is not.
func (r *podRun) stopOf(c *containerRun) time.Time {
	if r.stopped.IsZero() {
		return time.Time{}
	}
	if at := r.stopped.Add(c.life.Stop); c.life.Stop >= 0 && at.Before(r.stopAt) {
		return at
	}
	return r.stopAt
}

// isTurnOf reports whether the ith container can start: each init container before it has succeeded, or is a sidecar
// that runs.
func (r *podRun) isTurnOf(i int) bool {
	before := r.init[:min(i, len(r.init))]
	return !slices.ContainsFunc(before, func(c *containerRun) bool { return !c.isDone() })
}

// turnBegan returns when the turn of the ith container began.
func (r *podRun) turnBegan(i int, now time.Time) time.Time {
	at := r.started
	for _, c := range r.init[:min(i, len(r.init))] {
		switch {
		case c.sidecar && c.started.After(at):
			at = c.started
		case c.init && c.ended.FinishedAt.After(at):
			at = c.ended.FinishedAt.Time
		}
	}
	if at.After(now) {
		return now
	}
	return at
}

// restarts reports whether a container that has ended starts again.
func (r *podRun) restarts(c *containerRun) bool {
	code := c.ended.ExitCode
	switch {
	case c.sidecar:
		return !r.mainEnded() && !r.initFailed()
	case c.init:
		return code != 0 && r.policy != "Never"
	}
	return r.policy == "Always" || r.policy == "OnFailure" && code != 0
}

// The time between the end of a container and its next start: none after the first end, firstRestart after the second,
// and then twice as long each time, up to longRestart. After a run of at least longRun it starts again with none.
const (
	firstRestart = 10 * time.Second
	longRestart  = 5 * time.Minute
	longRun      = 10 * time.Minute
)

// restart makes a container that has ended wait for its next start.
func (r *podRun) restart(c *containerRun) {
	end := c.ended.FinishedAt.Time
	if end.Sub(c.started) >= longRun {
		c.again = 0
	}
	wait := time.Duration(0)
	if c.again > 0 {
		wait = min(longRestart, firstRestart<<min(c.again-1, 10))
	}
	c.again++
	c.last, c.ended = c.ended, nil
	r.prepare(c, end.Add(wait))
}

// mainEnded reports whether all main containers have ended for good.
func (r *podRun) mainEnded() bool {
	for _, c := range r.main {
		if c.state != over || r.failure == nil && r.stopped.IsZero() && r.restarts(c) {
			return false
		}
	}
	return len(r.main) > 0
}

// isOver reports whether no container works, and none will.
func (r *podRun) isOver() bool {
	ending := r.failure != nil || !r.stopped.IsZero() || r.initFailed() || r.mainEnded()
	for _, c := range r.all() {
		if c.state == working {
			return false
		}
	}
	return ending
}

// initFailed reports whether an init container has failed and is not tried again.
func (r *podRun) initFailed() bool {
	return slices.ContainsFunc(r.init, func(c *containerRun) bool {
		return c.init && c.state == over && c.ended.ExitCode != 0 && !r.restarts(c)
	})
}
