package recording

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Format is the version of the format that this package writes, and the only one that it reads.
const Format = 1

// Header is the first line of a file.
type Header struct {
	Recording  int         `json:"recording"`            // Format
	Server     string      `json:"server"`               // the release, such as v1.37.2; empty if it is not readable
	Cluster    string      `json:"cluster"`              // the uid of a namespace; empty if none is readable
	Start      time.Time   `json:"start"`                // the start, from which the times of lines count
	Resources  []*Resource `json:"resources"`            // in the order in which they were chosen
	Namespaces []string    `json:"namespaces,omitempty"` // of namespaced resources; empty means all
	Secrets    string      `json:"secrets"`              // hashed, omitted or kept
}

// Resource describes a resource as discovery does. So a server can serve it without its CustomResourceDefinition.
type Resource struct {
	Group      string   `json:"group"`
	Version    string   `json:"version"`
	Resource   string   `json:"resource"`
	Kind       string   `json:"kind"`
	Singular   string   `json:"singular,omitempty"`
	ShortNames []string `json:"shortNames,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Namespaced bool     `json:"namespaced"`
	Status     bool     `json:"status,omitempty"` // the subresource status exists
}

// GVR returns the resource.
func (r *Resource) GVR() meta.GVR {
	return meta.GVR{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// GVK returns the kind of its objects.
func (r *Resource) GVK() meta.GVK {
	return meta.GVK{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// Name returns the name of the resource on lines, such as pods or deployments.apps.
func (r *Resource) Name() string { return Name(r.GVR()) }

// Name returns the name of a resource on lines, such as pods or deployments.apps.
func Name(r meta.GVR) string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

// IsSecret reports whether the objects are the Secrets of the core group.
func (r *Resource) IsSecret() bool { return r.Group == "" && r.Resource == "secrets" }

// Resource returns the resource with a name, or nil.
func (h *Header) Resource(name string) *Resource {
	if i := slices.IndexFunc(h.Resources, func(r *Resource) bool { return r.Name() == name }); i >= 0 {
		return h.Resources[i]
	}
	return nil
}

// Streams returns the collections that are listed and watched: each resource, or each resource in each namespace.
func (h *Header) Streams() (all []Stream) {
	for _, r := range h.Resources {
		if !r.Namespaced || len(h.Namespaces) == 0 {
			all = append(all, Stream{Resource: r.Name()})
			continue
		}
		for _, n := range h.Namespaces {
			all = append(all, Stream{r.Name(), n})
		}
	}
	return all
}

// StreamOf returns the stream of an object.
func (h *Header) StreamOf(r *Resource, namespace string) Stream {
	if !r.Namespaced || len(h.Namespaces) == 0 {
		namespace = ""
	}
	return Stream{r.Name(), namespace}
}

// Stream is a collection that is listed and watched. An empty Namespace means all of them.
type Stream struct{ Resource, Namespace string }

func (s Stream) String() string {
	if s.Namespace == "" {
		return s.Resource
	}
	return s.Resource + " in " + s.Namespace
}

// validate returns everything that is wrong with the header of a file.
func (h *Header) validate() error {
	var errs []error
	if h.Recording != Format {
		return fmt.Errorf("recording must be %d, the version of the format, got %d", Format, h.Recording)
	}
	if h.Start.IsZero() {
		errs = append(errs, errors.New("start must be a time"))
	}
	if len(h.Resources) == 0 {
		errs = append(errs, errors.New("resources must not be empty"))
	}
	for i, r := range h.Resources {
		if r == nil {
			return fmt.Errorf("resources[%d] must be an object, got null", i)
		}
		for _, f := range []struct{ name, value string }{{"version", r.Version}, {"resource", r.Resource}, {"kind", r.Kind}} {
			if err := meta.ValidSegment(fmt.Sprintf("resources[%d].%s", i, f.name), f.value); err != nil {
				errs = append(errs, err)
			}
		}
		if h.Resource(r.Name()) != r {
			errs = append(errs, fmt.Errorf("resources[%d] duplicates resources[%d] (%s)", i, slices.Index(h.Resources, h.Resource(r.Name())), r.Name()))
		}
	}
	for i, n := range h.Namespaces {
		if err := meta.ValidSegment(fmt.Sprintf("namespaces[%d]", i), n); err != nil {
			errs = append(errs, err)
		}
		if slices.Index(h.Namespaces, n) != i {
			errs = append(errs, fmt.Errorf("namespaces[%d] duplicates namespaces[%d] (%q)", i, slices.Index(h.Namespaces, n), n))
		}
	}
	if !slices.Contains([]string{"hashed", "omitted", "kept"}, h.Secrets) {
		errs = append(errs, fmt.Errorf("secrets must be hashed, omitted or kept, got %q", h.Secrets))
	}
	return errors.Join(errs...)
}

// differs returns why a recording with the header now cannot go on in the file of h, or nil.
func (h *Header) differs(now *Header) error {
	switch {
	case now.Cluster == "":
		return errors.New("it cannot be continued: neither the namespace kube-system nor a recorded namespace is readable, " +
			"so nothing says that the server is the same")
	case h.Cluster != now.Cluster:
		return fmt.Errorf("it is a recording of another cluster: its namespace has uid %q, and this server's has %q", h.Cluster, now.Cluster)
	case h.Secrets != now.Secrets:
		return fmt.Errorf("it has its secrets %s, and this recording would have them %s", h.Secrets, now.Secrets)
	case !slices.Equal(h.Namespaces, now.Namespaces):
		return fmt.Errorf("it has the namespaces %q, and this recording would have %q", h.Namespaces, now.Namespaces)
	case !reflect.DeepEqual(gvrs(h), gvrs(now)):
		return fmt.Errorf("it has the resources %v, and this recording would have %v", gvrs(h), gvrs(now))
	}
	return nil
}

func gvrs(h *Header) (all []meta.GVR) {
	for _, r := range h.Resources {
		all = append(all, r.GVR())
	}
	return all
}
