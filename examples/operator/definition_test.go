package main

import (
	"flag"
	"testing"

	"github.com/bowline-go/bowline/client/crd"
)

var update = flag.Bool("update", false, "write the manifests")

// The definition of pages is what their type says.
func TestTheDefinitionIsThatOfTheType(t *testing.T) {
	if err := crd.CheckFile("pages.yaml", *update, crd.MustOf(Pages, crd.Options{})); err != nil {
		t.Error(err)
	}
}
