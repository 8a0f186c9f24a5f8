package warm_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/warm"
)

// BenchmarkRestart measures how long a process needs to be synced, and what the server sends it, if a hundredth of the
// objects have changed since the last process. The server is in the same process, so its work counts too.
//
//	go test ./informer/warm -run - -bench Restart -benchtime 5x
func BenchmarkRestart(b *testing.B) {
	const objects = 10_000
	for _, kept := range []bool{false, true} {
		b.Run(fmt.Sprintf("file=%v", kept), func(b *testing.B) {
			server := clienttest.Start(b, clienttest.Options{})
			cfg, received := server.Config(), new(atomic.Int64)
			cfg.Uncompressed = true
			cfg.Wrap = counting(received)
			c, err := client.New(cfg)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(c.Close)
			r := client.For(c, things)
			thing := func(n int, value string) *Thing {
				return &Thing{
					ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: fmt.Sprint("a", n), Labels: map[string]string{"app": fmt.Sprint("app", n%50)}},
					Data:       map[string]string{"k": value, "text": strings.Repeat(fmt.Sprint(n), 100)},
				}
			}
			for n := range objects {
				if _, err := r.Create(b.Context(), thing(n, "0")); err != nil {
					b.Fatal(err)
				}
			}
			dir := b.TempDir()
			// process returns how long it took to be synced, and to end.
			process := func(dir string) (synced, ended time.Duration) {
				inf := informer.New(r, informer.Options{Warm: warm.New(warm.Options{Dir: filepath.Join(dir, "files")})})
				ctx, cancel := context.WithCancel(b.Context())
				done := make(chan error, 1)
				began := time.Now()
				go func() { done <- inf.Run(ctx) }()
				if err := inf.WaitSynced(b.Context()); err != nil {
					b.Fatal(err)
				}
				synced = time.Since(began)
				if s := inf.Status(); s.Objects != objects || (s.Warm == objects) != (s.Lists == 0) {
					b.Fatal(s)
				}
				began = time.Now()
				cancel()
				if err := <-done; err != nil {
					b.Fatal(err)
				}
				return synced, time.Since(began)
			}
			process(dir)
			var bytes int64
			var synced, ended time.Duration
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				for n := range objects / 100 {
					if _, err := r.Update(b.Context(), thing(n*100, fmt.Sprint(i+1))); err != nil {
						b.Fatal(err)
					}
				}
				from := dir
				if !kept {
					from = b.TempDir()
				}
				before := received.Load()
				b.StartTimer()
				s, e := process(from)
				b.StopTimer()
				bytes, synced, ended = bytes+received.Load()-before, synced+s, ended+e
				b.StartTimer()
			}
			b.ReportMetric(float64(bytes)/float64(b.N), "received-B/op")
			b.ReportMetric(float64(synced.Milliseconds())/float64(b.N), "synced-ms/op")
			b.ReportMetric(float64(ended.Milliseconds())/float64(b.N), "ended-ms/op")
		})
	}
}
