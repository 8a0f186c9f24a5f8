package remote

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	internalconn "github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/wsmux"
)

// portDialer connects to ports of pods.
type portDialer struct {
	gvr     meta.GVR // of pods
	refuse  error    // why it cannot be used
	upgrade func(ctx context.Context, key meta.Key, subresource string, query, header map[string][]string) (
		conn io.ReadWriteCloser, answer map[string][]string, err error)
}

func dialerOf[T meta.Object](pods client.Resource[T]) portDialer {
	return portDialer{gvr: pods.GVR(), refuse: checkHandle(pods, "pods"), upgrade: handle.Of(pods).Upgrade}
}

func (d portDialer) dial(ctx context.Context, to addr) (*portConn, error) {
	if d.refuse != nil {
		return nil, d.fail(to.Pod, usage(d.refuse))
	}
	// The context must outlive the dial: if it ends, so does the connection.
	dialing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	ws, err := wsmux.Open(dialing, func(ctx context.Context, header http.Header) (io.ReadWriteCloser, http.Header, error) {
		conn, answer, err := d.upgrade(ctx, to.Pod, "portforward", url.Values{"ports": {strconv.Itoa(to.Port)}}, header)
		if err != nil {
			return nil, nil, createPermission(err, "portforward")
		}
		return &portStream{conn, cancel}, answer, nil
	}, v4)
	if !stop() && err == nil {
		ws.Finish()
		err = internalconn.ContextError(ctx)
	} else if err != nil && ctx.Err() != nil {
		err = internalconn.ContextError(ctx)
	}
	if err != nil {
		cancel()
		return nil, d.fail(to.Pod, err)
	}
	return newPortConn(ws, d.gvr, to), nil
}

func (d portDialer) fail(key meta.Key, err error) error {
	return failed("connect", d.gvr, "portforward", key, err)
}

// portStream is a connection whose Close also cancels the context of its request.
type portStream struct {
	io.ReadWriteCloser
	cancel context.CancelFunc
}

func (c *portStream) Close() error {
	defer c.cancel()
	return c.ReadWriteCloser.Close()
}
