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
//   - The tag options inline, unknown, format and case mean what they mean to github.com/go-json-experiment/json, which
//     does the work; encoding/json ignores them. On an embedded struct, where the Kubernetes API has it, inline changes
//     nothing.
//   - A json.Number accepts any string, and a string with the tag option string does not accept "null".
//
// A type whose tags that library calls malformed, such as `json:"a, omitempty"`, or that has a json.Number, decodes as in
// encoding/json too, but in about twice the time. So does an object with duplicate names or with text that is not
// Unicode.
//
// # Encoding
//
// [Marshal] gives the bytes that encoding/json gives, plus the kind and the apiVersion where they are missing.
package codec
