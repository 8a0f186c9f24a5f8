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
	// ServeContainer answers a request for the subresource exec or attach of a pod. The user may make it, the pod is there and has
	// not ended, and it has the container.
	ServeContainer(w http.ResponseWriter, r *http.Request, c Container)
}

// Container is a container in which something happens.
type Container struct {
	Pod  meta.Key
	Name string
	// Subresource is "exec" or "attach".
	Subresource string
}

// entersContainer reports whether the request is one for Options.Containers. Its permission is create, whatever its method.
func (s *Server) entersContainer(q Request) bool {
	return s.options.Containers != nil && q.Resource == meta.GVR{Version: "v1", Resource: "pods"} && q.Key.Name != "" &&
		(q.Subresource == "exec" || q.Subresource == "attach")
}

// enter answers a request for a container.
func (c *call) enter(w http.ResponseWriter) error {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodPost {
		return status.MethodNotAllowed()
	}
	v := c.read(true)
	if v == nil {
		return status.NotFound(c.res, c.Key.Name)
	}
	var pod struct {
		Spec struct {
			Containers, InitContainers, EphemeralContainers []struct{ Name string }
		}
		Status struct{ Phase string }
	}
	if err := json.Unmarshal(v.Raw, &pod); err != nil {
		return err
	}
	names := func(list []struct{ Name string }) (all []string) {
		for _, container := range list {
			all = append(all, container.Name)
		}
		return all
	}
	wanted := c.query.Get("container")
	all, initial := names(pod.Spec.Containers), names(pod.Spec.InitContainers)
	switch known := slices.Concat(all, initial, names(pod.Spec.EphemeralContainers)); {
	case wanted == "" && len(all) == 1:
		wanted = all[0]
	case wanted == "" && len(all) == 0:
		return status.BadRequest("a container name must be specified for pod %s", c.Key.Name)
	case wanted == "":
		text := "a container name must be specified for pod %s, choose one of: [%s]"
		args := []any{c.Key.Name, strings.Join(all, " ")}
		if len(initial) > 0 {
			text, args = text+" or one of the init containers: [%s]", append(args, strings.Join(initial, " "))
		}
		return status.BadRequest(text, args...)
	case !slices.Contains(known, wanted):
		return status.BadRequest("container %s is not valid for pod %s", wanted, c.Key.Name)
	}
	if phase := pod.Status.Phase; phase == "Succeeded" || phase == "Failed" {
		return status.BadRequest("cannot exec into a container in a completed pod; current phase is %s", phase)
	}
	c.s.options.Containers.ServeContainer(w, c.r, Container{Pod: c.Key, Name: wanted, Subresource: c.Subresource})
	return nil
}
