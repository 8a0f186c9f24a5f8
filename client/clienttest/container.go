package clienttest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// Containers say what happens in the containers of the server's pods, which nothing runs. Package
// client/clienttest/containers has them.
type Containers interface {
	// ServeContainer answers a request for a subresource of a pod that its node would answer. The user may make it, the pod is there,
	// and it has the container.
	ServeContainer(w http.ResponseWriter, r *http.Request, c Container)
}

// Container is a container in which something happens.
type Container struct {
	Pod meta.Key
	// Name is empty if Subresource is "portforward", which is for all containers of a pod.
	Name string
	// Subresource is "exec", "attach", "log" or "portforward".
	Subresource string
}

// entersContainer reports whether the request is one for Options.Containers.
func (s *Server) entersContainer(q Request) bool {
	return s.options.Containers != nil && q.Resource == meta.GVR{Version: "v1", Resource: "pods"} && q.Key.Name != "" &&
		slices.Contains([]string{"exec", "attach", "log", "portforward"}, q.Subresource)
}

// enter answers a request for a container.
func (c *call) enter(w http.ResponseWriter) error {
	log := c.Subresource == "log"
	if c.r.Method != http.MethodGet && (log || c.r.Method != http.MethodPost) {
		return status.MethodNotAllowed()
	}
	if c.Verb != "create" && !log { // a WebSocket needs both, since Kubernetes 1.35
		create := c.Request
		create.Verb = "create"
		if allowed, reason := c.s.ask(Access{User: c.user, Request: create}); !allowed { // the server does not say what is missing
			return status.Forbidden(c.res, c.Key.Name, "%s", reason)
		}
	}
	v := c.read(true)
	if v == nil {
		return status.NotFound(c.res, c.Key.Name)
	}
	var pod podOfContainers
	if err := json.Unmarshal(v.Raw, &pod); err != nil {
		return err
	}
	wanted := ""
	if c.Subresource != "portforward" {
		var err error
		if wanted, err = pod.container(c.Key.Name, c.query.Get("container")); err != nil {
			return err
		}
	}
	if phase := pod.Status.Phase; (phase == "Succeeded" || phase == "Failed") && (c.Subresource == "exec" || c.Subresource == "attach") {
		return status.BadRequest("cannot exec into a container in a completed pod; current phase is %s", phase)
	}
	if log {
		if err := checkLogOptions(c.Key.Name, c.query); err != nil {
			return err
		}
	}
	c.s.options.Containers.ServeContainer(w, c.r, Container{Pod: c.Key, Name: wanted, Subresource: c.Subresource})
	return nil
}

// podOfContainers is what enter reads of a pod.
type podOfContainers struct {
	Spec struct {
		Containers, InitContainers, EphemeralContainers []struct{ Name string }
	}
	Status struct{ Phase string }
}

// container returns the container that a request means, which may name none if the pod has one.
func (p *podOfContainers) container(pod, wanted string) (string, error) {
	names := func(list []struct{ Name string }) (all []string) {
		for _, container := range list {
			all = append(all, container.Name)
		}
		return all
	}
	all, initial := names(p.Spec.Containers), names(p.Spec.InitContainers)
	switch known := slices.Concat(all, initial, names(p.Spec.EphemeralContainers)); {
	case wanted == "" && len(all) == 1:
		return all[0], nil
	case wanted == "" && len(all) == 0:
		return "", status.BadRequest("a container name must be specified for pod %s", pod)
	case wanted == "":
		text := "a container name must be specified for pod %s, choose one of: [%s]"
		args := []any{pod, strings.Join(all, " ")}
		if len(initial) > 0 {
			text, args = text+" or one of the init containers: [%s]", append(args, strings.Join(initial, " "))
		}
		return "", status.BadRequest(text, args...)
	case !slices.Contains(known, wanted):
		return "", status.BadRequest("container %s is not valid for pod %s", wanted, pod)
	}
	return wanted, nil
}
