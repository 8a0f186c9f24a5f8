package main

import (
	"bytes"
	"testing"
	"testing/synctest"
)

func TestAnApplierGivesWayToTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		const want = `.spec.replicas is owned by autoscaler
5 replicas of web:2
unchanged: true
`
		if err := demo(t.Context(), &out); err != nil || out.String() != want {
			t.Errorf("got %v and\n%s", err, out.String())
		}
	})
}
