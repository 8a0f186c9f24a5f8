// Package codec turns the JSON of one object into a Go value and back, and the protobuf of one object into the Go
// value that its JSON gives; see [Join].
//
// # Decoding
//
// [Unmarshal] and [Decode] fill a T as encoding/json would fill it: the same tags, the same formats (durations in
// nanoseconds, []byte in base64, [N]byte as an array of numbers), the same methods called, the same values in an any.
// So the types of k8s.io/api and any struct written for encoding/json fit as they are. Only the members that T names
// are built; the rest of the object is checked and passed over without an allocation. Text that is not Unicode becomes
// the replacement character. A document may nest 10,000 levels deep.
//
// The differences from encoding/json are deliberate:
//
//   - Names are case-sensitive: "Name" does not fill a field called "name".
//   - The last of several members with the same name counts, at every level and for every T, and nothing is left of
//     the earlier ones. encoding/json merges them into structs, mixes them in slices and replaces them in maps.
//     Methods and json.RawMessage get the text without the earlier ones.
//   - null is not an object: as the whole document it is an error.
//   - T is the zero value after an error. encoding/json fills what fits.
//   - A struct is an error if it has a tag that depends on the version of encoding/json: the option format, or the
//     option embed on a field that is a struct or a map.
//
// [Project] limits decoding to the members of a type that are on some paths.
//
// # Versions of encoding/json
//
// From Go 1.27 on, encoding/json is built on encoding/json/v2, and differs in details from that of Go 1.26. This
// package behaves the same with every version of Go:
//
//	                                                          Go 1.26        Go 1.27         here
//	a key of a map with UnmarshalText and UnmarshalJSON       UnmarshalJSON  UnmarshalText   as 1.27
//	a map whose keys are floats, interfaces or pointers       refused        accepted        as 1.26
//	UnmarshalJSON of T for a field of type P, type P *T       not called     called          as 1.27
//	methods that an unnamed struct has from what it embeds    not called     called          as 1.27
//	the option string on a type with methods                  partly applied passed over     as 1.27
//	the option string on a json.Number that is "01" or null   accepted       refused         as 1.27
//	the option string on a number that is "+1" or "NaN"       refused        accepted        as 1.26
//	escapes in the text of a time.Time                        refused        accepted        as 1.27
//	a name in a tag with quotes, backslashes or controls      passed over    cut or taken    as 1.26
//	a struct embedded with a name, unexported, with methods   by its fields  passed over     as 1.26
//	UnmarshalJSONFrom                                         there is none  called          as the Go that compiles
//
// Go 1.27 knows the option case; this package ignores it.
//
// # Errors
//
// An [Error] names the place as a path and an offset, the kind of JSON that is there, and the Go type, and never shows
// the value. After an error, decoding goes on to the end of the document, because a later member of the same name may
// replace the one that does not fit; but the rest of an array is only checked. So the time for a document is
// proportional to its size, whatever is wrong with it.
//
// # How it works
//
// Each Go type is compiled, when it is first used, to a plan that says where in memory each member goes. A decoder
// reads the document once. It keeps nothing for errors while there are none: the path is built on the way out of the
// objects around the value. If a document is not JSON, the decoder reads it a second time to find the offset.
//
// UnmarshalJSON of a type that holds a time.Time and nothing else, such as metav1.Time, is not called again for a text
// that has just been decoded, if its result was the RFC 3339 value, in UTC or the local time zone; that time is
// remembered.
//
// # Memory
//
// The strings of a decoded object that have not been seen lately share one piece of memory. So code that keeps one of
// them keeps the text of that object (apart from strings of more than 1 KB); [strings.Clone] avoids that. A string
// never keeps the document or the text of other objects in memory. Strings of up to 256 bytes that repeat, within an
// object or from one to the next, are stored once. The table that finds them has 2048 places, and a string that is seen
// once takes none. Slices have no spare capacity.
//
// The objects of a cache can also share whole parts; see [Parts].
//
// All functions are safe for concurrent use. Each call takes a decoder with its own table from a pool, and no lock.
// There are as many decoders as goroutines that decode at the same time. Each takes 60 KB, plus up to 512 KB for the
// text in its table. The garbage collector frees unused ones.
//
// # Encoding
//
// [Marshal] writes the bytes that encoding/json writes, plus the kind and the apiVersion if they are missing.
package codec
