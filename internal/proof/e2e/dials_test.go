package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/proof/conformance"
)

// manyInformers is how many informers BenchmarkDials starts at once, each of a namespace of its own.
const manyInformers = 1000

// BenchmarkDials counts how often a client dials for many informers that start at once, and the connections that are open once all
// are in sync. The server speaks HTTP/2, so one connection has room for hundreds of requests.
//
//	go test -run '^$' -bench Dials -benchtime 3x -timeout 30m
func BenchmarkDials(b *testing.B) {
	contenders := []struct {
		name string
		sync func(context.Context, *dialled) error
	}{
		{"Bowline", bowlineInformers},
		{"Bowline-one-informer", bowlineNamespaces},
		{"client-go", clientgoInformers},
	}
	counts := make([]dialled, len(contenders))
	for b.Loop() {
		for i, c := range contenders {
			ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
			err := c.sync(ctx, &counts[i])
			cancel()
			if err != nil {
				b.Fatalf("%s: %v", c.name, err)
			}
		}
	}
	for i, c := range contenders {
		b.ReportMetric(float64(counts[i].dials.Load())/float64(b.N), c.name+"-dials")
		b.ReportMetric(float64(counts[i].used)/float64(b.N), c.name+"-connections")
	}
}

// dialled counts.
type dialled struct {
	dials atomic.Int64
	open  atomic.Int64
	used  int64 // open when all were in sync
}

func (d *dialled) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d.dials.Add(1)
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	d.open.Add(1)
	return &countedConn{Conn: c, of: d}, nil
}

type countedConn struct {
	net.Conn
	of   *dialled
	once sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.of.open.Add(-1) })
	return c.Conn.Close()
}

func numbered(i int) string { return fmt.Sprintf("dials-%d", i) }

func bowlineInformers(ctx context.Context, d *dialled) error {
	names := make([][]string, manyInformers)
	for i := range names {
		names[i] = []string{numbered(i)}
	}
	return runInformers(ctx, d, names)
}

func bowlineNamespaces(ctx context.Context, d *dialled) error {
	var all []string
	for i := range manyInformers {
		all = append(all, numbered(i))
	}
	return runInformers(ctx, d, [][]string{all})
}

// runInformers runs an informer for each element of namespaces until all are in sync.
func runInformers(ctx context.Context, d *dialled, namespaces [][]string) error {
	admin := adminConfig()
	admin.Dial = d.dial
	c, err := client.New(admin)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	var synced error
	var informers []*informer.Informer[*conformance.ConfigMap]
	for _, names := range namespaces {
		inf := informer.New(client.For(c, conformance.ConfigMaps), informer.Options{Namespaces: names})
		informers = append(informers, inf)
		all.Go(func() { _ = inf.Run(ctx) })
	}
	for _, inf := range informers {
		synced = errors.Join(synced, inf.WaitSynced(ctx))
	}
	d.used += d.open.Load()
	stop()
	all.Wait()
	return synced
}

func clientgoInformers(ctx context.Context, d *dialled) error {
	set, err := clientset.NewForConfig(&rest.Config{
		Host: plane.Server, BearerToken: plane.Token, TLSClientConfig: rest.TLSClientConfig{CAData: plane.CA}, QPS: -1, Dial: d.dial,
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var factories []informers.SharedInformerFactory
	for i := range manyInformers {
		f := informers.NewSharedInformerFactoryWithOptions(set, 0, informers.WithNamespace(numbered(i)))
		f.Core().V1().ConfigMaps().Informer()
		f.StartWithContext(ctx)
		factories = append(factories, f)
	}
	var synced error
	for _, f := range factories {
		synced = errors.Join(synced, f.WaitForCacheSyncWithContext(ctx).Err)
	}
	d.used += d.open.Load()
	stop()
	for _, f := range factories {
		f.Shutdown()
	}
	return synced
}
