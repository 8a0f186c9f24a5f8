package webhook_test

import (
	"context"
	"errors"
	"net/http"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/webhook"
	apierrors "github.com/bowline-go/bowline/errors"
)

// Site is a custom resource in its second version, of which the webhooks know a part.
type Site struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Hosts []string `json:"hosts,omitempty"`
		Parts []Part   `json:"parts,omitempty"`
	} `json:"spec"`
}

// Part lacks the color that the schema has.
type Part struct {
	Name string `json:"name,omitempty"`
	Size int    `json:"size,omitempty"`
}

var Sites = client.Type[*Site]{Group: "example.com", Version: "v2", Kind: "Site", Resource: "sites"}

// decide is the validation of sites.
func decide(_ context.Context, r *webhook.Request[*Site]) error {
	r.Audit("seen", string(r.Operation))
	if r.Operation == webhook.Delete {
		if r.Old.Labels["locked"] != "" {
			return errors.New("a locked site stays")
		}
		return nil
	}
	var errs []error
	for i, h := range r.Object.Spec.Hosts {
		if h == "" {
			errs = append(errs, webhook.Invalid("spec.hosts", "host %d must not be empty", i))
		}
	}
	if r.Operation == webhook.Update && len(r.Object.Spec.Hosts) < len(r.Old.Spec.Hosts) {
		errs = append(errs, webhook.Invalid("spec.hosts", "must not become fewer"))
	}
	switch r.Key.Name {
	case "busy":
		return apierrors.FromStatus(meta.Status{Code: http.StatusTooManyRequests, Reason: "TooManyRequests", Message: "later"})
	case "panic":
		panic("a bug")
	case "warned":
		r.Warnf("%s is an odd name", r.Key.Name)
	}
	return errors.Join(errs...)
}

// complete is the defaulting of sites.
func complete(_ context.Context, r *webhook.Request[*Site]) error {
	if len(r.Object.Spec.Hosts) == 0 {
		r.Object.Spec.Hosts = []string{r.Key.Name + ".example.com"}
	}
	for i := range r.Object.Spec.Parts {
		if r.Object.Spec.Parts[i].Size == 0 {
			r.Object.Spec.Parts[i].Size = 1
		}
	}
	return nil
}

// The whole versions, which a conversion needs.
type (
	siteV1 struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            specV1 `json:"spec"`
	}
	specV1 struct {
		Host string `json:"host,omitempty"`
		Note string `json:"note,omitempty"`
	}
	siteV2 struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            specV2 `json:"spec"`
	}
	specV2 struct {
		Hosts []string `json:"hosts,omitempty"`
		Note  string   `json:"note,omitempty"`
	}
	siteV3 struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            struct {
			Names []string `json:"names,omitempty"`
		} `json:"spec"`
	}
)

func version[T meta.Object](name string) client.Type[T] {
	return client.Type[T]{Group: "example.com", Version: name, Kind: "Site", Resource: "sites"}
}

// steps are those between three versions.
func steps() []webhook.Step {
	return []webhook.Step{
		webhook.Between(version[*siteV1]("v1"), version[*siteV2]("v2"), func(_ context.Context, from *siteV1, to *siteV2) error {
			to.Spec.Note = from.Spec.Note
			if from.Spec.Host != "" {
				to.Spec.Hosts = []string{from.Spec.Host}
			}
			return nil
		}, func(_ context.Context, from *siteV2, to *siteV1) error {
			to.Spec.Note = from.Spec.Note
			switch len(from.Spec.Hosts) {
			case 0:
			case 1:
				to.Spec.Host = from.Spec.Hosts[0]
			default:
				return errors.New("version v1 holds one host")
			}
			return nil
		}),
		webhook.Between(version[*siteV2]("v2"), version[*siteV3]("v3"), func(_ context.Context, from *siteV2, to *siteV3) error {
			to.Spec.Names = from.Spec.Hosts
			if to.Annotations == nil {
				to.Annotations = map[string]string{}
			}
			to.Annotations["example.com/note"] = from.Spec.Note
			return nil
		}, func(_ context.Context, from *siteV3, to *siteV2) error {
			to.Spec.Hosts, to.Spec.Note = from.Spec.Names, from.Annotations["example.com/note"]
			delete(to.Annotations, "example.com/note")
			return nil
		}),
	}
}

// hooks serves all of them.
func hooks() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/validate", webhook.Validate(Sites, decide))
	mux.Handle("/default", webhook.Default(Sites, complete))
	mux.Handle("/convert", webhook.Convert(steps()...))
	return mux
}
