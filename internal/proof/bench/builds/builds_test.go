package builds

import "testing"

func TestLinkedCountsTheStandardLibraryAndMain(t *testing.T) {
	// Package heap imports the standard library only; the program beside it adds itself, Bowline and what that needs.
	packages, modules, err := Linked(t.Context(), "./weight/heap")
	if err != nil {
		t.Fatal(err)
	}
	if packages < 20 || modules != 0 {
		t.Errorf("package heap: got %d packages and %d modules, want those of the standard library and none", packages, modules)
	}
	more, modules, err := Linked(t.Context(), "./weight/heap/bowline")
	if err != nil {
		t.Fatal(err)
	}
	if more <= packages || modules < 2 {
		t.Errorf("a program of Bowline: got %d packages and %d modules", more, modules)
	}
}
