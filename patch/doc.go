// Package patch builds changes for a Patch request, finds out the change between two objects, applies changes to JSON documents,
// and reads who owns which fields.
//
// A [Patch] is a value: a media type and a body. It does nothing until it is sent. Building one never fails where it stands;
// what is wrong with it shows when it is used, before anything is sent.
//
// # Which patch
//
// Who wants some fields of an object to be so, whatever they are, applies them: [Apply]. Who changes what it has read sends the
// difference: [Diff]. The others are for what these cannot say.
//
// A merge patch ([Merge], [Diff]) has the shape of the object and says how members are to be. It is the short one, the same
// however often it is applied, and every resource takes it. But a list is replaced whole, with what somebody else has added to
// it, and null cannot be set.
//
// A JSON patch ([JSON], [DiffJSON]) is a list of operations on paths. It changes single elements of lists, sets null, and can
// test what is there first, all or nothing: [DiffGuarded] and [Test]. But an element has no name there, only its index, and
// what a path leads through must exist.
//
// A strategic merge patch ([Strategic], [ApplyStrategic], [DiffStrategic], [ThreeWay]) is a merge patch that knows which lists
// of a kind are merged, and by which member. A [Schema] tells it: from a Go type's tags, or from the server's OpenAPI document.
// Custom resources do not take it.
//
// An apply ([Apply]) has the shape of the object, too, but says who wants it: all that its field manager wants to be so, and
// nothing else. The server notes whose each field is, removes what the manager no longer names, and refuses to change what is
// somebody else's, unless it is told to. It may be sent again and again, whether the object is there or not. [Extract] gives back what a manager has applied, [Patch.IsApplied] says that there is nothing to do, and
// [MigrateFields] makes an applier the owner of what kubectl has applied the old way.
//
// Any of them can be made to hold only for the version that it was computed from: [Patch.WithResourceVersion].
//
// [Overlay] is none that is sent: it tells whether an object that a server has is as a program wants it, and makes it so.
//
// # Documents
//
// Documents are handled as JSON values with numbers kept digit by digit, so that 2^53+1 stays what it is. Names are compared
// by code point; of members of one name in an object the last counts. Nothing here changes the bytes that it is given, or
// keeps them.
//
// # What a server does otherwise
//
// Applying a patch here is exact by its RFC. A Kubernetes API server takes more of some patches, and says less:
//
//   - Of a JSON patch it compares the value of a test letter by letter with its own text, so that 1.0 is not its 1; strings
//     this package therefore writes as the server does. It adds what replace does not find, and copies null from where there
//     is nothing. It counts a negative index from the end. A null it cannot test for in a list: it breaks the connection off.
//     It replaces the whole document, but does not add, copy or move one. Whatever does not fit is Invalid to it, without a word
//     about which operation that is.
//   - Of a merge patch it drops the members that are null in objects inside lists.
//   - In a strategic merge patch a directive where there is nothing to direct, as in an item that is new, is a member to it,
//     which it drops, or refuses where it validates fields strictly. Here a $patch is an error there, and any other goes. A
//     scalar that one patch both adds and deletes the server keeps or not, by chance. Here it goes.
//   - A whole number beyond 64 bits it keeps with the precision of a float64 only, and 1.0 as 1.
//
// # Bounds
//
// A document or patch may have 64 MiB, and nest 10,000 deep, the result of a JSON patch too; a strategic merge patch and its
// document 1,000 deep. A JSON patch may have 10,000 operations, and what its copies add is 3 MiB at most, both as on an API
// server. What is more is an error that is [ErrTooLarge].
//
// Documents are kept as text, and only objects and lists that have to be looked into are opened. An element of an open list takes 24
// bytes beside its text, and a member 64 or more. So a list of numbers of one digit, which takes 2 bytes for each, is the
// worst: a document of nothing else takes 13 times its size in [ApplyJSON] if an operation changes that list, 17 times in [ThreeWay],
// and 16 times that of both documents in [DiffJSON] and [DiffGuarded] if they differ in it. Objects of the usual shape take 2 to 5 times
// their size.
package patch
