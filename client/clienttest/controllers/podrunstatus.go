package controllers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// status returns the status of a pod as its run has it.
func (r *podRun) status(p *podObject, now time.Time) podStatus {
	s := meta.Clone(p).Status
	host := hostIP(p.Spec.NodeName)
	s.ObservedGeneration, s.StartTime = p.Generation, &meta.Time{Time: r.started}
	s.HostIP, s.HostIPs, s.PodIP, s.PodIPs = host, []address{{host}}, r.ip, []address{{r.ip}}
	s.InitContainers, s.Containers = r.statuses(r.init, now), r.statuses(r.main, now)
	s.Phase = r.phase()
	set := func(c podCondition) {
		c.ObservedGeneration = p.Generation
		s.setCondition(c, now)
	}
	sandbox := podCondition{Type: "PodReadyToStartContainers", Status: "True"}
	if r.isOver() {
		sandbox.Status = "False"
	}
	set(sandbox)
	set(r.initialized(s.Phase))
	containers := r.containersReady(s.Phase, now)
	ready := containers
	ready.Type = "Ready"
	if unmet := p.unmetGates(); containers.Status == "True" && unmet != "" {
		ready.Status, ready.Reason, ready.Message = "False", "ReadinessGatesNotReady", unmet
	}
	set(ready)
	set(containers)
	if !meta.IsConditionTrue(s.Conditions, "PodScheduled") {
		set(podCondition{Type: "PodScheduled", Status: "True"})
	}
	if f := r.failure; f != nil {
		s.Reason, s.Message = f.reason, f.message
		if f.disrupted {
			set(podCondition{Type: "DisruptionTarget", Status: "True", Reason: "TerminationByKubelet", Message: f.message})
		}
	}
	return s
}

// phase returns the phase of the pod.
func (r *podRun) phase() string {
	worst, works := 0, false
	for _, c := range r.main {
		works = works || c.state == working
		switch {
		case r.failure != nil || r.initFailed():
			return failed
		case c.state == over:
			worst = cmp.Or(worst, c.ended.ExitCode)
		case c.state != working && c.last == nil:
			return pending
		case c.state == waiting:
			worst = cmp.Or(worst, c.last.ExitCode)
		}
	}
	switch {
	case works || !r.isOver():
		return running
	case worst == 0:
		return succeeded
	}
	return failed
}

// statuses returns the statuses of containers.
func (r *podRun) statuses(containers []*containerRun, now time.Time) []containerStatus {
	var all []containerStatus
	for _, c := range containers {
		works := c.state == working
		s := containerStatus{
			Name: c.name, Image: c.image, ImageID: c.image, Ready: c.isReady(now), RestartCount: c.restarts, Started: &works,
			LastState: containerState{Terminated: c.last},
		}
		id := fmt.Sprintf("none://%s/%s/%d", r.uid, c.name, c.restarts)
		switch c.state {
		case working:
			s.ContainerID, s.State.Running = id, &runningState{StartedAt: meta.Time{Time: c.started}}
		case over:
			ended := *c.ended
			ended.ContainerID = cmp.Or(ended.ContainerID, id)
			s.ContainerID, s.State.Terminated = id, &ended
		default:
			s.ImageID, s.State.Waiting = "", r.waitingFor(c)
		}
		all = append(all, s)
	}
	return all
}

// waitingFor returns why a container does not work.
func (r *podRun) waitingFor(c *containerRun) *waitingState {
	switch {
	case c.state == idle:
		return &waitingState{Reason: "PodInitializing"}
	case c.last != nil:
		return &waitingState{Reason: "CrashLoopBackOff", Message: fmt.Sprintf("back-off restarting failed container=%s pod=%s", c.name, r.meta.Key())}
	}
	return &waitingState{Reason: "ContainerCreating"}
}

// initialized returns the condition that the init containers have ended.
func (r *podRun) initialized(phase string) podCondition {
	c := podCondition{Type: "Initialized", Status: "True"}
	var incomplete []string
	for _, i := range r.init {
		if !i.isDone() {
			incomplete = append(incomplete, i.name)
		}
	}
	begun := slices.ContainsFunc(r.main, func(c *containerRun) bool { return c.state == working || c.state == over || c.last != nil })
	switch {
	case phase == succeeded:
		c.Reason = "PodCompleted"
	case len(incomplete) > 0 && !begun:
		c.Status, c.Reason = "False", "ContainersNotInitialized"
		c.Message = fmt.Sprintf("containers with incomplete status: %s", incomplete)
	}
	return c
}

// containersReady returns the condition that all containers are ready.
func (r *podRun) containersReady(phase string, now time.Time) podCondition {
	c := podCondition{Type: "ContainersReady", Status: "True"}
	var unready []string
	for _, one := range r.all() {
		if !one.init && !one.isReady(now) {
			unready = append(unready, one.name)
		}
	}
	switch {
	case phase == succeeded:
		c.Status, c.Reason = "False", "PodCompleted"
	case phase == failed:
		c.Status, c.Reason = "False", "PodFailed"
	case len(unready) > 0:
		c.Status, c.Reason = "False", "ContainersNotReady"
		c.Message = fmt.Sprintf("containers with unready status: %s", unready)
	}
	return c
}

// unmetGates says which conditions of the readiness gates of a pod are missing or not true.
func (p *podObject) unmetGates() string {
	var unmet []string
	for _, gate := range p.Spec.ReadinessGates {
		c := meta.FindCondition(p.Status.Conditions, gate.ConditionType)
		switch {
		case c == nil:
			unmet = append(unmet, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType))
		case c.Status != "True":
			unmet = append(unmet, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %s", gate.ConditionType, c.Status))
		}
	}
	return strings.Join(unmet, ", ")
}
