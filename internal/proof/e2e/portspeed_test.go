package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
)

// forwardedBytes is what BenchmarkForwardedConnection reads and writes.
const forwardedBytes = 256 << 20

// BenchmarkForwardedConnection measures one connection to a port of a pod through the real server: how fast it is in each direction,
// and the time from its beginning to the first byte that the pod sends. Client-go's connection is the one that its
// SPDY-over-WebSocket dialer makes, without a local listener; Bowline's is that of remote.Target. The kubelet is part of this
// process. The contenders take turns, and each figure is the median of its times.
//
//	go test -run '^$' -bench ForwardedConnection -benchtime 9x -timeout 30m
func BenchmarkForwardedConnection(b *testing.B) {
	r, key := newKubelet(b, "10.1.0.14", func(context.Context, *process) int { return 0 })
	// The port sends all bytes, or takes all and confirms them, as the first byte that it gets says.
	var serving sync.WaitGroup
	port := inPod(b, func(l net.Listener) error {
		for {
			c, err := l.Accept()
			if err != nil {
				return err
			}
			serving.Go(func() {
				defer func() { _ = c.Close() }()
				var what [1]byte
				if _, err := io.ReadFull(c, what[:]); err != nil {
					return
				}
				if what[0] == 'r' {
					_, _ = io.Copy(c, io.LimitReader(zeros{}, forwardedBytes))
				} else if n, _ := io.Copy(io.Discard, io.LimitReader(c, forwardedBytes)); n == forwardedBytes {
					_, _ = c.Write(what[:])
				}
			})
		}
	}, func() {})
	b.Cleanup(serving.Wait)
	contenders := []struct {
		name string
		dial func(context.Context) (io.ReadWriteCloser, error)
	}{
		{"Bowline", func(ctx context.Context) (io.ReadWriteCloser, error) { return remote.ToPod(r, key, port).Dial(ctx) }},
		{"client-go", func(context.Context) (io.ReadWriteCloser, error) { return tunnelled(key, port) }},
	}
	var figures [2][3][]float64
	for i := 0; b.Loop(); i++ {
		for j := range contenders {
			j = (i + j) % len(contenders)
			runtime.GC()
			for k, measure := range []func(io.ReadWriteCloser) (float64, error){readThrough, writeThrough, nil} {
				began := time.Now()
				c, err := contenders[j].dial(b.Context())
				if err != nil {
					b.Fatalf("%s: %v", contenders[j].name, err)
				}
				var figure float64
				if measure != nil {
					figure, err = measure(c)
				} else if _, err = c.Write([]byte{'r'}); err == nil {
					_, err = io.ReadFull(c, make([]byte, 1))
					figure = 1e3 * time.Since(began).Seconds()
				}
				_ = c.Close()
				if err != nil {
					b.Fatalf("%s: %v", contenders[j].name, err)
				}
				figures[j][k] = append(figures[j][k], figure)
			}
		}
	}
	for j, c := range contenders {
		for k, unit := range []string{"read-MB/s", "write-MB/s", "first-byte-ms"} {
			slices.Sort(figures[j][k])
			b.ReportMetric(figures[j][k][len(figures[j][k])/2], c.name+"-"+unit)
		}
	}
}

func readThrough(c io.ReadWriteCloser) (float64, error) {
	if _, err := c.Write([]byte{'r'}); err != nil {
		return 0, err
	}
	began := time.Now()
	n, err := io.Copy(io.Discard, io.LimitReader(c, forwardedBytes))
	if err == nil && n < forwardedBytes {
		err = fmt.Errorf("read %d bytes of %d", n, forwardedBytes)
	}
	return forwardedBytes / 1e6 / time.Since(began).Seconds(), err
}

func writeThrough(c io.ReadWriteCloser) (float64, error) {
	began := time.Now()
	_, err := io.Copy(c, io.MultiReader(io.LimitReader(zeros{}, 1), io.LimitReader(zeros{}, forwardedBytes)))
	if err == nil {
		_, err = io.ReadFull(c, make([]byte, 1)) // the port has got all
	}
	return forwardedBytes / 1e6 / time.Since(began).Seconds(), err
}

// tunnelled connects to a port as client-go does.
func tunnelled(key meta.Key, port string) (io.ReadWriteCloser, error) {
	u, err := url.Parse(plane.Server + "/api/v1/namespaces/" + key.Namespace + "/pods/" + key.Name + "/portforward")
	if err != nil {
		return nil, err
	}
	dialer, err := portforward.NewSPDYOverWebsocketDialerForStreaming(u, &rest.Config{
		Host: plane.Server, BearerToken: plane.Token, TLSClientConfig: rest.TLSClientConfig{CAData: plane.CA},
	})
	if err != nil {
		return nil, err
	}
	conn, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	header.Set(corev1.StreamType, corev1.StreamTypeError)
	header.Set(corev1.PortHeader, port)
	header.Set(corev1.PortForwardRequestIDHeader, strconv.Itoa(0))
	failed, err := conn.CreateStream(header)
	if err == nil {
		err = failed.Close() // nothing is sent on it
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	header.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := conn.CreateStream(header)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &tunnel{data, conn}, nil
}

// tunnel is a stream with a connection of its own.
type tunnel struct {
	httpstream.Stream
	conn httpstream.Connection
}

func (t *tunnel) Close() error { return errors.Join(t.Stream.Reset(), t.conn.Close()) }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
