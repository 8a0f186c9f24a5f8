// Package controllergen compares the definitions of package client/crd with those that controller-gen makes of the same
// Go types. The types in shapes have the tags of the one and the markers of the other. Each difference is in
// exceptions.txt: a difference that is not there fails the test, and so does a line without a difference.
//
// The folder apifolder is a program whose types are those of controller-gen.
package controllergen
