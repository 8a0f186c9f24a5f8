// Package patch builds changes for a Patch request, computes the change between two objects, applies changes to JSON
// documents, and reads who owns which fields.
//
// A [Patch] is a value: a media type and a body. It does nothing until it is sent. Most functions that build one
// return no error: the Patch keeps the error, and a call that is given the Patch returns it and sends nothing.
//
// # Which patch
//
// Use [Apply] to set some fields of an object, whatever values they have. Use [Diff] to send a change that you have
// made to an object that you have read. The other patches are for changes that these two cannot express.
//
// A merge patch ([Merge], [Diff]) has the shape of the object and holds the new values of members. It is the shortest
// patch, gives the same result however often it is applied, and every resource accepts it. But it replaces a list as a
// whole, including elements that another client has added, and it cannot set null.
//
// A JSON patch ([JSON], [DiffJSON]) is a list of operations on paths. The server performs all of them or none. It can
// change single elements of lists, set null, and test a value first ([DiffGuarded], [Test]). But it names an element
// only by its index, and the objects and lists on the way to a path must exist.
//
// A strategic merge patch ([Strategic], [ApplyStrategic], [DiffStrategic], [ThreeWay]) is a merge patch that knows
// which lists of a kind are merged, and by which member. This comes from a [Schema]: the tags of a Go type, or the
// server's OpenAPI document. Custom resources do not accept strategic merge patches.
//
// An apply ([Apply]) has the shape of the object too, and says who sets the fields: it contains all fields that its
// field manager sets, and nothing else. The server records the owner of each field, removes the fields that the
// manager no longer names, and refuses to change fields of other owners, unless the apply is forced. It can be sent
// any number of times, whether the object exists or not. [Extract] returns what a manager has applied,
// [Patch.IsApplied] reports that an apply would change nothing, and [MigrateFields] makes an applier the owner of the
// fields that kubectl has applied on the client's side.
//
// [Patch.WithResourceVersion] limits any patch to the version of the object that it was computed from.
//
// # Go values
//
// A patch of a Go value has the members that encoding/json writes for it. An exported field without a name in its json
// tag, at any depth, is an error that names the field: encoding/json writes it under its Go name, and a server drops a
// member that it does not know. This holds for [Apply] (even if its paths name other fields), [Merge], [Strategic],
// the new object of [Diff], [DiffJSON] and [DiffGuarded], and the values of operations. Maps, and types that encode
// themselves, may have any members.
//
// # Documents
//
// Documents are JSON values whose numbers keep every digit, so that 2^53+1 stays 2^53+1. Names are compared by code
// point. If an object has several members with one name, the last counts. No function of this package changes or keeps
// the bytes that it is given.
//
// # Where a server differs
//
// This package applies patches exactly as their RFCs say. A Kubernetes API server accepts more patches, and its errors
// are less specific:
//
//   - JSON patch: the server compares the value of a test, letter by letter, with its own text, so 1.0 does not equal
//     its 1. For this reason the package writes strings as the server does. The server adds a member that replace does
//     not find, copies null from a location that does not exist, and counts a negative index from the end. It cannot
//     test for a null in a list: it closes the connection. It can replace the whole document, but not add, copy or
//     move one. If an operation does not fit, it answers Invalid and does not name the operation.
//   - Merge patch: the server drops members that are null in objects inside lists.
//   - Strategic merge patch: if a directive stands where it has no meaning, such as in a new item, the server takes it
//     for a member. It drops this member, or refuses it under strict field validation. This package returns an error
//     for such a $patch, and drops every other such directive. If one patch adds and deletes the same scalar, the
//     server keeps it or not, by chance; this package deletes it.
//   - Numbers: the server keeps a whole number beyond 64 bits only with the precision of a float64, and keeps 1.0 as
//     1.
//
// # Bounds
//
// A document or a patch has at most 64 MiB and 10,000 levels, and so has the result of a JSON patch. A strategic merge
// patch and its document have at most 1,000 levels. A JSON patch has at most 10,000 operations, and its copies add at
// most 3 MiB; an API server has the same two limits. Anything larger fails with [ErrTooLarge].
//
// Documents are kept as text, and only the objects and lists that matter are opened. Each element of an open list
// takes 24 bytes besides its text, and each member 64 or more. So the worst case is a list of one-digit numbers, which
// take 2 bytes of text each. Such a document takes 13 times its size in [ApplyJSON] if an operation changes the list,
// and 17 times in [ThreeWay]. [DiffJSON] and [DiffGuarded] take 16 times the size of both documents if they differ in
// the list. Usual objects take 2 to 5 times their size.
package patch
