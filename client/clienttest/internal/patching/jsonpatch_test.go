package patching

import (
	"runtime"
	"strings"
	"testing"
)

// A JSON patch of a deep document took minutes, with the store locked, because each level was read once for each level above.
func TestDeepDocumentIsReadOnce(t *testing.T) {
	const depth = 9_000
	doc := []byte(strings.Repeat(`{"a":[`, depth/2) + `1.50` + strings.Repeat(`]}`, depth/2))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := parseNode(doc)
	runtime.ReadMemStats(&after)
	if got := string(n.append(nil)); got != string(doc) {
		t.Errorf("it became %.100s", got)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
		t.Errorf("it took %d bytes to read %d", got, len(doc))
	}
}
