package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/shown"
)

// portChoice selects the pods and the port that a Target connects to.
type portChoice struct {
	namespace, selector string
	number              int
	named               bool
	port                string // if named
	evenUnready         bool
}

// portCandidate is a pod, and its port, that a portChoice accepts.
type portCandidate struct {
	addr
	created time.Time
}

// compare sorts the newest pod first: during a rollout it stays longest.
func (c portCandidate) compare(other portCandidate) int {
	return cmp.Or(other.created.Compare(c.created), strings.Compare(c.Pod.Name, other.Pod.Name))
}

// podCount counts the examined pods, for the error if none is usable.
type podCount struct{ all, unready, portless int }

// take returns the address of a pod, and whether the pod is usable. It counts the pod in s.
func (c portChoice) take(p *podWithPorts, s *podCount) (portCandidate, bool) {
	s.all++
	if !p.isReady(c.evenUnready) {
		s.unready++
		return portCandidate{}, false
	}
	port := c.number
	if c.named {
		found, ok := p.portNamed(c.port)
		if !ok {
			s.portless++
			return portCandidate{}, false
		}
		port = found
	}
	return portCandidate{addr{meta.Key{Namespace: c.namespace, Name: p.Name}, port}, p.CreationTimestamp.Time}, true
}

func (c portChoice) none(s podCount) error {
	switch {
	case s.all == 0:
		return fmt.Errorf("the selector %q picks no pods", shown.Text(c.selector))
	case s.portless == 0:
		return fmt.Errorf("none of the %d pods that the selector %q picks is ready", s.all, shown.Text(c.selector))
	}
	return fmt.Errorf("the selector %q picks %d pods, of which %d are not ready, and the others have no TCP port named %q",
		shown.Text(c.selector), s.all, s.unready, c.port)
}

// podWithPorts has the fields of a pod that a portChoice reads.
type podWithPorts struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Containers     []containerWithPorts `json:"containers"`
		InitContainers []containerWithPorts `json:"initContainers"`
	} `json:"spec"`
	Status struct {
		Phase      string `json:"phase"`
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

type containerWithPorts struct {
	RestartPolicy string `json:"restartPolicy"`
	Ports         []struct {
		Name          string `json:"name"`
		ContainerPort int    `json:"containerPort"`
		Protocol      string `json:"protocol"`
	} `json:"ports"`
}

// readRaw decodes an object into a struct that has some of its fields.
func readRaw(obj *meta.Raw, into any) error {
	b, err := obj.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", meta.KeyOf(obj), err)
	}
	return nil
}

// isReady reports whether the pod is Ready and is not being deleted. With evenUnready it is enough that the pod runs.
func (p *podWithPorts) isReady(evenUnready bool) bool {
	if p.DeletionTimestamp != nil || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" {
		return false
	}
	if evenUnready {
		return p.Status.Phase == "Running"
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True"
		}
	}
	return false
}

// portNamed returns the number of the TCP port with this name.
func (p *podWithPorts) portNamed(name string) (int, bool) {
	for _, port := range p.tcpPorts() {
		if port.Name == name {
			return port.Port, true
		}
	}
	return 0, false
}

// tcpPorts returns the TCP ports of the containers, and of the init containers that keep running (restartPolicy
// Always).
func (p *podWithPorts) tcpPorts() (ports []servicePort) {
	all := slices.Clone(p.Spec.Containers)
	for _, c := range p.Spec.InitContainers {
		if c.RestartPolicy == "Always" {
			all = append(all, c)
		}
	}
	for _, c := range all {
		for _, port := range c.Ports {
			if cmp.Or(port.Protocol, "TCP") == "TCP" {
				ports = append(ports, servicePort{Name: port.Name, Port: port.ContainerPort})
			}
		}
	}
	return ports
}

type servicePort struct {
	Name       string          `json:"name"`
	Port       int             `json:"port"`
	Protocol   string          `json:"protocol"`
	TargetPort json.RawMessage `json:"targetPort"` // a number or a name; if absent, Port
}

// chosenBy returns the portChoice for one port of a Service, without the namespace.
func chosenBy(obj *meta.Raw, port string) (portChoice, error) {
	var s struct {
		Spec struct {
			Type                     string            `json:"type"`
			ExternalName             string            `json:"externalName"`
			Selector                 map[string]string `json:"selector"`
			Ports                    []servicePort     `json:"ports"`
			PublishNotReadyAddresses bool              `json:"publishNotReadyAddresses"`
		} `json:"spec"`
	}
	err := readRaw(obj, &s)
	spec := s.Spec
	switch {
	case err != nil:
		return portChoice{}, err
	case spec.Type == "ExternalName":
		return portChoice{}, fmt.Errorf("it is of type ExternalName (%s), which picks no pods", shown.Text(spec.ExternalName))
	case len(spec.Selector) == 0:
		return portChoice{}, errors.New("it has no selector, so it picks no pods: its endpoints are made by hand or by a controller")
	}
	var terms []string
	for _, key := range slices.Sorted(maps.Keys(spec.Selector)) {
		terms = append(terms, key+"="+spec.Selector[key])
	}
	c := portChoice{selector: strings.Join(terms, ","), evenUnready: spec.PublishNotReadyAddresses}
	i := slices.IndexFunc(spec.Ports, func(p servicePort) bool { return p.isCalled(port) && p.isTCP() })
	if i < 0 {
		i = slices.IndexFunc(spec.Ports, func(p servicePort) bool { return p.isCalled(port) })
	}
	switch {
	case i < 0:
		return portChoice{}, fmt.Errorf("it has no port %s; its ports: %s", port, listPorts(spec.Ports))
	case !spec.Ports[i].isTCP():
		return portChoice{}, fmt.Errorf("its port %s is of protocol %s; only TCP can be forwarded", port, shown.Text(spec.Ports[i].Protocol))
	}
	c.number, c.port, err = spec.Ports[i].target()
	c.named = c.port != ""
	return c, err
}

func (p servicePort) isTCP() bool { return cmp.Or(p.Protocol, "TCP") == "TCP" }

func (p servicePort) isCalled(name string) bool {
	return p.Name == name || strconv.Itoa(p.Port) == name
}

// target returns the port of the pods: a number, or a name if the Service gives one.
func (p servicePort) target() (number int, name string, err error) {
	if len(p.TargetPort) == 0 || string(p.TargetPort) == "null" {
		return p.Port, "", nil
	}
	if json.Unmarshal(p.TargetPort, &number) != nil {
		number, err = 0, json.Unmarshal(p.TargetPort, &name)
	}
	if err != nil || name == "" && (number < 1 || number > 65535) {
		return 0, "", fmt.Errorf("its targetPort must be a number from 1 to 65535 or a name, got %s", shown.Text(string(p.TargetPort)))
	}
	return number, name, nil
}

func listPorts(ports []servicePort) string {
	var names []string
	for _, p := range ports {
		name := strconv.Itoa(p.Port)
		if p.Name != "" {
			name = p.Name + " (" + name + ")"
		}
		names = append(names, name)
	}
	return shown.Text(cmp.Or(strings.Join(names, ", "), "none"))
}
