package certificates

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// A target is an object that says which authority an API server trusts. The Issuer writes only its fields caBundle.

// hook is the part of a target that says how to call one webhook.
type hook struct {
	name   string // of the webhook; empty in a definition
	path   string // JSON pointer to its clientConfig
	config clientConfig
}

type clientConfig struct {
	CABundle []byte  `json:"caBundle,omitempty"`
	URL      *string `json:"url,omitempty"`
	Service  *struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"service,omitempty"`
}

// configuration is a webhook configuration, of either kind.
type configuration struct {
	meta.Identity `json:"metadata"`
	Webhooks      []struct {
		Name   string       `json:"name"`
		Config clientConfig `json:"clientConfig"`
	} `json:"webhooks,omitempty"`
}

// hooks returns the webhooks.
func (c *configuration) hooks() (all []hook) {
	for i, w := range c.Webhooks {
		all = append(all, hook{w.Name, "/webhooks/" + strconv.Itoa(i), w.Config})
	}
	return all
}

// definition is a CustomResourceDefinition.
type definition struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		Conversion *struct {
			Webhook *struct {
				Config *clientConfig `json:"clientConfig,omitempty"`
			} `json:"webhook,omitempty"`
		} `json:"conversion,omitempty"`
	} `json:"spec"`
}

// hooks returns the conversion webhook, if there is one.
func (d *definition) hooks() []hook {
	if c := d.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.Config != nil {
		return []hook{{"", "/spec/conversion/webhook", *c.Webhook.Config}}
	}
	return nil
}

const registration = "admissionregistration.k8s.io"

// The resources of the targets.
func validating() client.Type[*configuration] {
	return client.Type[*configuration]{
		Group: registration, Version: "v1", Kind: "ValidatingWebhookConfiguration", Resource: "validatingwebhookconfigurations", Scope: meta.Cluster,
	}
}

func mutating() client.Type[*configuration] {
	return client.Type[*configuration]{
		Group: registration, Version: "v1", Kind: "MutatingWebhookConfiguration", Resource: "mutatingwebhookconfigurations", Scope: meta.Cluster,
	}
}

func definitions() client.Type[*definition] {
	return client.Type[*definition]{
		Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition", Resource: "customresourcedefinitions", Scope: meta.Cluster,
	}
}

// target is one target. Only one goroutine uses it.
type target struct {
	what   string          // its kind and name, for people
	access []client.Access // the permissions that it needs
	// version returns the present version of the object. read returns its version and webhooks; because a definition
	// may be large, look calls read only if the version has changed.
	version func(ctx context.Context) (string, error)
	read    func(ctx context.Context) (string, []hook, error)
	patch   func(ctx context.Context, p patch.Patch) (version string, err error)

	seen  string // the version of the object from which hooks was read
	hooks []hook // the webhooks that are ours
}

func newTarget[T interface {
	meta.Object
	hooks() []hook
}](c *client.Client, of client.Type[T], name string) *target {
	r, key := client.For(c, of), meta.Key{Name: name}
	metadata := client.Metadata(r)
	return &target{
		what: of.Kind + " " + strconv.Quote(name), access: r.One(key).Access("get", "patch"),
		version: func(ctx context.Context) (string, error) {
			obj, err := metadata.Get(ctx, key)
			if err != nil {
				return "", err
			}
			return obj.GetResourceVersion(), nil
		},
		read: func(ctx context.Context) (string, []hook, error) {
			obj, err := r.Get(ctx, key)
			if err != nil {
				return "", nil, err
			}
			return obj.GetResourceVersion(), obj.hooks(), nil
		},
		patch: func(ctx context.Context, p patch.Patch) (string, error) {
			obj, err := r.Patch(ctx, key, p)
			if err != nil {
				return "", err
			}
			return obj.GetResourceVersion(), nil
		},
	}
}

// targets returns the targets that the options name.
func targets(c *client.Client, o Options) (all []*target) {
	for _, name := range o.Validating {
		all = append(all, newTarget(c, validating(), name))
	}
	for _, name := range o.Mutating {
		all = append(all, newTarget(c, mutating(), name))
	}
	for _, name := range o.Definitions {
		all = append(all, newTarget(c, definitions(), name))
	}
	return all
}

// look reads our webhooks if they may have changed.
func (t *target) look(ctx context.Context, o Options) error {
	version, err := t.version(ctx)
	if err == nil && version != t.seen {
		t.seen, t.hooks, err = t.read(ctx)
		t.hooks = slices.DeleteFunc(t.hooks, func(h hook) bool { return !h.config.calls(o) })
	}
	if errors.Is(err, apierrors.NotFound) {
		return &absentError{t.what + " does not exist"}
	}
	if err != nil {
		return err
	}
	return t.absent(o)
}

// absent returns an error if no webhook of the target is ours.
func (t *target) absent(o Options) error {
	if len(t.hooks) > 0 {
		return nil
	}
	return &absentError{fmt.Sprintf("no webhook of %s calls %q", t.what, o.names())}
}

// absentError says that a target does not exist, or has no webhook of ours, so no API server trusts anything there.
type absentError struct{ text string }

// Error implements error.
func (e *absentError) Error() string { return e.text }

// calls reports whether a webhook calls the servers of the options.
func (c clientConfig) calls(o Options) bool {
	if c.Service != nil {
		return c.Service.Namespace == o.Service.Namespace && c.Service.Name == o.Service.Name
	}
	if c.URL == nil {
		return false
	}
	at, err := url.Parse(*c.URL)
	return err == nil && slices.Contains(o.names(), at.Hostname())
}

// bundled returns the authorities that all our webhooks trust.
func (t *target) bundled() (all []*x509.Certificate) {
	for i, h := range t.hooks {
		here := certificatesIn(h.config.CABundle)
		if i == 0 {
			all = here
			continue
		}
		all = slices.DeleteFunc(all, func(c *x509.Certificate) bool { return !has(here, c) })
	}
	return all
}

// write makes all our webhooks trust the given authorities, and those of their present authorities for which keep
// returns true. It reports whether it has written.
func (t *target) write(ctx context.Context, authorities []*x509.Certificate, keep func(*x509.Certificate) bool) (bool, error) {
	want := slices.Clone(authorities)
	for _, h := range t.hooks {
		for _, c := range certificatesIn(h.config.CABundle) {
			if keep(c) {
				want = append(want, c)
			}
		}
	}
	text, _ := bundle(want...)
	var ops []patch.Op
	for i, h := range t.hooks {
		if bytes.Equal(h.config.CABundle, text) {
			continue
		}
		if h.name != "" {
			ops = append(ops, patch.Test(h.path+"/name", h.name))
		}
		ops = append(ops, patch.Add(h.path+"/clientConfig/caBundle", text))
		t.hooks[i].config.CABundle = text
	}
	if len(ops) == 0 {
		return false, nil
	}
	version, err := t.patch(ctx, patch.JSON(ops...).WithResourceVersion(t.seen))
	t.seen = version
	if err != nil {
		t.seen = "" // the present version is unknown, so the next look reads the object again
	}
	return err == nil, err
}

// ensure looks at a target and writes to it, so that all our webhooks trust the given authorities.
func (t *target) ensure(ctx context.Context, o Options, authorities []*x509.Certificate, keep func(*x509.Certificate) bool) (wrote bool, err error) {
	for range 5 { // another replica may write at the same time
		if err = t.look(ctx, o); err != nil {
			break
		}
		if wrote, err = t.write(ctx, authorities, keep); !errors.Is(err, apierrors.Invalid) && !errors.Is(err, apierrors.Conflict) {
			break
		}
	}
	return wrote, err
}
