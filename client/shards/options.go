package shards

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
)

// Options says which group a replica belongs to, and how it shares the work. Namespace and Name must be set; the zero
// value of every other field is a usable default. All replicas of a group must have the same By, and should have the
// same durations.
type Options struct {
	// Namespace is where the leases of the replicas are, and Name is the name of the group. The name of a replica's
	// lease is the group's name, a hyphen and the replica's identity. Each lease has the label [GroupLabel].
	Namespace string
	Name      string

	// By says what decides which range an object is in. Empty means meta.ShardByUID. Change By only together with
	// Name: if two replicas of a group differ in By, one works on nothing while the other works, and both report it.
	//
	// Ranges by uid hold about the same number of objects each. Three replicas usually own 70 to 100 ranges each, and
	// eight own 22 to 43. An object and its children are usually in different ranges. If an object is deleted and made
	// again, the new one has another uid, so one replica may still reconcile the deletion of the key while another
	// reconciles the new object. Use a finalizer for cleanup after a deletion.
	//
	// A controller that watches children needs ranges by namespace, meta.ShardByNamespace. All objects of a namespace
	// are in one range, and so are all cluster-scoped objects. Names that differ only in the last two characters, such
	// as team-01 to team-99, usually share a range too, so one replica may have all the work.
	By meta.ShardBy

	// Identity is the name of this replica. No two replicas may have the same. Empty means the host name (in a
	// cluster, the name of the pod) followed by a random text.
	Identity string
	// Weight is this replica's part of the work, compared with that of others: a replica of weight 2 gets twice as many
	// ranges as one of weight 1. 0 means 1.
	Weight int

	// LeaseDuration, RenewDeadline and RetryPeriod are those of the replica's lease; see [leader.Options]. The ranges
	// of a replica that has crashed pass to others LeaseDuration after its last renewal. 0 means 15 s, 10 s and 2 s.
	LeaseDuration time.Duration
	RenewDeadline time.Duration
	RetryPeriod   time.Duration
	// Drain is how long the work under way on a range may continue once this replica gives up the range; then its
	// context ends. The range is handed over when the work has returned, or its context has ended. 0 means
	// RenewDeadline.
	Drain time.Duration
	// Handover is how long a leaving replica continues its work at most, until others have taken over all its ranges. 0
	// means twice LeaseDuration. The replica does not wait if there are no others.
	Handover time.Duration

	// Labels are set on the lease of this replica, besides [GroupLabel].
	Labels map[string]string

	// Hooks are called on events that a program may want to observe.
	Hooks Hooks
	// OnError is called with every error that [Group.Run] does not return, such as a *leader.LostError when this
	// replica has lost its lease and so all its ranges. Several goroutines may call it at once. It should return soon.
	//
	// If it is nil, Run logs the errors: each at once, and a repeated one at growing intervals of up to a quarter of an
	// hour, until the operation works again. Set a function that does nothing to silence them.
	OnError func(error)
	// Logger receives errors if OnError is nil, and each change of the ranges. If it is the zero Logger, which
	// logr.Discard() returns too, Run uses the logger of its context (logr.NewContext), or else slog.Default().
	Logger logr.Logger
}

// GroupLabel is the label that all leases of a group have. Its value is the name of the group.
const GroupLabel = "shards.bowline-go.github.io/group"

// maxWeight is the largest Options.Weight. There are only 256 ranges, so larger weights would divide them no better.
const maxWeight = 1000

// withDefaults returns c with the defaults for its zero values.
func (c Options) withDefaults() Options {
	c.By = cmp.Or(c.By, meta.ShardByUID)
	c.Weight = cmp.Or(c.Weight, 1)
	c.LeaseDuration = cmp.Or(c.LeaseDuration, 15*time.Second)
	c.RenewDeadline = cmp.Or(c.RenewDeadline, 10*time.Second)
	c.RetryPeriod = cmp.Or(c.RetryPeriod, 2*time.Second)
	c.Drain = cmp.Or(c.Drain, c.RenewDeadline)
	c.Handover = cmp.Or(c.Handover, 2*c.LeaseDuration)
	c.Labels = maps.Clone(c.Labels)
	if c.Identity == "" {
		c.Identity = newIdentity()
	}
	return c
}

// newIdentity returns a name that no other process has, and that can be the end of a lease's name.
func newIdentity() string {
	random := strings.ToLower(rand.Text()[:10])
	host, _ := os.Hostname()
	host = strings.Trim(strings.Map(func(r rune) rune {
		if r == '.' || isAlphanumeric(r) {
			return r
		}
		return '-'
	}, strings.ToLower(host)), "-.")
	if host == "" {
		return random
	}
	return host + "-" + random
}

// lease returns the key of the replica's lease.
func (c Options) lease() meta.Key {
	return meta.Key{Namespace: c.Namespace, Name: c.Name + "-" + c.Identity}
}

// labels returns the labels of the replica's lease.
func (c Options) labels() map[string]string {
	all := map[string]string{}
	maps.Copy(all, c.Labels)
	all[GroupLabel] = c.Name
	return all
}

// validate returns every reason why c, with its defaults, cannot be used.
func (c Options) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("shards.Options: "+format, args...))
	}
	if err := meta.ValidSegment("shards.Options: Namespace", c.Namespace); err != nil {
		errs = append(errs, err)
	}
	if err := meta.ValidLabelValue(c.Name); err != nil {
		bad("Name must be the value of a label, got %q", c.Name)
	}
	if name := c.lease().Name; c.Name == "" {
		bad("Name must be set")
	} else if !isSubdomain(name) {
		bad("Name and Identity must make the name of a lease: at most %d lower case letters, digits, hyphens and dots, the first and the last a letter or digit; got %q", maxName, name)
	}
	if err := c.By.Validate(); err != nil {
		bad("By: %w", err)
	}
	if c.Weight < 1 || c.Weight > maxWeight {
		bad("Weight must be 0 (1) or more, up to %d, got %d", maxWeight, c.Weight)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"Drain", c.Drain}, {"Handover", c.Handover}} {
		if d.value < 0 {
			bad("%s must be 0 or more, got %v", d.name, d.value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
		if key == GroupLabel {
			bad("Labels: %s is set by the Group", key)
		} else if err := meta.ValidLabelKey(key); err != nil {
			bad("Labels: %w", err)
		} else if err := meta.ValidLabelValue(c.Labels[key]); err != nil {
			bad("Labels[%q]: %w", key, err)
		}
	}
	if len(errs) == 0 {
		if err := c.election().Validate(); err != nil {
			bad("the lease: %w", err)
		}
	}
	return errors.Join(errs...)
}

// maxName is the maximum length of a lease's name.
const maxName = 253

func isAlphanumeric(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }

// isSubdomain reports whether s can be the name of a lease.
func isSubdomain(s string) bool {
	if s == "" || len(s) > maxName || !isAlphanumeric(rune(s[0])) || !isAlphanumeric(rune(s[len(s)-1])) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !isAlphanumeric(r) && r != '-' && r != '.' })
}

// election returns the Options with which package leader keeps the replica's lease.
func (c Options) election() leader.Options {
	key := c.lease()
	return leader.Options{
		Namespace: key.Namespace, Name: key.Name, Identity: c.Identity, Labels: c.labels(),
		LeaseDuration: c.LeaseDuration, RenewDeadline: c.RenewDeadline, RetryPeriod: c.RetryPeriod,
	}
}
