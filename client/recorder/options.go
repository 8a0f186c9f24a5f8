package recorder

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client/meta"
)

// Options configure a Recorder. Controller must be set; the zero value of every other field is a usable default.
type Options struct {
	// Controller names the program, or the part of it that makes the records, such as "example.com/page-controller".
	// kubectl shows it as the source. It has the form of a label key: an optional DNS subdomain and a slash, and a name
	// of up to 63 letters, digits, "-", "_" and ".".
	Controller string
	// Instance distinguishes the replicas of the program, in at most 128 bytes. Empty means the host name, which in a
	// cluster is the name of the pod.
	Instance string

	// Burst is how many new records of one type an object may have at once. A repetition is not a new record. After
	// that the object may have one more every 5 minutes. 0 means 25, and a negative number means no limit.
	Burst int
	// Similar limits the records within ten minutes that differ only in their notes: record number Similar and the
	// later ones are combined into one record. 0 means 10, and a negative number means that records are never combined.
	Similar int
	// Grace is how long Run still sends waiting records after its context has ended. 0 means 5 s, and a negative
	// duration means that Run drops them.
	Grace time.Duration

	// OnError is called with every error:
	//
	//   - an error of the server, which is retried;
	//   - a *DropError, when records have been dropped;
	//   - an error that says how many records have been cut, and why;
	//   - once, an error that quotes a reason that a server would refuse in a condition. Records with such a reason are
	//     sent.
	//
	// Only Run calls it, so a slow OnError does not delay [Recorder.Record], only the sending. Several goroutines may
	// call it at once with errors of the server.
	//
	// If it is nil, the recorder logs errors during Run: the first at once, and repeated ones at growing intervals of
	// up to a quarter of an hour. To discard the errors, set a function that does nothing.
	OnError func(error)
	// Hooks observe the recorder, for metrics and traces; see also [WithHooks].
	Hooks Hooks
	// Logger receives errors if OnError is nil, and, at V(4), each record that the server has accepted. If it is the
	// zero Logger, which logr.Discard() returns too, the recorder uses the logger of Run's context (logr.NewContext),
	// or else slog.Default().
	Logger logr.Logger
}

// The defaults and fixed limits.
const (
	defaultBurst   = 25
	defaultSimilar = 10
	defaultGrace   = 5 * time.Second

	refill = 5 * time.Minute // the time after which an object may have one more record than Burst
	queued = 1000            // how many new records may wait for the server, even before Run
	maxAge = time.Hour       // how long a record may wait for the server, which forgets records after an hour too
)

// validate returns every reason why o cannot be used.
func (o Options) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("recorder.Options: "+format, args...))
	}
	if o.Controller == "" {
		bad(`Controller must be set, such as "example.com/page-controller"`)
	} else if err := meta.ValidLabelKey(o.Controller); err != nil {
		bad("Controller must have the form of a label key: %w", err)
	}
	switch {
	case len(o.Instance) > maxInstance:
		bad("Instance must have at most %d bytes, got %d", maxInstance, len(o.Instance))
	case !utf8.ValidString(o.Instance):
		bad("Instance must be valid UTF-8, got %q", o.Instance)
	}
	if o.Similar == 1 {
		bad("Similar must be 0 (10), negative (never) or at least 2, got 1")
	}
	return errors.Join(errs...)
}

// withDefaults returns o with defaults for its zero values, except Instance.
func (o Options) withDefaults() Options {
	o.Burst, o.Similar, o.Grace = cmp.Or(o.Burst, defaultBurst), cmp.Or(o.Similar, defaultSimilar), cmp.Or(o.Grace, defaultGrace)
	return o
}

// instance returns the name of this replica.
func (o Options) instance() (string, error) {
	if o.Instance != "" {
		return o.Instance, nil
	}
	host, err := os.Hostname()
	switch {
	case err != nil:
		return "", fmt.Errorf("recorder.Options: Instance must be set, because the host name cannot be read: %w", err)
	case host == "" || len(host) > maxInstance || !utf8.ValidString(host):
		return "", fmt.Errorf("recorder.Options: Instance must be set, because the host name must have 1 to %d bytes of UTF-8, got %q", maxInstance, host)
	}
	return host, nil
}
