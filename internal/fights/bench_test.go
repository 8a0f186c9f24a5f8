package fights

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/follow"
)

// BenchmarkExamine measures a write whose answer is examined. Each write has other content than the one before.
func BenchmarkExamine(b *testing.B) {
	w := New()
	answers := make([][]byte, 2)
	for i := range answers {
		answers[i] = object(fmt.Sprintf(`"data":{"n":"%d"}`, i), "me", `{"f:data":{".":{},"f:n":{}}}`, "kubelet", `{"f:status":{"f:phase":{}}}`)
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		var r Reconcile
		w.Look(b.Context(), "k", &r)
		w.Wrote("k", &r, follow.Write{
			Verb: "patch", Manager: "me", Resource: meta.GVR{Resource: "things"}, Key: meta.Key{Name: "a"}, UID: "u",
			ResourceVersion: fmt.Sprint(n), Answer: answers[n%2], Read: func(context.Context) ([]byte, error) { return nil, nil },
		})
		w.Settle(&r)
		if of := w.recent[target{"k", "u", false}]; of.again != nil {
			of.again.examined, of.again.left = time.Time{}, 0
		}
	}
}
