// Package compact makes informers keep the objects of their caches compressed:
//
//	inf := informer.New(pods, informer.Options{Compact: compact.New()})
//
// It is for caches of many whole objects. If the program reads only some fields of them, a struct with these fields is
// smaller still, and costs nothing to read.
//
// # What a cache keeps
//
// The cache has the text of each object as the server sent it, JSON or protobuf, without managedFields, compressed by
// zstd with a dictionary. It learns the dictionary from the first 512 objects of the collection, or the first 2 MB, and
// learns another one when the objects have changed so much that it no longer fits. A collection with fewer objects is
// compressed without a dictionary, to about half its size.
//
// The 256 objects that have come or been read lately are kept decoded as well, if they are not large: at most 128 KB of
// them in compressed form.
//
// # What changes for a program
//
// Readers, handlers, indexes, selections and views work as with any other cache, with the same guarantees, except for
// these:
//
//   - An object that a Reader or an Index returns belongs to the caller, who may change it. Each read returns a new
//     object. Handlers share their objects, as usual, and must not change them; neither must functions of indexes and
//     views.
//   - A read decodes the object, or copies it if it is kept decoded. A loop over all objects decodes all of them, and
//     so does Select, unless there is an index of the label. Use an index to find objects.
//   - A new index decodes the objects that are in the cache. A list with more objects than are kept decoded is decoded
//     once more for all indexes and once more for each handler.
//   - A list that finds an object unchanged neither decodes nor compresses it.
//   - The mutation check (informer.Options.CheckMutations) compares the objects that are kept decoded with their texts.
//
// The type of the objects need not be encodable, because the text is the server's. With an [informer.Transform], or a
// source of the program, the text is the JSON of the object. An object that cannot be made again from its JSON is kept
// as it is, so no read can tell the difference.
//
// If an object does not decode although it did when it came, for example because its UnmarshalJSON depends on something
// else, OnError receives a *client.DecodeError. Readers do not find the object from then on, until the next list brings
// it again. A handler that was to get it is not called, and OnError receives a *cache.PanicError.
package compact
