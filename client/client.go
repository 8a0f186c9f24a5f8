package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"

	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/handle"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/pipeline"
	"github.com/bowline-go/bowline/internal/retry"
	"github.com/bowline-go/bowline/internal/undertest"
)

// Client talks to one API server. It is safe for use by several goroutines at once. Between calls it runs no goroutine,
// except while it reads a file or fetches a credential.
type Client struct {
	door
	server    *url.URL
	http      *http.Client
	transport *conn.Transport
	name      string // the name that the server's certificate must have
	insecure  bool   // any certificate is accepted
	userAgent string
	limiter   *rate.Limiter
	hooks     Hooks

	retry  Retry // Config.Retry, with the defaults filled in
	budget *retry.Budget
	stall  time.Duration // 0 = no bound

	log       logr.Logger
	warnings  warnings   // the warnings that hooks have received
	logged    warningLog // the warnings that no hook took, for the log
	maxObject int
	streaming features          // streaming lists, by resource
	decoders  pipeline.Decoders // limits how many goroutines decode
	buffers   jsonstream.Buffers
	notes     sync.Map // noteKey -> *note
	versions  sync.Map // versionsKey -> *versions
	protobuf  Protobuf
	test      *undertest.Test // the test that the client is used in, from the Config
}

// door is for package discovery. It is an alias, so that its methods are not among those that users see.
type door = handle.Door

// New returns a client of the server that cfg names. It does no I/O: the first call fails if the server cannot be
// reached, or if a file cannot be read. New's error has every reason why cfg cannot be used.
func New(cfg Config) (*Client, error) {
	server, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	c := &Client{
		server: server, name: cmp.Or(cfg.TLS.ServerName, server.Hostname()), insecure: cfg.TLS.Insecure,
		userAgent: cmp.Or(cfg.UserAgent, defaultUserAgent()), limiter: cfg.Limiter, hooks: cfg.Hooks, log: cfg.Logger,
		stall: cfg.stallTimeout(), maxObject: cfg.MaxObject, protobuf: cfg.Protobuf, test: cfg.Test(),
	}
	t, err := conn.New(cfg.connection(server, c.logStale))
	if err != nil {
		return nil, err
	}
	c.http = &http.Client{Transport: t, CheckRedirect: conn.StayOnOrigin(server)}
	c.transport = t
	c.retry = cfg.Retry.withDefaults()
	c.budget = retry.NewBudget(c.retry.Burst)
	c.door = handle.NewDoor(c.trust)
	return c, nil
}

// Close closes idle connections, and ends a background fetch of a credential that only this client wants. If
// Config.Wrap returned a RoundTripper with the method CloseIdleConnections, Close calls that too. Calls in flight go
// on, and their connections are closed after the last of them: a watch and the body of [Client.Raw] can be read to
// their ends. The client stays usable: it opens connections as it needs them, and reads its files again. Close can be
// called again. A program that ends, or keeps its client for good, need not call it. A hook must not call it.
func (c *Client) Close() {
	c.transport.Close()
}

// String names the server, and shows no credential.
func (c *Client) String() string { return "client of " + c.server.Redacted() }

// GoString returns the same as String.
func (c *Client) GoString() string { return c.String() }

func (c *Client) streamOptions(keepManagedFields bool) jsonstream.Options {
	return jsonstream.Options{MaxObject: c.maxObject, KeepManagedFields: keepManagedFields, Buffers: &c.buffers}
}

// trust is handle.Door.Trust.
func (c *Client) trust(ctx context.Context) (string, error) {
	switch {
	case c.server.Scheme == "http":
		return "plain", nil
	case c.insecure:
		return "unverified", nil
	}
	ca, err := c.transport.Authorities(ctx)
	if err != nil {
		return "", err
	}
	if ca == nil {
		return c.name + " by the system's authorities", nil
	}
	sum := sha256.Sum256(ca)
	return c.name + " by authorities " + hex.EncodeToString(sum[:]), nil
}
