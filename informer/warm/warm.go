package warm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

// Files keeps the caches of informers in files. It implements [informer.Warm], and is safe for use by several
// goroutines at once.
type Files struct {
	o    Options
	disk disk

	mu   sync.Mutex      // guards used
	used map[string]bool // the files that an informer writes
}

// New returns the files of a folder. It does no I/O. The Run of an informer that uses them reports invalid options.
func New(o Options) *Files { return &Files{o: o, disk: system{}, used: make(map[string]bool)} }

// Permissions returns what the files ask of the server. Without Options.Cluster, that is to read the namespace
// kube-system, whose uid names the cluster.
func (f *Files) Permissions() []client.Access {
	if f.o.Cluster != "" {
		return nil
	}
	return []client.Access{{Verb: "get", Resource: meta.GVR{Version: "v1", Resource: "namespaces"}, Key: meta.Key{Name: "kube-system"}}}
}

// Open implements [informer.Warm].
func (f *Files) Open(c informer.Collection) (informer.Kept, error) {
	if err := f.o.validate(); err != nil {
		return nil, err
	}
	if f.o.isSensitive(c.Resource) && f.o.Seal == nil && !f.o.PlainSecrets {
		return nil, fmt.Errorf("warm.Options: %v must not be written without encryption: set Seal and Open, or allow it with PlainSecrets", c.Resource)
	}
	if c.Shaped && f.o.Revision == "" {
		return nil, errors.New("warm.Options: Revision must be set, because functions of the program decide what the objects are")
	}
	if c.Client == nil && f.o.Cluster == "" {
		return nil, errors.New("warm.Options: Cluster must be set, because the source does not name its client")
	}
	if err := exact(c.Objects, c.Shaped); err != nil {
		return nil, err
	}
	return &file{
		files: f, c: c, name: filepath.Join(f.o.Dir, nameOf(c)),
		want: header{
			Format: format, Resource: c.Resource.String(), Namespace: c.Namespace, Labels: c.LabelSelector, Fields: c.FieldSelector,
			ManagedFields: c.KeepManagedFields, Type: fingerprint(c.Objects), Revision: f.o.Revision, Sealed: f.o.Seal != nil,
		},
	}, nil
}

// nameOf returns the name of the file of a collection. Informers with different names, namespaces or selectors have
// different files.
func nameOf(c informer.Collection) string {
	h := sha256.New()
	for _, part := range []string{c.Informer, c.Resource.String(), c.Namespace, c.LabelSelector, c.FieldSelector} {
		fmt.Fprintf(h, "%d %s\n", len(part), part)
	}
	readable := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '_'
	}, c.Resource.String())
	return fmt.Sprintf("%.60s-%s.warm", readable, hex.EncodeToString(h.Sum(nil)[:8]))
}

// file is the file of one collection. It implements informer.Kept.
type file struct {
	files *Files
	c     informer.Collection
	name  string
	want  header // a usable file has this header, except for the cluster

	mu       sync.Mutex // guards identity
	identity identity
}

// identity says which cluster a file is of. The zero identity is unknown.
type identity struct{ cluster, trust string }

// is returns the identity that was found last.
func (f *file) is() identity {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.identity
}

func (f *file) found(is identity) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.identity = is
}

// Load implements [informer.Kept].
func (f *file) Load(ctx context.Context, add func(informer.Entry), report func(error)) (string, error) {
	r, err := f.open()
	if err != nil {
		return "", err
	}
	defer r.close()
	if why := r.header.differs(f.want); why != "" {
		return "", fmt.Errorf("%q is %s", f.name, why)
	}
	if err := f.identify(ctx, report); err != nil {
		return "", err
	}
	if why := r.header.differsInCluster(f.is()); why != "" {
		return "", fmt.Errorf("%q is %s", f.name, why)
	}
	if err := r.entries(f.files.o.Open, f.c.Objects, add); err != nil {
		return "", fmt.Errorf("read %q: %w", f.name, err)
	}
	return r.header.Version, nil
}

// lastQuestion bounds how long an informer that ends asks for a cluster that it does not know yet.
const lastQuestion = 2 * time.Second

// errTwice is reported if two informers have the same file.
var errTwice = errors.New("another informer writes this file: give the informers different Names")

// Keep implements [informer.Kept].
func (f *file) Keep(ctx context.Context, content func() (informer.Content, bool), report func(error)) {
	if !f.take() {
		report(fmt.Errorf("write %q: %w", f.name, errTwice))
		return
	}
	defer f.leave()
	if f.is() == (identity{}) { // the last write is too late to ask the server
		// Temporary errors are dropped here: Load or the list of the informer reports them.
		if err := f.identify(ctx, func(error) {}); err != nil && ctx.Err() == nil {
			report(err)
		}
	}
	every := f.files.o.Every
	if every == 0 {
		every = defaultEvery
	}
	if every < 0 {
		<-ctx.Done()
		f.save(ctx, content, "", report)
		return
	}
	for last := ""; ; {
		timer := time.NewTimer(every + rand.N(every/10+1))
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		last = f.save(ctx, content, last, report)
		if ctx.Err() != nil {
			return
		}
	}
}

// save writes the content of the cache, unless its version is last. It returns the version of the file.
func (f *file) save(ctx context.Context, content func() (informer.Content, bool), last string, report func(error)) string {
	c, ok := content()
	if !ok || c.Version == last {
		return last
	}
	// After the end of ctx, save uses a known cluster. It still asks for a cluster that is not known yet, which happens if
	// the program ends soon after its start.
	ask, was := ctx, f.is()
	if was == (identity{}) {
		var cancel context.CancelFunc
		ask, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastQuestion)
		defer cancel()
	}
	if ask.Err() == nil {
		if err := f.identifyOnce(ask); err != nil {
			report(err)
			return last
		}
		if is := f.is(); was.cluster != "" && is.cluster != was.cluster { // the content may be that of the earlier cluster
			report(fmt.Errorf("write %q: the server is of cluster %q now, and was of %q; the next write has its objects", f.name, is.cluster, was.cluster))
			return last
		}
	}
	if err := f.write(c); err != nil {
		report(fmt.Errorf("write %q: %w", f.name, err))
		return last
	}
	report(nil)
	return c.Version
}

// take makes this file's informer the only one that writes it; false means that another one does.
func (f *file) take() bool {
	f.files.mu.Lock()
	defer f.files.mu.Unlock()
	if f.files.used[f.name] {
		return false
	}
	f.files.used[f.name] = true
	return true
}

func (f *file) leave() {
	f.files.mu.Lock()
	defer f.files.mu.Unlock()
	delete(f.files.used, f.name)
}

// header is the first part of a file. Its fields say what the objects are.
type header struct {
	Format        int       `json:"format"`
	Cluster       string    `json:"cluster"`
	Trust         string    `json:"trust"`
	Resource      string    `json:"resource"`
	Namespace     string    `json:"namespace"`
	Labels        string    `json:"labelSelector"`
	Fields        string    `json:"fieldSelector"`
	ManagedFields bool      `json:"managedFields"`
	Type          string    `json:"type"`
	Revision      string    `json:"revision"`
	Sealed        bool      `json:"sealed"`
	Version       string    `json:"resourceVersion"`
	Saved         time.Time `json:"saved"`
	Nonce         string    `json:"nonce"` // makes each file's header unique, and so its parts belong to it alone
}

// differs says how a file differs from want, the cluster aside; it is empty if the file does not differ.
func (h header) differs(want header) string {
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"resource", h.Resource, want.Resource},
		{"namespace", h.Namespace, want.Namespace},
		{"label selector", h.Labels, want.Labels},
		{"field selector", h.Fields, want.Fields},
		{"Go type", h.Type, want.Type},
		{"Revision", h.Revision, want.Revision},
	} {
		if f.got != f.want {
			return fmt.Sprintf("of another %s: %q, not %q", f.name, f.got, f.want)
		}
	}
	switch {
	case h.ManagedFields != want.ManagedFields:
		return fmt.Sprintf("of an informer with KeepManagedFields %v", h.ManagedFields)
	case h.Sealed && !want.Sealed:
		return "encrypted, and Options.Open is not set"
	case !h.Sealed && want.Sealed:
		return "not encrypted, and Options.Open is set"
	case h.Version == "":
		return "without a resource version"
	}
	return ""
}

// differsInCluster is differs for the cluster alone.
func (h header) differsInCluster(want identity) string {
	switch {
	case h.Cluster != want.cluster:
		return fmt.Sprintf("of another cluster: %q, not %q", h.Cluster, want.cluster)
	case h.Trust != want.trust:
		return fmt.Sprintf("of a server that was trusted differently: %q, not %q", h.Trust, want.trust)
	}
	return ""
}

var _ informer.Warm = (*Files)(nil)

// anObject is the type of meta.Object, which the objects of a file implement.
var anObject = reflect.TypeFor[meta.Object]()
