package main

import (
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/explore"
	"github.com/bowline-go/bowline/client/meta"
)

func TestTheControllerSurvivesDisturbances(t *testing.T) {
	explore.Run(t, explore.Plan{
		Server:  clienttest.Options{CRDs: []string{"sites.yaml"}},
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
