package clienttest

import (
	"fmt"
	"strconv"
)

// ResourceVersion returns the present version: that of the last change of any object.
func (s *Server) ResourceVersion() string { return strconv.FormatUint(s.store.Version(), 10) }

// Compact makes the server forget its history. From then on a list at an earlier resource version is answered with 410 Expired,
// and so is every continue token for an earlier version; a watch from an earlier version gets 410 as its first event. As on a
// real server, Compact does not affect open watches.
func (s *Server) Compact() { s.store.Compact() }

// Rollback restores the store to its state at a version, as when etcd is restored from a backup and the servers are started
// again. Objects that were created since are gone, and changes since are undone. New versions count on from there, so one version
// may mean two states. The server forgets its history as by [Server.Compact], all replicas have the store's state, and every
// watch is cut as by [Server.DropWatches]. Registered resources stay registered. A resource that was registered since, even if it
// had been registered before, has no objects.
//
// The error says that the version is not a number, lies in the future, or is too old.
func (s *Server) Rollback(version string) error {
	v, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return fmt.Errorf("clienttest: roll back to version %q: %w", version, err)
	}
	return s.store.Rollback(v)
}
