package main

import (
	"bytes"
	"testing"
	"testing/synctest"
)

func TestWaitIsForThePodThatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		const want = `not ready in time: it does not exist
default/web is ready, and its phase is Running
`
		if err := demo(t.Context(), &out); err != nil || out.String() != want {
			t.Errorf("got %v and\n%s", err, out.String())
		}
	})
}
