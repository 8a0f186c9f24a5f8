package e2e

import (
	"context"
	"net"
	"testing"

	"golang.org/x/net/nettest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
)

// The suite with which golang.org/x/net tests a net.Conn. The other end is a connection of TCP, to which the server connects.
func TestAForwardedPortIsANetConn(t *testing.T) {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	server := clienttest.Start(t, clienttest.Options{Containers: &containers.Server{
		Dial: func(ctx context.Context, _ meta.Key, _ int) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", listener.Addr().String())
		},
	}})
	c := must(client.New(server.Config()))(t)
	defer c.Close()
	r := client.For(c, pods)
	pod := create(t, r, "default", `{"metadata": {"name": "web"}, "spec": {"containers": [{"name": "app", "image": "none"}]}}`)
	nettest.TestConn(t, func() (here, there net.Conn, stop func(), err error) {
		if here, err = remote.ToPod(r, meta.KeyOf(pod), "80").Dial(t.Context()); err != nil {
			return nil, nil, nil, err
		}
		if there, err = listener.Accept(); err != nil {
			return nil, nil, nil, err
		}
		return here, there, func() {
			_ = here.Close()
			_ = there.Close()
		}, nil
	})
}
