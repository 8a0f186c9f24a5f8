// Package crd makes CustomResourceDefinitions from Go types, and installs them.
//
//	var Sites = client.Type[*Site]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"}
//
//	type Site struct {
//		meta.ObjectMeta `json:"metadata"`
//		Spec            struct {
//			Domain   string   `json:"domain" crd:"minLength=1; maxLength=253; format=hostname"`
//			Replicas int32    `json:"replicas,omitempty" crd:"minimum=0; maximum=100; default=1"`
//			Hosts    []string `json:"hosts,omitempty" crd:"listType=set; items.maxLength=253"`
//		} `json:"spec"`
//		Status struct {
//			Conditions []meta.Condition `json:"conditions,omitempty"`
//		} `json:"status"`
//	}
//
//	err := crd.Install(ctx, c, crd.MustOf(Sites, crd.Options{ShortNames: []string{"si"}}))
//
// [Of] derives the definition by reflection, and [Install] brings it to a server. A program without the right to write
// definitions keeps the manifest in its repository: [YAML] writes it, and [CheckFile] compares a file with the type in
// a test.
//
// # Schemas of Go types
//
//	GO                                       SCHEMA
//	string, bool, int                        string, boolean, integer
//	int32, int64                             integer with the format int32 or int64
//	float32, float64                         number with the format float or double
//	int8, int16, uint8, uint16, uint32       integer with the bounds of the type; uint and uint64 with minimum 0
//	[]byte                                   string with format byte
//	struct, also embedded                    object with its fields
//	[]T, [n]T, map[string]T                  array, array of n elements, object with additionalProperties
//	meta.Time, meta.MicroTime, time.Time     string with format date-time
//	meta.Duration                            string
//	meta.Quantity, meta.IntOrString          integer or string
//	[]meta.Condition                         a list map with the key type, and the API's rules for conditions
//	meta.LabelSelector, meta.ObjectReference atomic objects
//	meta.ObjectMeta below the root           name, generateName, namespace, labels, annotations, finalizers
//	json.RawMessage                          any value
//	meta.Unstructured, meta.Raw              an embedded resource
//	a type with MarshalText                  string
//
// The types of k8s.io/apimachinery with these names are known as well. Interfaces, maps with other keys, channels,
// recursive types, and types with their own JSON are errors, unless the tag specifies the schema.
//
// The members apiVersion, kind and metadata of the object are left out, because the server knows them. The type has the
// subresource status if it has the member status; see Options.WholeStatus.
//
// A member is required if encoding/json always writes a value: its tag has neither omitempty nor omitzero, it is not a
// pointer, it has no default, and it is not the status. It may be null if encoding/json writes null for its zero value:
// a pointer, a slice or a map without omitempty or omitzero, or a meta.Time without omitzero. So the server accepts
// what the program writes, unless a word forbids it. An enum cannot have null, so an enum of a field that may be null
// is an error.
//
// A list with the tags `patchStrategy:"merge" patchMergeKey:"name"`, which Ensure reads, is a list map with that key,
// unless its elements are types of k8s.io.
//
// # The tag
//
// The tag crd has words that are separated by semicolons. In a value, two semicolons stand for one. Values are not
// quoted. As in any tag, Go needs a double backslash for a backslash and \" for a quote.
//
//	required, optional                       override the rule above; required also forbids null
//	nullable                                 null is a value
//	default=VALUE                            a string as it is, any other value as JSON
//	enum=A,B,C                               the allowed values
//	minimum=, maximum=, exclusiveMinimum=, exclusiveMaximum=, multipleOf=
//	minLength=, maxLength=, pattern=, format=
//	minItems=, maxItems=, minProperties=, maxProperties=
//	rule=CEL                                 a rule; message=, messageExpression=, reason=, fieldPath= and
//	                                         optionalOldSelf come after it
//	listType=atomic, set or map              with listMapKeys=name,port for map
//	mapType=atomic or granular
//	preserveUnknown                          members without a schema are kept; also for a struct whose JSON methods
//	                                         keep members without a field
//	embedded                                 a whole object, with apiVersion, kind and metadata
//	type=                                    replaces the schema of the Go type: string, integer, number, boolean,
//	                                         intOrString, any, or object with preserveUnknown
//
// A word with the prefix items. applies to the elements of a list, or to the values of a map: items.maxLength=63.
//
// Comments are not part of a program, so [Options].Descriptions has the texts for kubectl explain. The command
// client/typegen -crd writes them from the comments, and client/typegen -definitions writes a type with its tags and
// options from a definition.
//
// # Guarantees and limits
//
// [Of] is deterministic, and each mistake is an error that names the Go field or the option, and says what is allowed.
// The schemas are structural. [Of] checks defaults and enums against the schema, but not against its formats. It does
// not compile rules in CEL, as the server and client/clienttest/cel do, and does not check the limits of a server for a
// whole definition: its size, and the cost of its rules. A definition has at most 20,000 schemas.
//
// [Install] does not drop a version, and does not narrow a schema while there are objects, unless
// [InstallOptions] say so. It does not convert stored objects.
package crd
