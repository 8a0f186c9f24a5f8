// Package warm keeps the caches of informers in files, so that a program that starts again reads from the server only
// what has changed in between. A program that does not import this package links nothing of it.
//
//	files := warm.New(warm.Options{Dir: "/var/cache/packer"})
//	inf := informer.New(pods, informer.Options{Warm: files})
//
// # Guarantees
//
// Nothing from a file is believed until the server has confirmed it. The informer reads the file into memory beside
// the cache, asks the server for its version, and watches from the version at which the file was written. When the
// watch has reached the server's version, all objects enter the cache in one step, as a list does. Until then the
// cache is empty and not synced; no handler, index or controller sees an object of the file.
//
// If that fails, the informer lists, as it does without a file. It does not decode the objects that have not changed
// since the file was written. Status.Cold says why: see "When a file is not used".
//
// A file is replaced as a whole: a crash at any moment of a write leaves the old file or the new one. Each file has a
// format version and checksums.
//
// # When a file is not used
//
// An informer ignores a file, with the reason in Status.Cold and in the log at V(4), if
//
//   - there is none, or it is damaged or cut off, or another version of this package has written it;
//   - another user owns the file or its folder, or others may write there;
//   - it is of another cluster, resource, namespace, selector, Go type or Options.Revision, or has managedFields and
//     the informer does not keep them, or the other way round;
//   - it is encrypted and Options.Open is nil, or it is not encrypted and Options.Open is set, or Open returns an
//     error.
//
// The informer reads the file, and lists nevertheless, if
//
//   - the server no longer has the history since the file's version (410);
//   - the server has an older version than the file, as after its etcd was restored from a backup. All objects are then
//     decoded, because the server reuses versions;
//   - the watch does not reach the server's version within some seconds;
//   - versions have no order.
//
// The informer does not detect that a server was restored from a backup while the program was away, if the server has
// passed the file's version since then. The same holds for an informer that runs again within a process.
//
// # Limits
//
// A watch resumes only while the API server has the history since the file's version, and how long that is depends on
// the server: on how many changes the resource has, on the server's flags, and on when the server last started. After
// that a list follows. So warm starts serve restarts and updates of the program, not long pauses.
//
// # Clusters
//
// A file names its cluster by the uid of the namespace kube-system, which the client reads, and by the authorities that
// vouch for the server. The URL of the server does not matter. A program that may not read that namespace sets
// Options.Cluster. If the client of an informer verifies its server, the informer does not use a file from a client
// that did not. When another cluster answers than before, one write of the file is left out and reported, because the
// cache may still have the objects of the earlier cluster.
//
// # Types
//
// A file holds the JSON of the informer's Go type, so fields that the type does not have are not in it, and identities
// as the server sent them. Run returns an error if objects of the type would not be the same after they are encoded and
// decoded again, for example because it has UnmarshalJSON and no MarshalJSON. Three differences remain: an empty slice
// or map in a field with omitempty becomes nil, as the tag says; equal values of time.Time may differ in their
// representation; and in a meta.Unstructured a number such as 1.0 becomes an int64.
//
// An interface type is refused, and so are the caches of informer/ctrlcache, whose Go types are known at run time only.
//
// # Secrets
//
// Files have mode 0600, and a folder that the package creates has 0700. Run returns an error for an informer of
// Secrets, or of a resource in Options.Sensitive, unless Options.Seal encrypts the files or Options.PlainSecrets allows
// plain ones. Encryption covers the objects but not the header of a file: cluster, resource, namespace, selectors, type
// and version.
//
// # Cost
//
// A save encodes every object, on one goroutine, and writes the whole file. A load decodes every object, on as many
// goroutines as the program has processors, and holds a map of them until the server has confirmed them.
package warm
