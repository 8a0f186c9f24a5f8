// Package controllergen compares the definitions of package client/crd with those that controller-gen makes of the same
// Go types. The types in shapes have both the tags of client/crd and the markers of controller-gen. Each difference is
// in exceptions.txt: a difference that is not there fails the test, and so does a line without a difference.
//
// The folder apifolder is a program whose types have only the markers of controller-gen.
package controllergen
