// Package schema reads the schemas of kinds from CustomResourceDefinitions, and from OpenAPI v3 documents of a
// kube-apiserver. It has one model for both, a [Kind] with a tree of [Schema] values.
//
// It reads the parts of a schema that decide which Go type fits, and checks these. It does not decide whether a server
// would accept the schema.
//
// # Limits
//
// A file has at most [MaxBytes], and a document at most [MaxSchemas] schemas, nested at most [MaxDepth] deep. A YAML
// document has at most [MaxValues] values, including those that aliases repeat. Anything larger is an error. YAML merge
// keys ("<<") and %TAG directives are errors.
package schema

// The limits of what the package reads.
const (
	MaxBytes   = 64 << 20
	MaxSchemas = 100_000
	MaxDepth   = 100
	MaxValues  = 1 << 20
)
