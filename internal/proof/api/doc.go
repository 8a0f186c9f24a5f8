// Package api keeps a list of what each public package exports, in testdata. A test compares the list with the code,
// so that a change of the API shows in the diff of the change that makes it.
package api
