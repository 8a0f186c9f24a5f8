package clienttest

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// timestamp is the present time in the resolution of metadata.
func timestamp() meta.Time { return meta.Time{Time: time.Now().Truncate(time.Second)} }

func timeText(t meta.Time) string { return t.UTC().Format(time.RFC3339) }

// withNow returns a copy of a value in which text replaces every "now".
func withNow(v any, text string) any {
	return jsontree.Map(v, func(leaf any) any {
		if leaf == "now" {
			return text
		}
		return leaf
	})
}

// newUID returns a random UUID (RFC 9562, version 4).
func newUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // cannot fail
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
