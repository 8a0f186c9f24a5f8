package main

import (
	"bytes"
	"io"
	"log"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAllClustersHaveTheCopies(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		began := time.Now()
		if err := run(t.Context(), &out); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
		const want = `The hub gets three ConfigMaps: east and west have copies.
East goes away, and two of them change: west has the changes.
Reconciles of east fail, and are tried again.
  reconcile "east:default/`
		const end = `West is added: it has them.
One is deleted in the hub: it is gone in both.
cluster "east": 0 in progress, 0 later
cluster "west": 0 in progress, 0 later
`
		if text := out.String(); !strings.HasPrefix(text, want) || !strings.HasSuffix(text, end) || !strings.Contains(text, "connection refused") {
			t.Errorf("got\n%s\nwant\n%s...\n%s", text, want, end)
		}
	})
}
