package leader

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client/meta"
)

// Options says which lease decides who leads, and how fast. Namespace and Name must be set; the zero value of every
// other field is a usable default. All processes that contend for a lease should have the same durations.
type Options struct {
	// Namespace and Name are the key of the Lease object. Run creates the lease if it does not exist, but not its
	// namespace.
	Namespace string
	Name      string

	// Identity identifies this process in the lease. It must differ between processes. Empty means the host name, which
	// in a cluster is the name of the pod, and a random suffix, different for each Elector.
	Identity string

	// LeaseDuration is how long contenders wait after the last renewal that they have seen before they take the lease.
	// It must be a whole number of seconds. 0 means 15 s.
	LeaseDuration time.Duration
	// RenewDeadline is how long this process leads after it has sent its last successful renewal. It must be at least a
	// second shorter than LeaseDuration: the difference allows for clocks of different speed, and for contenders with
	// client-go, which see renewals only to the second. 0 means 10 s.
	RenewDeadline time.Duration
	// RetryPeriod is the time between two renewals, and the maximum time between two attempts of a failing renewal.
	// RenewDeadline must be longer than 1.2 times RetryPeriod. 0 means 2 s.
	RetryPeriod time.Duration

	// Labels are set on the lease by each write that takes or renews it. Other labels stay.
	Labels map[string]string

	// Grace is how long lead may still run after the lease is lost before [Elector.Live] returns an error. 0 means
	// LeaseDuration.
	Grace time.Duration

	// Hooks are called on events that a program may want to observe.
	Hooks Hooks
	// OnError is called with every error that [Elector.Run] does not return:
	//
	//   - an error of a read, a write or a watch of the lease, which Run retries;
	//   - an error of the release of the lease, when Run gives up the release;
	//   - at growing intervals, that an unrenewed lease excludes this process for much longer than LeaseDuration, for
	//     example because somebody has edited its spec.leaseDurationSeconds;
	//   - at growing intervals, that lead still runs after its context has ended.
	//
	// Several goroutines may call it at once. It should return soon, because renewals may wait for it; if it does not
	// return, the lease is lost at its deadline.
	//
	// If it is nil, Run logs the errors: the first at once, and repeated ones at growing intervals of up to a quarter
	// of an hour, until the operation works again. To discard the errors, set a function that does nothing.
	OnError func(error)
	// Logger receives errors if OnError is nil, and each change of leadership. If it is the zero Logger, which
	// logr.Discard() returns too, Run uses the logger of its context (logr.NewContext), or else slog.Default().
	Logger logr.Logger
}

// The defaults are those that programs with client-go commonly use.
const (
	defaultLeaseDuration = 15 * time.Second
	defaultRenewDeadline = 10 * time.Second
	defaultRetryPeriod   = 2 * time.Second
)

// margin is the least difference between LeaseDuration and RenewDeadline.
const margin = time.Second

// withDefaults returns c with the defaults for its zero values.
func (c Options) withDefaults() Options {
	c.LeaseDuration = cmp.Or(c.LeaseDuration, defaultLeaseDuration)
	c.RenewDeadline = cmp.Or(c.RenewDeadline, defaultRenewDeadline)
	c.RetryPeriod = cmp.Or(c.RetryPeriod, defaultRetryPeriod)
	c.Grace = cmp.Or(c.Grace, c.LeaseDuration)
	c.Labels = maps.Clone(c.Labels)
	c.Identity = cmp.Or(c.Identity, newIdentity())
	return c
}

// newIdentity returns a unique identity.
func newIdentity() string {
	random := strings.ToLower(rand.Text()[:16])
	host, err := os.Hostname()
	if err != nil || host == "" {
		return random
	}
	return host + "_" + random
}

// Validate returns every reason why [Elector.Run] refuses c; nil if it does not.
func (c Options) Validate() error { return c.withDefaults().validate() }

// validate returns every reason why c, with its defaults, cannot be used.
func (c Options) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("leader.Options: "+format, args...))
	}
	for _, f := range []struct{ field, value string }{{"Namespace", c.Namespace}, {"Name", c.Name}} {
		if err := meta.ValidSegment("leader.Options: "+f.field, f.value); err != nil {
			errs = append(errs, err)
		}
	}
	c.validateDurations(bad)
	for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
		if err := meta.ValidLabelKey(key); err != nil {
			bad("Labels: %w", err)
		} else if err := meta.ValidLabelValue(c.Labels[key]); err != nil {
			bad("Labels[%q]: %w", key, err)
		}
	}
	if c.Grace < 0 {
		bad("Grace must be 0 (LeaseDuration) or more, got %v", c.Grace)
	}
	return errors.Join(errs...)
}

// validateDurations checks that a process can hold a lease with these durations, and that the lease excludes others.
func (c Options) validateDurations(bad func(format string, args ...any)) {
	switch {
	case c.LeaseDuration <= 0 || c.LeaseDuration%time.Second != 0 || c.LeaseDuration/time.Second > math.MaxInt32:
		bad("LeaseDuration must be 0 (%v) or a whole, positive number of seconds, got %v", defaultLeaseDuration, c.LeaseDuration)
	case c.RenewDeadline <= 0:
		bad("RenewDeadline must be 0 (%v) or more, got %v", defaultRenewDeadline, c.RenewDeadline)
	case c.RenewDeadline > c.LeaseDuration-margin:
		bad("RenewDeadline must be at least %v shorter than LeaseDuration (%v), got %v", margin, c.LeaseDuration, c.RenewDeadline)
	}
	switch {
	case c.RetryPeriod <= 0:
		bad("RetryPeriod must be 0 (%v) or more, got %v", defaultRetryPeriod, c.RetryPeriod)
	case c.RenewDeadline > 0 && c.RenewDeadline <= c.RetryPeriod+c.RetryPeriod/5:
		bad("RenewDeadline (%v) must be longer than 1.2 times RetryPeriod (%v)", c.RenewDeadline, c.RetryPeriod)
	}
}
