package containers

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/wsmux"
)

// A port of a request has two channels, one for its data and the next one for the text of an error. The server begins
// each with the number of the port, in two bytes.

// servePorts answers portforward: it connects to each port of the request, and carries the bytes until one side ends.
func (s *Server) servePorts(w http.ResponseWriter, r *http.Request, pod meta.Key) {
	if !wsmux.IsHandshake(r) {
		http.Error(w, "unable to upgrade: the server speaks WebSocket, and the request does not ask for it", http.StatusBadRequest)
		return
	}
	numbers, err := portsOf(r.URL.Query()["ports"])
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	conn, err := wsmux.Accept(w, r, "v4.channel.k8s.io")
	if err != nil {
		return // it has answered
	}
	defer conn.Finish()
	stop := context.AfterFunc(r.Context(), func() { conn.Abort(context.Cause(r.Context())) })
	defer stop()
	ports := make([]*port, len(numbers))
	for i, number := range numbers {
		ports[i] = &port{pod: pod, number: number, conn: conn, data: byte(2 * i), from: wsmux.NewSpool(1 << 20)}
		ports[i].dialing, ports[i].leave = context.WithCancel(r.Context())
		defer ports[i].leave()
		prefix := binary.LittleEndian.AppendUint16(nil, uint16(number))
		_ = conn.Send(ports[i].data, prefix) // if the client has gone, listenPorts notices
		_ = conn.Send(ports[i].data+1, prefix)
	}
	gone := make(chan struct{}) // closed when the client has gone
	go func() {
		defer close(gone)
		_ = listenPorts(conn, ports)
		for _, p := range ports {
			p.from.End()
			if !p.sent {
				p.leave()
			}
		}
	}()
	var all sync.WaitGroup
	for _, p := range ports {
		all.Go(func() {
			if err := p.serve(r.Context(), gone, s.Dial); err != nil {
				text := fmt.Sprintf("error forwarding port %d to pod %s, uid : %v", p.number, pod.Name, err)
				_ = conn.Send(p.data+1, []byte(text))
			}
		})
	}
	all.Wait()
	conn.End(maxWait)
	select { // data in flight would be lost if the server closed first
	case <-gone:
	case <-time.After(maxWait):
	}
	conn.Finish()
	<-gone
}

// portsOf returns the ports of a request.
func portsOf(texts []string) ([]int, error) {
	if len(texts) == 0 || len(texts) > 100 {
		return nil, fmt.Errorf(`query parameter "ports" must be given, up to 100 times, got %d`, len(texts))
	}
	numbers := make([]int, len(texts))
	for i, text := range texts {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("unable to parse %q as a port", text)
		}
		numbers[i] = int(n)
	}
	return numbers, nil
}

// listenPorts reads what the client sends, until the client has gone.
func listenPorts(conn *wsmux.Conn, ports []*port) error {
	part := make([]byte, wsmux.MaxData)
	for {
		channel, data, err := conn.Next()
		if err != nil {
			return err
		}
		if channel%2 != 0 || int(channel)/2 >= len(ports) {
			return errProtocol
		}
		for err == nil {
			var n int
			n, err = data.Read(part)
			ports[channel/2].from.Add(part[:n])
			ports[channel/2].sent = ports[channel/2].sent || n > 0
		}
		if err != io.EOF {
			return err
		}
	}
}

// port is a forwarded port.
type port struct {
	pod    meta.Key
	number int
	conn   *wsmux.Conn
	data   byte         // its channel
	from   *wsmux.Spool // what comes from the client
	sent   bool         // the client has sent bytes; for listenPorts

	// dialing is the context of Dial. It ends when the client goes without having sent a byte, because the connection
	// is then of no use.
	dialing context.Context
	leave   context.CancelFunc
}

var errRefused = errors.New("connect: connection refused")

// serve connects to the port, and carries bytes until the pod's side ends or the client goes. The pod still gets all
// that the client had sent before, however slowly it reads. When the server ends, the pod has one more second.
func (p *port) serve(ctx context.Context, gone <-chan struct{}, dial func(context.Context, meta.Key, int) (net.Conn, error)) error {
	inside, err := net.Conn(nil), errRefused
	if dial != nil {
		inside, err = dial(p.dialing, p.pod, p.number)
	}
	if err != nil {
		return fmt.Errorf("failed to connect to localhost:%d inside namespace %q: %w", p.number, p.pod.String(), err)
	}
	defer inside.Close() //nolint:errcheck // it may be closed already
	drained, over := make(chan struct{}), make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() {
		defer close(drained)
		_ = p.from.Drain(inside) // if the pod's side has ended, the copy below ends too
	})
	both.Go(func() {
		select {
		case <-gone:
			select {
			case <-drained:
			case <-over:
			case <-ctx.Done():
				select {
				case <-drained:
				case <-over:
				case <-time.After(time.Second):
				}
			}
			_ = inside.Close()
		case <-over:
		}
	})
	_, err = io.Copy(&output{p.conn, p.data}, inside)
	close(over)
	_ = inside.Close()
	p.from.Drop()
	both.Wait()
	select {
	case <-gone:
		return nil // no client would read it
	default:
		return err
	}
}
