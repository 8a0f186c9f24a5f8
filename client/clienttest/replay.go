package clienttest

import (
	"fmt"
	"os"

	"github.com/bowline-go/bowline/client/clienttest/internal/definitions"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/recording"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
	"github.com/bowline-go/bowline/client/meta"
)

// replay is a recording that the server plays.
type replay struct {
	*api
	path  string
	plan  *recording.Plan
	ended chan struct{} // closed when the last change has been played, or when no more will be
	err   error         // why not all of them were played; read it after ended is closed
}

// newReplay checks a recording, and gives the server the objects of its first lists. The server has no other objects of
// the recorded resources in the recorded namespaces.
func newReplay(a *api, path string) (*replay, error) {
	p := &replay{api: a, path: path, ended: make(chan struct{})}
	if err := p.load(); err != nil {
		return nil, fmt.Errorf("clienttest.Options: Replay: %s: %w", path, err)
	}
	return p, nil
}

func (p *replay) load() error {
	f, err := os.Open(p.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	first := firstLists{of: map[meta.GVR]map[meta.Key]*object.Draft{}}
	p.plan, err = recording.Scan(f, func(h *recording.Header, l *recording.Line, id recording.Identity, isFirst bool) error {
		return p.check(h, &first, l, id, isFirst)
	})
	if err != nil {
		return err
	}
	return p.begin(&first)
}

// firstLists are the objects of the first lists.
type firstLists struct {
	of map[meta.GVR]map[meta.Key]*object.Draft
}

// check reads the object of a line, and keeps it if it is one of the first lists.
func (p *replay) check(h *recording.Header, first *firstLists, l *recording.Line, id recording.Identity, isFirst bool) error {
	d, err := readRecorded(l)
	if err != nil {
		return err
	}
	gvr := h.Resource(l.Resource).GVR()
	if gvr == p.crds.GVR() && l.Type != recording.Deleted {
		if is := (&definition{Definition: definitions.Read(d)}); is.served() {
			if _, _, err := p.versionsOf(is.Definition, is.Accepted); err != nil {
				return fmt.Errorf("object: %s: %w", id.Name, err)
			}
		}
	}
	if !isFirst {
		return nil
	}
	if first.of[gvr] == nil {
		first.of[gvr] = map[meta.Key]*object.Draft{}
	}
	if l.Type == recording.Deleted {
		delete(first.of[gvr], id.Key)
		return nil
	}
	first.of[gvr][id.Key] = d
	return nil
}

// readRecorded reads the object of a line.
func readRecorded(l *recording.Line) (*object.Draft, error) {
	d, err := object.Parse(l.Object)
	if err != nil {
		return nil, fmt.Errorf("object: %w", err)
	}
	return d, nil
}

// begin gives the server the first lists.
func (p *replay) begin(first *firstLists) error {
	tx := p.store.Begin()
	defer tx.End()
	h := p.plan.Header
	for _, s := range h.Streams() {
		if r := p.registry.named(h.Resource(s.Resource).GVR()); r != nil {
			for v := range tx.Objects(r.objects, s.Namespace) {
				tx.Unload(r.objects, v)
				if r == p.crds {
					p.undefine(tx, v.Key.Name)
				}
			}
		}
	}
	for _, d := range first.of[p.crds.GVR()] {
		tx.Load(p.crds.objects, p.firstVersion(d), d)
		p.heed(tx, d)
	}
	for _, res := range h.Resources {
		r, err := p.serving(tx, res)
		if err != nil {
			return err
		}
		for _, d := range first.of[res.GVR()] {
			tx.Load(r.objects, p.firstVersion(d), d)
			if ns := p.home(tx, d); ns != nil {
				tx.Load(p.namespaces.objects, 1, ns)
			}
		}
	}
	tx.Rebase(p.plan.Version)
	return nil
}

// firstVersion returns the version of an object of the first lists: its own, or that of the lists if its own is
// greater. Its own can be greater if another counter versions the resource.
func (p *replay) firstVersion(d *object.Draft) uint64 {
	return max(1, min(recording.Number(d.Meta.ResourceVersion), p.plan.Version))
}

// serving returns a recorded resource. If it is neither built in nor defined, the server serves it as the header of the
// recording describes it.
func (p *replay) serving(tx store.Tx, res *recording.Resource) (*resource, error) {
	if r := p.registry.named(res.GVR()); r != nil {
		if r.Kind != res.Kind || (r.Scope == meta.Namespaced) != res.Namespaced {
			return nil, fmt.Errorf("the recording has %s of kind %s, namespaced: %v, and this server has kind %s, namespaced: %v",
				res.Name(), res.Kind, res.Namespaced, r.Kind, r.Scope == meta.Namespaced)
		}
		return r, nil
	}
	is := Resource{
		Group: res.Group, Version: res.Version, Kind: res.Kind, Resource: res.Resource, Singular: res.Singular,
		ShortNames: res.ShortNames, Categories: res.Categories, Status: res.Status,
	}
	if !res.Namespaced {
		is.Scope = meta.Cluster
	}
	if err := is.validate(); err != nil {
		return nil, err
	}
	r, err := p.customResource(is)
	if err != nil {
		return nil, err
	}
	if why := p.registry.taken(r); why != "" {
		return nil, fmt.Errorf("the recording has %s in version %s: %s", res.Name(), res.Version, why)
	}
	p.serve(tx, nil, []*resource{r}, r)
	return r, nil
}

// heed makes a recorded CustomResourceDefinition take effect as its status says. It does not change the definition.
func (p *replay) heed(tx store.Tx, d *object.Draft) {
	is := p.definitions[d.Meta.Name]
	if is == nil {
		is = &definition{}
		p.definitions[d.Meta.Name] = is
	}
	is.Definition, is.terminating = definitions.Read(d), d.Meta.DeletionTimestamp != nil
	if is.served() {
		p.serveDefinition(tx, is)
	}
}

// home returns a new namespace for a recorded object if the recording has no namespaces and the server does not have
// that one. Otherwise it returns nil.
func (p *replay) home(tx store.Tx, d *object.Draft) *object.Draft {
	name := d.Meta.Namespace
	if name == "" || p.plan.Header.Resource("namespaces") != nil || tx.Get(p.namespaces.objects, meta.Key{Name: name}) != nil {
		return nil
	}
	made := namedNamespace(name)
	made.Meta.UID, made.Meta.CreationTimestamp = newUID(), timestamp()
	return made
}

// namedNamespace returns a namespace as a server completes it.
func namedNamespace(name string) *object.Draft {
	for _, o := range freshObjects() {
		if o.draft.Kind == "Namespace" {
			d := o.draft.Clone()
			d.Meta.Name, d.Meta.Labels = name, map[string]string{"kubernetes.io/metadata.name": name}
			return d
		}
	}
	panic("clienttest: a new server has no namespace")
}
