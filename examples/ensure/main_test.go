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
deployment: Updated service: Unchanged
deployment: Unchanged service: Unchanged
2 replicas, owned by ConfigMap shop with labels map[seen-by:somebody shop:shop]
`
		if err := demo(t.Context(), &out); err != nil || out.String() != want {
			t.Errorf("got %v and\n%s", err, out.String())
		}
	})
}
