// Package cel checks the CEL rules of custom resources in a test: the x-kubernetes-validations of their schemas. It is
// a separate module, because it links the libraries that kube-apiserver uses for them.
//
//	server := clienttest.Start(t, clienttest.Options{Rules: cel.Rules()})
//
// The rules of a CustomResourceDefinition are then checked when it is written, and each write of an object is checked
// by the rules of its schema.
//
// # As on a real server
//
// This package contains no rules and no language. It calls the functions of k8s.io/apiextensions-apiserver 0.37.2 that
// kube-apiserver 1.37 calls, in the same order and with the same limits:
//
//   - A definition is checked as a whole: types in rules, estimated cost, oldSelf where an old value can be found,
//     defaults that break their own rules, and everything that is not a rule, such as names and versions. An update
//     may keep what the old definition had.
//   - An object is checked with oldSelf, optionalOldSelf, messageExpression, reason and fieldPath, and with the limits
//     of cost at run time. On an update, a rule that fails for a value that stays as it was is no error, unless it uses
//     oldSelf. A real server sends a warning for it; this package does not return one.
//   - The order of the causes is as random as on a real server, if several members of an object are wrong. The field of
//     a rule of the whole object is "<nil>".
//
// # How a server calls it
//
// CheckDefinition takes a definition as it was sent or as it is stored: it fills in the defaults, and the status that a
// real server would have. The server checks the metadata, as it does for every kind; only the name and the approval of a
// protected group are checked here. A write to the subresource status of a definition has no rules.
//
// A server gives Check both objects in the version of the request, with the defaults of that version's schema. Neither
// may contain members that the schema does not have. Rules see whole objects: a write to a subresource, status or
// scale, is checked with the whole object that it leads to, in the same way. A server that has found a member missing,
// of a wrong type, not in an enum, or too long does not call Check. It adds the cause "some validation rules were not
// checked because the object was invalid; correct the existing errors to complete validation", if the schema has rules.
// Compile returns nil for a schema that has none.
//
// # Cost
//
// FIGURES
package cel
