package main

import (
	"flag"
	"testing"

	"github.com/bowline-go/bowline/client/crd"
)

var update = flag.Bool("update", false, "write the manifests")

// pages.yaml is what the type says.
func TestTheDefinitionIsThatOfTheType(t *testing.T) {
	if err := crd.CheckFile("pages.yaml", *update, crd.MustOf(Pages, crd.Options{})); err != nil {
		t.Error(err)
	}
}
