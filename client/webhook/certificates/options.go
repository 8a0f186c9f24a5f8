package certificates

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client/meta"
)

// Options say where the Issuer keeps the certificates, and which configurations must trust them. Set Secret, Service or
// Names, and at least one of Validating, Mutating and Definitions. All replicas of a program should have the same
// options.
type Options struct {
	// Secret is the key of the Secret that the replicas share. Run creates it, with the type kubernetes.io/tls, but not
	// its namespace. Run fills a Secret without data, so a manifest may create it. Run keeps data under other keys.
	Secret meta.Key
	// Service is the key of the Service that the configurations name. The certificate is for NAME.NAMESPACE.svc.
	Service meta.Key
	// Names are further DNS names and IP addresses of the certificate, for webhooks that are called by a URL with such a
	// host.
	Names []string

	// Validating, Mutating and Definitions are the names of the ValidatingWebhookConfigurations,
	// MutatingWebhookConfigurations and CustomResourceDefinitions whose webhooks get the authority as caBundle. Webhooks
	// in them that call another Service, or a URL with another host, are left alone.
	Validating, Mutating, Definitions []string

	// Lifetime is how long a certificate of the servers is valid, at least an hour. It is renewed when a third of it is
	// left. An authority is valid for eight times as long, and its successor is announced when a quarter of that is
	// left. 0 means 90 days. So a stolen key is useful for no longer than the keys of public authorities, and a cluster
	// that was off for a month starts with a valid certificate.
	Lifetime time.Duration
	// Labels are set on a Secret that Run creates. A webhook that is asked about Secrets should exclude this Secret by
	// such a label; see the package's documentation.
	Labels map[string]string

	// OnError is called with each error of background work, which Run retries. It should return soon. If it is nil, Run
	// logs the errors: the first at once, and repeated ones at growing intervals, until the work succeeds.
	OnError func(error)
	// Logger receives the errors if OnError is nil, and each change of a certificate or a caBundle. If it is the zero
	// Logger, Run uses the logger of its context (logr.NewContext), or else slog.Default().
	Logger logr.Logger
}

const (
	defaultLifetime = 90 * 24 * time.Hour
	leastLifetime   = time.Hour
	// longestLifetime keeps authorities within the years that certificates can express.
	longestLifetime = 10 * 365 * 24 * time.Hour
)

// hostName matches a DNS name (RFC 1123).
var hostName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// validate returns every reason why the options cannot be used.
func (o Options) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("certificates.Options: "+format, args...))
	}
	if o.Secret.Namespace == "" || o.Secret.Name == "" {
		bad("Secret must have a namespace and a name, got %q", o.Secret)
	}
	if (o.Service.Namespace == "") != (o.Service.Name == "") {
		bad("Service must have a namespace and a name, got %q", o.Service)
	}
	if len(o.names()) == 0 {
		bad("Service or Names must be set")
	}
	for _, name := range o.names() {
		if _, err := netip.ParseAddr(name); err != nil && (len(name) > 253 || !hostName.MatchString(name)) {
			bad("the names of the certificate must be DNS names or IP addresses, got %q", name)
		}
	}
	if len(o.Validating)+len(o.Mutating)+len(o.Definitions) == 0 {
		bad("at least one of Validating, Mutating and Definitions must be set")
	}
	for field, names := range map[string][]string{"Validating": o.Validating, "Mutating": o.Mutating, "Definitions": o.Definitions} {
		if slices.Contains(names, "") {
			bad("%s must not have an empty name", field)
		}
	}
	if o.Lifetime != 0 && (o.Lifetime < leastLifetime || o.Lifetime > longestLifetime) {
		bad("Lifetime must be 0, or %v to %v, got %v", leastLifetime, longestLifetime, o.Lifetime)
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// names returns the names of the certificate.
func (o Options) names() []string {
	var all []string
	if o.Service.Namespace != "" && o.Service.Name != "" {
		all = append(all, o.Service.Name+"."+o.Service.Namespace+".svc")
	}
	return append(all, o.Names...)
}
