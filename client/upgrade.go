package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/bowline-go/bowline/client/meta"
)

// upgrade asks for a subresource as a WebSocket, and returns the connection and the header of the answer. The client
// never sends the request twice, because the server may have begun the action.
func (r resource) upgrade(
	ctx context.Context, key meta.Key, subresource string, query, header map[string][]string,
) (io.ReadWriteCloser, map[string][]string, error) {
	q := r.request("connect", key)
	q.subresource, q.query, q.upgrade, q.once = subresource, query, header, true
	if err := r.usable(); err != nil {
		return nil, nil, q.fail(&UsageError{Err: err})
	}
	resp, err := r.c.do(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	return resp.Body.(io.ReadWriteCloser), resp.Header, nil // checkUpgrade has checked that the body has this type
}

// checkUpgrade returns an error unless the body of resp is the connection.
func checkUpgrade(resp *http.Response) error {
	if _, ok := resp.Body.(io.ReadWriteCloser); ok && resp.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return errors.New("a RoundTripper of Config.Wrap must return the body of a 101 unchanged, because it is the connection")
	}
	return fmt.Errorf("the server, or a proxy before it, answered %d instead of upgrading to a WebSocket: %w",
		resp.StatusCode, foreignAnswer(resp))
}

// upgraded is a connection that, when it is closed, also ends its request.
type upgraded struct {
	io.ReadWriteCloser
	cancel context.CancelFunc
}

func (u *upgraded) Close() error {
	err := u.ReadWriteCloser.Close()
	u.cancel()
	return err
}
