package certificates

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/retry"
)

const (
	// pace is the time between two looks at the Secret and the configurations.
	pace = 10 * time.Second
	// settleTime is how long all configurations must have had a new authority before a replica shows a certificate of
	// it. A replica without a valid certificate does not wait. The watches of an API server take seconds at most.
	settleTime = 5 * time.Minute
	// patience is how long one look may take.
	patience = time.Minute
)

// Issuer supplies the certificate of a webhook server, and makes API servers trust it. It is a webhook.Source, and a
// Runner of an informer.Group. Its methods are safe for use by several goroutines at once.
type Issuer struct {
	o       Options
	name    string // of the authorities
	secrets client.Resource[*secret]
	targets []*target
	log     *report.Log

	pace time.Duration           // pace, except in tests
	told map[string]*report.Pace // only the goroutine of Run uses it

	mu      sync.Mutex // guards the fields below
	running bool
	served  *pair
	by      *x509.Certificate // the authority that has signed served
	err     error             // of the last look at the Secret
	at      []trust           // of each target
	state   state             // the last seen state of the Secret; zero if there is none
	since   map[string]time.Time
}

// trust is what the Issuer knows about a target.
type trust struct {
	known   bool  // a look has succeeded since the Run began, and since the target was last absent
	err     error // the error of the last look: the target is absent, or a request has failed
	bundled []*x509.Certificate
}

// New returns an Issuer that does nothing until it runs. Run returns an error if the options cannot be used.
func New(c *client.Client, o Options) *Issuer {
	o.Lifetime = cmp.Or(o.Lifetime, defaultLifetime)
	o.Names, o.Validating = slices.Clone(o.Names), slices.Clone(o.Validating)
	o.Mutating, o.Definitions = slices.Clone(o.Mutating), slices.Clone(o.Definitions)
	i := &Issuer{
		o: o, name: authorityName(o.Secret), secrets: client.For(c, secrets), targets: targets(c, o), log: report.New(o.Logger),
		pace: pace, told: map[string]*report.Pace{}, since: map[string]time.Time{},
	}
	i.at = make([]trust, len(i.targets))
	return i
}

// Permissions returns the permissions that the Issuer needs; see the documentation of the package.
func (i *Issuer) Permissions() []client.Access {
	in := i.secrets.In(i.o.Secret.Namespace)
	all := append(in.Access("create"), in.One(i.o.Secret).Access("get", "update")...)
	for _, t := range i.targets {
		all = append(all, t.access...)
	}
	return all
}

// Run keeps the Secret, the configurations and the certificate current until ctx ends, and returns nil then. It looks
// at each of them every ten seconds, and after an error within 30 seconds. It returns an error at once if the options
// cannot be used, or if the Issuer runs already. It may be called again.
func (i *Issuer) Run(ctx context.Context) error {
	if err := i.begin(); err != nil {
		return err
	}
	defer func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.running = false
	}()
	i.log.Start(ctx)
	defer i.log.Stop()
	failing := retry.New(retry.Policy{Base: time.Second, Max: 30 * time.Second})
	for ctx.Err() == nil {
		err := i.look(ctx)
		wait := i.pace + rand.N(i.pace/10)
		if err != nil {
			floor, _ := apierrors.RetryAfter(err)
			wait = failing.Next(floor)
		} else {
			failing.Reset()
		}
		_ = retry.Sleep(ctx, wait) // the loop checks ctx
	}
	return nil
}

// begin checks the options, and marks the Issuer as running.
func (i *Issuer) begin() error {
	if err := i.o.validate(); err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.running {
		return fmt.Errorf("run %v: already running", i)
	}
	i.running = true
	clear(i.since)
	clear(i.at)
	clear(i.told)
	return nil
}

// Certificate returns the certificate that a server should show to new connections. It returns an error until the
// Secret has been read or created. After Run has ended, it still returns the last certificate.
func (i *Issuer) Certificate() (*tls.Certificate, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.served == nil {
		return nil, i.none()
	}
	return i.served.tls, nil
}

// none returns why there is no certificate. The caller holds mu.
func (i *Issuer) none() error {
	if i.err != nil {
		return fmt.Errorf("%v: there is no certificate yet: %w", i, i.err)
	}
	return fmt.Errorf("%v: there is no certificate yet", i)
}

// Ready returns nil while the Issuer runs, its certificate is valid, and each configuration trusts its authority. The
// errors say what is missing. Failed requests do not change what the Issuer knows about the configurations, so an API
// server that is away for a while does not make a replica unready.
func (i *Issuer) Ready() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case !i.running:
		return fmt.Errorf("%v: Issuer.Run does not run", i)
	case i.served == nil:
		return i.none()
	}
	errs := []error{conn.Validity(i.served.cert, time.Now())}
	for n := range i.at {
		errs = append(errs, i.distrust(n))
	}
	return errors.Join(errs...)
}

// distrust returns why a target does not trust the certificate, or nil. The caller holds mu.
func (i *Issuer) distrust(n int) error {
	switch at := i.at[n]; {
	case !at.known && at.err != nil:
		return at.err
	case !at.known:
		return fmt.Errorf("%s has not been looked at yet", i.targets[n].what)
	case i.by == nil || !has(at.bundled, i.by):
		return fmt.Errorf("the caBundle of %s does not have the authority of the certificate: %w",
			i.targets[n].what, cmp.Or(at.err, errors.New("it is not written yet")))
	}
	return nil
}

// String names the Issuer in logs.
func (i *Issuer) String() string { return "certificates in Secret " + i.o.Secret.String() }
