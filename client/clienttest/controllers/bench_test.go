package controllers

import (
	"context"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/discovery"
)

// A start of the garbage collector, until it has listed all resources, and its end. cpu-ms/op is the CPU time.
func BenchmarkStart(b *testing.B) {
	server := clienttest.Start(b, clienttest.Options{})
	b.ReportAllocs()
	before := cpuTime()
	for b.Loop() {
		ctx, stop := context.WithCancel(b.Context())
		c, err := client.New(server.Config())
		if err != nil {
			b.Fatal(err)
		}
		env := &environment{client: c, catalog: discovery.New(c, discovery.Options{})}
		w := newWatches(env, newGraph(), func() {})
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		w.wait(ctx)
		stop()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
	b.ReportMetric(float64((cpuTime()-before)/time.Microsecond)/1000/float64(b.N), "cpu-ms/op")
}
