// Package containers simulates the containers of pods that package clienttest serves: Go functions take the place of
// the programs in them.
//
//	server := clienttest.Start(t, clienttest.Options{Containers: &containers.Server{
//		Run: func(ctx context.Context, p *containers.Process) int {
//			io.Copy(p.Stdout, p.Stdin)
//			return 0
//		},
//	}})
//
// For faults, Process.Cut breaks one connection, and clienttest.Server.Freeze stalls all of them; Options.Authorize
// refuses requests, and Server.Intercept replaces answers.
//
// It is a separate package because it links an implementation of WebSockets, which few tests need.
package containers

import (
	"context"
	"io"
	"net"
	"net/http"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
)

// Server serves exec and attach over WebSockets, in the protocols v5.channel.k8s.io and v4.channel.k8s.io, portforward
// in the protocol v4.channel.k8s.io, and logs. Its fields must not change while it serves.
type Server struct {
	// Run runs every command. It returns the exit code, which must fit an int32. ctx ends when the client has gone.
	// Several goroutines may call Run at once. If it is nil, no program is found.
	Run func(ctx context.Context, p *Process) (code int)
	// Logs writes the log of a container of a pod to w, which sends each Write at once. With o.Follow, it goes on until
	// the container ends. o has been validated, and names the container. ctx ends when the client has gone. If Logs
	// returns an error before the first Write, the server refuses the request (400); it sends a later error as text, as
	// a kubelet does. http.ErrAbortHandler breaks the connection. Several goroutines may call Logs at once. The type
	// [Logs] keeps logs. If Logs is nil, the answer is 404.
	Logs func(ctx context.Context, pod meta.Key, o remote.LogOptions, w io.Writer) error
	// OnlyV4 makes Server behave like a server before Kubernetes 1.30, which does not tell a command that its input
	// has ended.
	OnlyV4 bool
	// Dial connects to the program that listens on a port of a pod. It can use a net.Dialer, one end of a net.Pipe or a
	// listener in memory. The server carries bytes between the connection and the client, and closes the connection.
	// ctx ends with the server. It also ends when the client goes without having sent a byte. If the client goes after
	// it has sent bytes, the connection still gets them: the server waits for Dial, and then until the connection has
	// taken the bytes. An error goes to the client, as a kubelet's does when a port refuses connections. Several
	// goroutines may call Dial at once. If it is nil, every port refuses.
	Dial func(ctx context.Context, pod meta.Key, port int) (net.Conn, error)
}

// ServeContainer implements clienttest.Containers.
func (s *Server) ServeContainer(w http.ResponseWriter, r *http.Request, container string) {
	switch q := clienttest.RequestOf(r); q.Subresource {
	case "exec", "attach":
		s.serveProcess(w, r, q.Key, container)
	case "portforward":
		s.servePorts(w, r, q.Key)
	case "log":
		s.serveLog(w, r, q.Key, container)
	default:
		http.Error(w, "the containers of this server have no "+q.Subresource, http.StatusNotFound)
	}
}
