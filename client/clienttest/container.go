package clienttest

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// serveContainer passes a request for a container to Options.Containers.
func serveContainer(c *call) error {
	logs := c.Subresource == "log"
	if c.Verb != "create" && !logs { // a WebSocket needs both, since Kubernetes 1.35
		create := c.Request
		create.Verb = "create"
		// The answer names no permission.
		if allowed, reason := c.ask(Access{User: c.user, Request: create}, c.Key.Namespace); !allowed {
			return status.Forbidden(c.res, c.Key.Name, "%s", reason)
		}
	}
	v, err := c.read()
	if err != nil {
		return err
	}
	var pod podOfContainers
	if err := json.Unmarshal(v.Raw, &pod); err != nil {
		return err
	}
	wanted := ""
	if c.Subresource != "portforward" {
		if wanted, err = pod.container(c.Key.Name, c.query.Get("container")); err != nil {
			return err
		}
	}
	if phase := pod.Status.Phase; (phase == "Succeeded" || phase == "Failed") && (c.Subresource == "exec" || c.Subresource == "attach") {
		return status.BadRequest("cannot exec into a container in a completed pod; current phase is %s", phase)
	}
	if logs {
		if err := checkLogOptions(c.Key.Name, c.query); err != nil {
			return err
		}
	}
	if err := c.admitConnection(); err != nil {
		return err
	}
	c.options.Containers.ServeContainer(c.w, c.r, wanted)
	return nil
}

// admitConnection asks admission about a connection to a container. Admission is not asked about reading a log.
func (c *call) admitConnection() error {
	if c.Subresource == "log" {
		return nil
	}
	tx := c.store.Begin()
	defer tx.End()
	_, err := c.both(tx, nil, func(q *question) { q.Operation, q.Object = connect, c.connectParameters() })
	return err
}

// podOfContainers has the fields of a pod that serveContainer reads.
type podOfContainers struct {
	Spec struct {
		Containers, InitContainers, EphemeralContainers []struct{ Name string }
	}
	Status struct{ Phase string }
}

// container returns the container that a request is for. The request may leave out the name if the pod has only one.
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

// checkLogOptions returns an error if the server would refuse the options of a log, which are the API's PodLogOptions.
func checkLogOptions(pod string, q url.Values) error {
	numbers := map[string]int64{}
	for _, name := range []string{"sinceSeconds", "tailLines", "limitBytes"} {
		if text := q.Get(name); q.Has(name) {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return status.BadRequest("%v", err)
			}
			numbers[name] = n
		}
	}
	if text := q.Get("sinceTime"); text != "" {
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return status.BadRequest("%v", err)
		}
	}
	var causes status.Causes
	tail, tailed := numbers["tailLines"]
	causes.If(tail < 0, status.InvalidValue("tailLines", tail, "must be greater than or equal to 0"))
	if limit, limited := numbers["limitBytes"]; limited && limit < 1 {
		causes = append(causes, status.InvalidValue("limitBytes", limit, "must be greater than 0"))
	}
	since, sinceSet := numbers["sinceSeconds"]
	switch {
	case sinceSet && q.Has("sinceTime"):
		causes = append(causes, status.ForbiddenValue("", "at most one of `sinceTime` or `sinceSeconds` may be specified"))
	case sinceSet && since < 1:
		causes = append(causes, status.InvalidValue("sinceSeconds", since, "must be greater than 0"))
	}
	switch stream := q.Get("stream"); stream {
	case "", "All":
	case "Stdout", "Stderr":
		causes.If(tailed, status.ForbiddenValue("", "`tailLines` and specific `stream` are mutually exclusive for now"))
	default:
		causes = append(causes, status.UnsupportedValue("stream", stream, "All", "Stderr", "Stdout"))
	}
	if len(causes) > 0 {
		return status.Invalid("", "PodLogOptions", pod, causes)
	}
	return nil
}
