// Package fieldset reads, combines and writes sets of fields, as metadata.managedFields has them for each manager (the
// FieldsV1 of KEP-555).
//
// A [Set] is a tree. Its keys are those on the wire: "f:name" is a member of an object, `k:{"name":"x"}` the element
// of a list that has these members, `v:"x"` the element of a list that is a set, and "i:0" an element by its index.
// The JSON in k: and v: is canonical in every Set that this package makes, so that keys with the same meaning are
// equal: members are sorted, numbers are written in one way, and there is no white space.
//
// Only [Set.Insert] and [Set.Add] change a Set. A result may share parts with the arguments. The nil Set is empty.
package fieldset
