package clienttest

import (
	"fmt"
	"strconv"

	"github.com/bowline-go/bowline/client/meta"
)

// ResourceVersion returns the present version: that of the last change of any object.
func (s *Server) ResourceVersion() string {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	return strconv.FormatUint(s.store.version, 10)
}

// Rollback restores the store to its state at a version, as when etcd is restored from a backup and the servers are started
// again. Objects that were created since are gone, and changes since are undone. New versions count on from there, so one version
// may mean two states. The server forgets its history as by [Server.Compact], all replicas have the store's state, and every
// watch is cut as by [Server.DropWatches]. Registered resources stay registered. A resource that was registered since, even if it
// had been registered before, has no objects.
//
// The error says that the version is not a number, lies in the future, or is too old.
func (s *Server) Rollback(version string) error {
	st := s.store
	v, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return fmt.Errorf("clienttest: roll back to version %q: %w", version, err)
	}
	st.mu.Lock()
	err = st.rollback(v)
	var cut []*watch
	if err == nil {
		cut = st.cutWatches(errDropped)
	}
	st.mu.Unlock()
	for _, w := range cut {
		<-w.done
	}
	return err
}

func (s *store) rollback(version uint64) error {
	if version > s.version {
		return fmt.Errorf("clienttest: roll back to version %d: the present is %d", version, s.version)
	}
	for _, r := range s.resources {
		c := &r.objects
		if oldest := s.oldest(c); c.last.version > version && version >= r.since && version < oldest {
			return fmt.Errorf("clienttest: roll back to version %d: the history of %s starts at %d", version, r.GVR(), oldest)
		}
	}
	s.version, s.floor, s.marks = version, version, nil
	clear(s.inNamespace)
	for _, r := range s.resources {
		c := &r.objects
		switch {
		case version < r.since:
			c.tree, r.since = nil, version
		case c.last.version > version:
			c.tree = c.snapshot(version)
		}
		for v := range c.tree.Between("", "") {
			s.inNamespace[v.Key.Namespace]++
		}
		c.base, c.events, c.floor = c.tree, nil, version
		c.last = &event{version: version, seq: c.last.seq, ready: make(chan struct{})}
	}
	for _, p := range s.replicas {
		p.restart(version)
	}
	s.wake()
	return nil
}

// Unregister removes a resource, as the deletion of a CustomResourceDefinition does. It deletes the objects, whatever their
// finalizers; watches send these deletions and then end. From then on the resource's paths are not found. [Server.Register] adds
// the resource again, without objects. The error says that the resource is not registered, or is built in.
func (s *Server) Unregister(gvr meta.GVR) error {
	st := s.store
	st.mu.Lock()
	defer st.mu.Unlock()
	r := st.resources[gvr]
	switch {
	case r == nil:
		return fmt.Errorf("clienttest: unregister %s: it is not registered", gvr)
	case r.Builtin:
		return fmt.Errorf("clienttest: unregister %s: it is built in", gvr)
	}
	namespaces := map[string]bool{}
	for v := range r.objects.tree.Between("", "") {
		namespaces[v.Key.Namespace] = true
		st.remove(r, v)
	}
	for name := range namespaces {
		st.finishNamespaces(name)
	}
	delete(st.resources, gvr)
	close(r.gone)
	return nil
}
