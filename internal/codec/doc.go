// Package codec turns the JSON of one object into a Go value and back.
//
// # Decoding
//
// [Unmarshal] and [Decode] fill a T as encoding/json would fill it: the same tags, the same formats (durations in
// nanoseconds, []byte in base64, [N]byte as an array of numbers), the same methods called, the same values in an any. So
// the types of k8s.io/api and any struct written for encoding/json fit as they are. Only what T names is built; the rest
// of the object is passed over without an allocation. The differences, all deliberate:
//
//   - Names are case-sensitive: "Name" does not fill a field called "name".
//   - Of members with the same name the last one counts, at every level and for every T. encoding/json merges them into
//     structs, mixes them in slices and replaces them in maps.
//   - null is not an object: as the whole document it is an error.
//   - The tag options inline, unknown, format and case mean what they mean to github.com/go-json-experiment/json, "the
//     library" below; encoding/json ignores them. On an embedded struct, where the Kubernetes API has it, inline changes
//     nothing.
//   - A json.Number accepts any string, and a string with the tag option string does not accept "null".
//
// # Two ways to decode
//
// What the API server sends into the types that people write is decoded by plans, one for each Go type, which say where in
// the struct each member goes. It gives exactly what the library gives, or it gives up, and the library decodes the
// document anew: so what is refused, and what an error says, is always the library's word. A method of a type may therefore
// be called again, for a new value.
//
// For the library, in about three times the time, are
//
//   - documents that do not fit or are not JSON, that nest deeper than 1000 levels, that have text that is not Unicode,
//     the same member of a struct or key of a map twice, an escape in the name of a member of a struct, an array of
//     numbers for a []byte, or a time.Time that is not quite RFC 3339;
//   - structs that have the tag options string, format, case, unknown, or inline elsewhere than on an embedded struct,
//     tags that the library calls malformed, such as `json:"a, omitempty"`, embedded pointers, or more than 128 members;
//   - values of type json.Number, of arrays, of maps whose keys are not strings or have methods, of interfaces with
//     methods, and of types with an UnmarshalJSONFrom. A struct that has a field of such a type is decoded by plan as long
//     as a document does not have that member.
//
// Of a type that holds a time.Time and nothing else, such as metav1.Time, UnmarshalJSON is not called again for a text that
// it has just decoded, if it made of it what RFC 3339 says, in UTC or the local time zone; that time is remembered.
//
// # Memory
//
// The strings of a decoded object that have not been seen lately are cut from one piece of memory. So who keeps one of them
// keeps the text of that object (strings of more than 1 KB apart), which [strings.Clone] avoids; never the document, or the
// text of other objects. Strings of up to 256 bytes that repeat, within an object or from one to the next, are there once.
// The table that finds them has 2048 places, and a string that is seen once takes none. Slices have no room to spare.
//
// All functions are safe for concurrent use. Each call takes a decoder with its own table from a pool, and no lock. There
// are as many decoders as goroutines that decode at the same time, of 60 KB each, and up to 512 KB of text in a table; those
// that are not used any more are collected.
//
// # Encoding
//
// [Marshal] gives the bytes that encoding/json gives, plus the kind and the apiVersion where they are missing.
package codec
