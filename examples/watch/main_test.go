package main

import (
	"bytes"
	"testing"
)

func TestWatchPrintsWhatHappens(t *testing.T) {
	var out bytes.Buffer
	const want = `0 there at the start
ADDED default/lights map[color:red]
MODIFIED default/lights map[color:green]
DELETED default/lights map[color:green]
`
	if err := demo(t.Context(), &out); err != nil || out.String() != want {
		t.Errorf("got %v and\n%s", err, out.String())
	}
}
