// Package source writes Go: a struct and a client.Type for each kind, and the types that the struct needs.
//
// # Absent values
//
// A field distinguishes an absent value from a zero value where they differ:
//
//   - A required field is a plain value without omitempty; a pointer if it may be null.
//   - An optional field is a plain value with omitempty (omitzero for a struct) if the schema does not allow its zero:
//     an enum without "", a minimum above 0, a pattern that "" does not match, a time, a struct with a required field
//     of that sort.
//   - Other optional fields are pointers with omitempty. An optional list, map, byte string or raw JSON is not a
//     pointer: nil is absent, and an empty value is written (omitzero).
//   - A default makes a field a pointer, even if it is required, unless the default is the zero. An optional object
//     whose default is {} is a plain struct that is always written.
//   - spec and status of a kind are plain structs with omitzero. If all fields are zero, the struct is left out.
//   - In the kinds of Kubernetes the server's own Go types decide, as far as the tables of client/protobuf know them.
//     If these types omit a zero, the field is a plain value with omitempty.
//
// An explicit null in an optional field that may be null reads as absent.
//
// # Types of other packages
//
// A component may have the type of an [Import], and an object the type of a [Replacement]. Both need the members of the
// structs, so that Write can check that no property is lost.
//
// # Texts of schemas
//
// No text of a schema becomes code. Descriptions become line comments, each line after "// ", in which every rune that
// is not printable is escaped. Values become quoted ASCII strings. Names become identifiers of ASCII letters and
// digits that begin with an upper-case letter.
package source
