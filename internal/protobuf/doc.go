// Package protobuf knows the protobuf form of Kubernetes objects: the wire format, the envelope, and which field of a
// message is which member of an object's JSON.
//
// # Tables
//
// Protobuf has numbers where JSON has names. A [Table] has both for all kinds of one version of an API group, as text,
// one line for each message and each field:
//
//	Pod!                               a message; the mark says that it is a kind
//	1 metadata meta/v1.ObjectMeta      number, name and type of a field; a message of another table has its table's name
//	2 spec PodSpec
//	Container
//	1 name string
//	3 command []string                 repeated
//	5 workingDir string?               the JSON leaves out the zero value
//	Volume
//	1 name string
//	2 - VolumeSource                   its members are those of the message around it
//	ExtraValue
//	1 = []string                       the JSON of the message is that of the field
//	JSONSchemaPropsOrBool
//	1 = bool                           the JSON is that of one of the fields: of the last one that the message has
//	2 = JSONSchemaProps
//
// When JSON is encoded, the kind of the JSON value decides which of several such fields is written. If another field
// is written and one of the fields is a bool, the bool is written too, as true.
//
// Types are string, bytes, int, int32, bool, double, a message, or one of the types with a special JSON form: time,
// microtime, duration, quantity, intorstring, and raw, which is a message with JSON in its first field. [] is a
// repeated field, and {} a map whose keys are strings.
//
// The question mark matters because the messages of Kubernetes contain zero values that JSON leaves out. An optional
// field needs no question mark: either both forms have it or neither has. So a Go field that is a pointer gets the same
// value from both.
package protobuf
