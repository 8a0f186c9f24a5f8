package controllers

import (
	"encoding/json"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// podObject has the fields of a pod that the controllers and the kubelet read or write.
type podObject struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            podSpec   `json:"spec"`
	Status          podStatus `json:"status"`
}

func podType() client.Type[*podObject] {
	return client.Type[*podObject]{Version: "v1", Kind: "Pod", Resource: "pods"}
}

type podSpec struct {
	NodeName              string            `json:"nodeName,omitempty"`
	NodeSelector          map[string]string `json:"nodeSelector,omitempty"`
	SchedulerName         string            `json:"schedulerName,omitempty"`
	SchedulingGates       []named           `json:"schedulingGates,omitempty"`
	RestartPolicy         string            `json:"restartPolicy,omitempty"`
	Hostname              string            `json:"hostname,omitempty"`
	Subdomain             string            `json:"subdomain,omitempty"`
	HostNetwork           bool              `json:"hostNetwork,omitempty"`
	ActiveDeadlineSeconds *int64            `json:"activeDeadlineSeconds,omitempty"`
	ReadinessGates        []readinessGate   `json:"readinessGates,omitempty"`
	InitContainers        []containerSpec   `json:"initContainers,omitempty"`
	Containers            []containerSpec   `json:"containers,omitempty"`
}

// named is an element of a list; only its name is used.
type named struct {
	Name string `json:"name"`
}

type readinessGate struct {
	ConditionType string `json:"conditionType"`
}

type containerSpec struct {
	Name          string          `json:"name"`
	Image         string          `json:"image,omitempty"`
	RestartPolicy string          `json:"restartPolicy,omitempty"`
	Ports         []containerPort `json:"ports,omitempty"`
}

// isSidecar reports whether an init container goes on beside the containers of its pod.
func (c *containerSpec) isSidecar() bool { return c.RestartPolicy == "Always" }

type containerPort struct {
	Name     string `json:"name,omitempty"`
	Port     int    `json:"containerPort"`
	Protocol string `json:"protocol,omitempty"`
}

type podStatus struct {
	ObservedGeneration int64             `json:"observedGeneration,omitempty"`
	Phase              string            `json:"phase,omitempty"`
	Conditions         []podCondition    `json:"conditions,omitempty"`
	Message            string            `json:"message,omitempty"`
	Reason             string            `json:"reason,omitempty"`
	HostIP             string            `json:"hostIP,omitempty"`
	HostIPs            []address         `json:"hostIPs,omitempty"`
	PodIP              string            `json:"podIP,omitempty"`
	PodIPs             []address         `json:"podIPs,omitempty"`
	StartTime          *meta.Time        `json:"startTime,omitempty"`
	InitContainers     []containerStatus `json:"initContainerStatuses,omitempty"`
	Containers         []containerStatus `json:"containerStatuses,omitempty"`
}

type address struct {
	IP string `json:"ip"`
}

type podCondition struct {
	Type               string     `json:"type"`
	ObservedGeneration int64      `json:"observedGeneration,omitempty"`
	Status             string     `json:"status"`
	LastProbeTime      *meta.Time `json:"lastProbeTime"`
	LastTransitionTime meta.Time  `json:"lastTransitionTime,omitzero"`
	Reason             string     `json:"reason,omitempty"`
	Message            string     `json:"message,omitempty"`
}

type containerStatus struct {
	Name         string         `json:"name"`
	State        containerState `json:"state"`
	LastState    containerState `json:"lastState"`
	Ready        bool           `json:"ready"`
	RestartCount int            `json:"restartCount"`
	Image        string         `json:"image"`
	ImageID      string         `json:"imageID"`
	ContainerID  string         `json:"containerID,omitempty"`
	Started      *bool          `json:"started,omitempty"`
}

// containerState has one member, or none.
type containerState struct {
	Waiting    *waitingState    `json:"waiting,omitempty"`
	Running    *runningState    `json:"running,omitempty"`
	Terminated *terminatedState `json:"terminated,omitempty"`
}

type waitingState struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

type runningState struct {
	StartedAt meta.Time `json:"startedAt,omitzero"`
}

type terminatedState struct {
	ExitCode    int       `json:"exitCode"`
	Reason      string    `json:"reason,omitempty"`
	StartedAt   meta.Time `json:"startedAt,omitzero"`
	FinishedAt  meta.Time `json:"finishedAt,omitzero"`
	ContainerID string    `json:"containerID,omitempty"`
}

// The phases of a pod.
const (
	pending   = "Pending"
	running   = "Running"
	succeeded = "Succeeded"
	failed    = "Failed"
)

// isTerminal reports whether the containers of the pod have ended for good.
func (p *podObject) isTerminal() bool { return p.Status.Phase == succeeded || p.Status.Phase == failed }

// isActive reports whether the pod counts as a replica.
func (p *podObject) isActive() bool { return !p.isTerminal() && !meta.IsDeleting(p) }

// isTerminating reports whether the pod is being deleted while its containers run.
func (p *podObject) isTerminating() bool { return !p.isTerminal() && meta.IsDeleting(p) }

func (p *podObject) isReady() bool { return meta.IsConditionTrue(p.Status.Conditions, "Ready") }

// readySince returns when the pod became ready. It is zero if the pod is not ready.
func (p *podObject) readySince() time.Time {
	if !p.isReady() {
		return time.Time{}
	}
	return meta.FindCondition(p.Status.Conditions, "Ready").LastTransitionTime.Time
}

// availableAt returns when the pod will have been ready for some seconds. It is false for a pod that is not ready.
func (p *podObject) availableAt(minReadySeconds int) (at time.Time, ready bool) {
	if !p.isReady() {
		return time.Time{}, false
	}
	return p.readySince().Add(time.Duration(minReadySeconds) * time.Second), true
}

// restarts returns the most restarts that a container of the pod has had, and the most of a sidecar.
func (p *podObject) restarts() (most, mostOfSidecars int) {
	for _, c := range p.Status.Containers {
		most = max(most, c.RestartCount)
	}
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.isSidecar() {
			for _, s := range p.Status.InitContainers {
				if s.Name == c.Name {
					mostOfSidecars = max(mostOfSidecars, s.RestartCount)
				}
			}
		}
	}
	return most, mostOfSidecars
}

// template is a pod template. Its spec is passed on as it is.
type template struct {
	Metadata templateMeta    `json:"metadata,omitzero"`
	Spec     json.RawMessage `json:"spec,omitempty"`
}

type templateMeta struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Finalizers  []string          `json:"finalizers,omitempty"`
}

// newPod is a pod that is to be created.
type newPod struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            json.RawMessage `json:"spec"`
}
