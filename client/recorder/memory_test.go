package recorder

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// The records differ in all texts, as those about the objects of a cluster do. While the server has their last
// repetition, nothing keeps these texts alive.
func TestTheRememberedRecordsTakeAtMostAMegabyte(t *testing.T) {
	live := func() int64 {
		runtime.GC()
		runtime.GC() // the second frees what finalizers and pools held during the first
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	b := newBook(Options{})
	now := time.Now()
	before := live()
	for i := range 5 * maxSeries / 4 {
		now = now.Add(time.Millisecond)
		b.recorded++
		b.add(now, Record{
			Regarding: Reference{
				GVK:   meta.GVK{Group: "example.com", Version: "v1", Kind: "Page"},
				Scope: meta.Namespaced,
				Identity: meta.Identity{
					Namespace: fmt.Sprintf("namespace-%d", i%50), Name: fmt.Sprintf("a-page-of-some-length-%d", i),
					UID: fmt.Sprintf("0a5e8e0e-9dc7-4f3c-8d4b-%012d", i), ResourceVersion: fmt.Sprint(1_000_000 + i),
				},
			},
			Reason: "Published", Action: "Published", Note: fmt.Sprintf("published %d files to the server of the site", i),
		})
		task, _, ok := b.take(now)
		if !ok {
			t.Fatalf("record %d is not sent", i)
		}
		b.settle(now, task, done, nil)
	}
	took := live() - before
	if b.total != maxSeries || b.sent != 5*maxSeries/4 {
		t.Errorf("%d records are remembered, %d were sent", b.total, b.sent)
	}
	if took > 1<<20 {
		t.Errorf("%d records take %d bytes, %d each", b.total, took, took/int64(b.total))
	}
	runtime.KeepAlive(b)
}
