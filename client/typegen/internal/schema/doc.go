// Package schema reads what a server says about kinds: CustomResourceDefinitions, and OpenAPI v3 documents of a
// kube-apiserver. It makes one model of both, a [Kind] with a tree of [Schema] values.
//
// It reads the parts of a schema that decide which Go type fits, and checks these. It does not decide whether a server
// would accept the schema.
//
// # Limits
//
// A file has at most [MaxBytes], a document at most [MaxSchemas] schemas, nested at most [MaxDepth] deep, and one of
// YAML at most [MaxValues] values, those that aliases repeat included. More is an error. YAML merge keys ("<<") and
// %TAG directives are errors.
package schema

// The limits of what the package reads.
const (
	MaxBytes   = 64 << 20
	MaxSchemas = 100_000
	MaxDepth   = 100
	MaxValues  = 1 << 20
)
