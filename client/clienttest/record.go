package clienttest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/internal/recording"
	"github.com/bowline-go/bowline/client/meta"
)

// RecordOptions say what [Record] writes. File and Resources must be set.
type RecordOptions struct {
	// File is the path of the file. Record creates it, readable by its owner alone, or continues the recording that it
	// has. Only one Record may write into a file at a time.
	File string

	// Resources are recorded, such as Pods.GVR() of a client.Type. The user of the client must be allowed to list and
	// watch each of them. With CustomResourceDefinitions among them, a replay serves custom resources with their
	// schemas. All versions of a resource have the same objects, so each may be named in one version only.
	Resources []meta.GVR

	// Namespaces limit the namespaced resources; empty means all namespaces. Other resources are always recorded as a
	// whole.
	Namespaces []string

	// MaxBytes is the greatest size of the file; 0 means 256 MiB.
	MaxBytes int64

	// Secrets says what becomes of the values of Secrets. The zero value replaces them by hashes.
	Secrets RecordedSecrets

	// Change, if set, is called with each object before it is written, after the values of Secrets have been replaced, and
	// may change it. Use it to remove what is private besides Secrets: config maps, environment variables and arguments of
	// containers, annotations, custom resources. It must not change the kind, the namespace, the name, the uid or the
	// resource version. It is not called by several goroutines at once.
	Change func(*meta.Unstructured)
}

// RecordedSecrets says how a recording treats the values in data and stringData of core Secrets.
type RecordedSecrets int

const (
	// SecretsHashed writes a keyed hash in the place of each value. Equal values have equal hashes within one call of
	// Record. The key is random and is not kept, so nobody can try values. Labels and annotations that hold a value, that
	// are JSON or that are longer than 256 bytes are hashed too, because they may hold copies. Members that Secrets do not
	// have are left out.
	SecretsHashed RecordedSecrets = iota
	// SecretsOmitted leaves out the values, the labels and annotations that SecretsHashed hashes, and managedFields,
	// which have the keys of data.
	SecretsOmitted
	// SecretsKept writes Secrets as they are.
	SecretsKept
)

// String returns hashed, omitted or kept, and the number of any other value.
func (s RecordedSecrets) String() string {
	names := [...]string{"hashed", "omitted", "kept"}
	if s < 0 || int(s) >= len(names) {
		return strconv.Itoa(int(s))
	}
	return names[s]
}

const defaultMaxBytes = 256 << 20

// validate returns every reason why o cannot be used.
func (o *RecordOptions) validate() error {
	var errs []error
	fail := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("clienttest.RecordOptions: "+format, args...))
	}
	if o.File == "" {
		fail("File must be set")
	}
	if len(o.Resources) == 0 {
		fail("Resources must not be empty")
	}
	for i, r := range o.Resources {
		for _, f := range []struct{ name, value string }{{"Version", r.Version}, {"Resource", r.Resource}} {
			if err := meta.ValidSegment(fmt.Sprintf("Resources[%d].%s", i, f.name), f.value); err != nil {
				fail("%w", err)
			}
		}
		if r.Group != "" {
			if err := meta.ValidSegment(fmt.Sprintf("Resources[%d].Group", i), r.Group); err != nil {
				fail("%w", err)
			}
		}
		same := func(other meta.GVR) bool { return other.Group == r.Group && other.Resource == r.Resource }
		if first := slices.IndexFunc(o.Resources, same); first < i {
			fail("Resources[%d] has the objects of Resources[%d] (%s)", i, first, o.Resources[first])
		}
	}
	for i, n := range o.Namespaces {
		if err := meta.ValidSegment(fmt.Sprintf("Namespaces[%d]", i), n); err != nil {
			fail("%w", err)
		}
		if first := slices.Index(o.Namespaces, n); first < i {
			fail("Namespaces[%d] duplicates Namespaces[%d] (%q)", i, first, n)
		}
	}
	if o.MaxBytes < 0 {
		fail("MaxBytes must not be negative, got %d", o.MaxBytes)
	}
	if o.Secrets < SecretsHashed || o.Secrets > SecretsKept {
		fail("Secrets must be SecretsHashed, SecretsOmitted or SecretsKept, got %d", o.Secrets)
	}
	return errors.Join(errs...)
}

// Record writes what the client may see of a cluster into a file: the objects of the chosen resources, and then their
// watch events with their times. It ends with ctx, or with an error when the file has reached its limit. The end of ctx
// is an error only if it comes before the first lists are complete. [Options.Replay] starts a server from the file, in
// a test.
//
// The first lists show all resources at the same moment if the server has one counter of versions for them. Then no
// event is missing: an interrupted watch goes on at its last version, and the file has a line of type CUT. If the
// server no longer has that version, the file has a line of type GAP, and after it each object that has changed over
// the gap, in its present state. Outages may last as long as ctx allows.
//
// Record returns an error before it writes anything if the server does not serve a resource, or does not let the client
// list or watch it. If permission is withdrawn later, the file says so in a line of type CUT, and Record goes on
// asking.
//
// If the file has a recording of the same cluster with the same choices, Record continues it, after a crash too: it
// cuts off a line that is not complete, and follows each resource from its last version. If the recording ended before
// its first lists were complete, it begins again. It is an error if the file has anything else.
//
// The file has a JSON object on each line, for people and programs such as jq. The first line says what is recorded, of
// which server, since when. Each other line has the seconds since then (at) and a type:
//
//	LISTED                     an object of the first lists, as the server sent it
//	ADDED, MODIFIED, DELETED   an event, with its object. With "gap" it was found by a list after a gap
//	SYNCED                     a list of the resource is complete, at this resource version
//	BOOKMARK                   nothing up to this resource version is missing
//	CUT                        the watch was interrupted, and why
//	GAP                        events after this resource version are missing, and why; the changes over the gap follow
//	BAD                        an object that could not be read, and why
//	RESUMED, END               another call of Record goes on; Record ends, and why
//
// Record keeps the identity of each present object in memory, and no object as a whole.
func Record(ctx context.Context, c *client.Client, o RecordOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	r := &recordRun{c: c, o: o}
	if err := r.record(ctx); err != nil {
		return fmt.Errorf("record into %s: %w", o.File, err)
	}
	return nil
}

// recordRun is one call of Record.
type recordRun struct {
	c       *client.Client
	o       RecordOptions
	header  *recording.Header
	file    *recording.File
	streams []*recordedStream

	mu       sync.Mutex // guards redactor and calls of Change
	redactor *recording.Redactor
}

func (r *recordRun) record(ctx context.Context) error {
	if r.o.Secrets != SecretsKept {
		r.redactor = recording.NewRedactor(r.o.Secrets == SecretsOmitted)
	}
	if err := r.ask(ctx); err != nil {
		return err
	}
	file, err := recording.Open(r.o.File, r.header, cmp.Or(r.o.MaxBytes, defaultMaxBytes))
	if err != nil {
		return err
	}
	r.file = file
	for _, s := range r.streams {
		s.known = file.Known[s.name]
	}
	err = r.lists(ctx)
	if err == nil {
		err = r.follow(ctx)
	}
	why := "the recorder was told to stop"
	if err != nil {
		why = err.Error()
	}
	return errors.Join(err, file.Close(why))
}

// lists reads the first list of each stream, unless the file has them. All but the first ask for the version of the
// first.
func (r *recordRun) lists(ctx context.Context) error {
	version := ""
	for _, s := range r.streams {
		if s.known.Begun() {
			continue
		}
		if err := s.first(ctx, version); err != nil {
			return err
		}
		version = cmp.Or(version, s.known.Version)
	}
	return nil
}

// follow watches all streams until ctx ends or one of them fails.
func (r *recordRun) follow(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var watches sync.WaitGroup
	for _, s := range r.streams {
		watches.Go(func() {
			if err := s.follow(ctx); err != nil {
				stop(errStream{err})
			}
		})
	}
	watches.Wait()
	if failed, ok := errors.AsType[errStream](context.Cause(ctx)); ok {
		return failed.error
	}
	return nil
}

// errStream is the error that ends all streams.
type errStream struct{ error }

// object returns the text of an object that is written: compact JSON with its kind.
func (r *recordRun) object(res *recording.Resource, raw []byte) (json.RawMessage, error) {
	text, err := withKind(res, raw)
	secret := res.IsSecret() && r.redactor != nil
	if err != nil || !secret && r.o.Change == nil {
		return text, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed(res, text, secret)
}

// begin returns the header of a new recording.
func (r *recordRun) begin() *recording.Header {
	return &recording.Header{
		Recording: recording.Format, Start: time.Now(), Namespaces: r.o.Namespaces, Secrets: r.o.Secrets.String(),
	}
}
