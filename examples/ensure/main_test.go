package main

import (
	"bytes"
	"testing"
	"testing/synctest"
)

func TestEnsureKeepsItAsItShouldBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		const want = `one of two created it: true
somebody scales it to 5
Updated: 2 replicas with labels map[seen-by:somebody shop:bowline-example-shop], owned by ConfigMap
Unchanged: 2 replicas with labels map[seen-by:somebody shop:bowline-example-shop], owned by ConfigMap
`
		if err := demo(t.Context(), &out); err != nil || out.String() != want {
			t.Errorf("got %v and\n%s", err, out.String())
		}
	})
}
