package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
)

func TestTheControllerSurvivesDisturbances(t *testing.T) {
	sites := filepath.Join(t.TempDir(), "sites.yaml") // a person uses the resource before the program has installed it
	if err := crd.CheckFile(sites, true, crd.MustOf(Sites, crd.Options{})); err != nil {
		t.Fatal(err)
	}
	explore.Run(t, explore.Plan{
		Server:  clienttest.Options{CRDs: []string{sites}},
		Program: run,
		History: func(h *explore.History) {
			site := &Site{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "home"}}
			site.Spec.Domain = "example.com"
			explore.Create(h, Sites, site)
			h.Rest()
			explore.Modify(h, Sites, site.Key(), func(s *Site) error { s.Spec.Domain = "example.org"; return nil })
		},
		Budget: time.Second,
	})
}
