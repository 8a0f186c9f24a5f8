package wsmux

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

const (
	// maxMessage bounds a received message, in bytes. Kubelets send at most 32 KiB.
	maxMessage = 4 << 20
	// MaxData is the maximum data of a sent message, in bytes.
	MaxData = 32 << 10
	// writeBuffer has room for one message.
	writeBuffer = MaxData + 64
	// readBuffer has room for the beginning of a message. It is small, because an idle connection keeps it. The rest of
	// a message is read directly into the caller's memory.
	readBuffer = 4 << 10
)

// writeBuffers is a pool: a connection has a write buffer only while it sends.
var writeBuffers sync.Pool

const (
	// pingEvery is the time between two pings.
	pingEvery = 10 * time.Second
	// maxSilence is how long a ping may remain unanswered.
	maxSilence = 45 * time.Second
)

// Conn is a WebSocket with channels. One goroutine may call Next, and several may call Send. Abort and Finish end
// both.
type Conn struct {
	ws       *websocket.Conn
	protocol string

	write   sync.Mutex // one message at a time
	channel [1]byte    // the channel of the message that is being sent

	reading  message // the message that Next returned
	within   bool    // a message has begun and is not read to its end; used by the reading goroutine
	patience patience

	asked   atomic.Int64 // when the unanswered ping was sent, in nanoseconds since born; 0 if there is none
	away    atomic.Bool  // no read is running, so an answer cannot arrive
	born    time.Time
	pongs   chan string
	begun   atomic.Int64          // number of messages whose sending has begun
	done    atomic.Int64          // number of messages whose sending has ended
	taken   atomic.Int64          // number of messages that the other side has read, according to its answers to pings
	cause   atomic.Pointer[error] // why this side has closed the connection
	closed  chan struct{}
	closing sync.Once
	pinging chan struct{} // closed when ping has returned
}

func newConn(ws *websocket.Conn) *Conn {
	c := &Conn{
		ws: ws, protocol: ws.Subprotocol(), born: time.Now(),
		pongs: make(chan string, 1), closed: make(chan struct{}), pinging: make(chan struct{}),
	}
	c.away.Store(true) // until Next
	ws.SetReadLimit(maxMessage)
	ws.SetPongHandler(func(data string) error {
		c.asked.Store(0)
		if n, err := strconv.ParseInt(data, 10, 64); err == nil {
			c.taken.Store(n)
		}
		return nil
	})
	ws.SetPingHandler(func(data string) error { // the reading goroutine must not wait for a write
		c.asked.Store(0)
		select {
		case c.pongs <- data:
		default: // the answer to a later ping answers this one too
		}
		return nil
	})
	go c.ping()
	return c
}

// Protocol returns the negotiated protocol.
func (c *Conn) Protocol() string { return c.protocol }

// Next returns the channel of the next message, and its data, which is valid until the next call. Errors are final;
// io.EOF means a clean end.
func (c *Conn) Next() (channel byte, data io.Reader, err error) {
	if cause := c.cause.Load(); cause != nil { // messages may have been read ahead
		return 0, nil, *cause
	}
	c.asked.Store(0) // bytes that have arrived in between are about to be read
	c.away.Store(false)
	defer c.away.Store(true)
	c.patience.begin()
	defer func() { c.patience.end(err == nil) }()
	c.within = false
	kind, data, err := c.ws.NextReader()
	c.asked.Store(0)
	if err != nil {
		return 0, nil, c.readError(err)
	}
	c.within = true
	if kind != websocket.BinaryMessage {
		return 0, nil, c.broken("the other side sent a text message; the protocol has only binary ones")
	}
	c.reading = message{c: c, r: data}
	if _, err := io.ReadFull(data, c.reading.channel[:]); err == io.EOF {
		return 0, nil, c.broken("the other side sent a message without a channel")
	} else if err != nil {
		return 0, nil, c.readError(err)
	}
	return c.reading.channel[0], &c.reading, nil
}

// message reads the data of a message.
type message struct {
	c       *Conn
	r       io.Reader
	channel [1]byte
}

func (m *message) Read(p []byte) (int, error) {
	m.c.away.Store(false)
	defer m.c.away.Store(true)
	m.c.patience.begin()
	n, err := m.r.Read(p)
	m.c.patience.end(n > 0)
	m.c.asked.Store(0)
	switch err {
	case nil:
	case io.EOF:
		m.c.within = false
	default:
		err = m.c.readError(err)
	}
	return n, err
}

// LimitSilence bounds the silence of the other side from now on: once reads have waited for d without receiving any
// bytes of a message, c closes the connection, and reads return cause. Time without a running read does not count. A
// new limit replaces an earlier one. Any goroutine may call it.
func (c *Conn) LimitSilence(d time.Duration, cause error) {
	c.patience.set(d, true, func() { c.close(cause) })
}

// LimitWait is like LimitSilence, but bounds the total time that reads wait, even if bytes arrive.
func (c *Conn) LimitWait(d time.Duration, cause error) {
	c.patience.set(d, false, func() { c.close(cause) })
}

// Unfinished reports, after an error of a read, whether the connection ended within a message. Only the reading
// goroutine may call it.
func (c *Conn) Unfinished() bool { return c.within }

// broken closes the connection because the other side violates the protocol.
func (c *Conn) broken(how string) error {
	err := errors.New(how)
	c.close(err)
	return err
}

func (c *Conn) readError(err error) error {
	if cause := c.cause.Load(); cause != nil {
		return *cause
	}
	switch ended, ok := errors.AsType[*websocket.CloseError](err); {
	case ok && (ended.Code == websocket.CloseNormalClosure || ended.Code == websocket.CloseNoStatusReceived):
		return io.EOF
	case ok && ended.Code == websocket.CloseAbnormalClosure:
		return io.ErrUnexpectedEOF
	case ok:
		return fmt.Errorf("the other side has ended the connection with code %d: %q", ended.Code, ended.Text)
	case errors.Is(err, websocket.ErrReadLimit):
		return fmt.Errorf("the other side sent a message of more than %d MiB", maxMessage>>20)
	case err == io.EOF: // within a frame
		return io.ErrUnexpectedEOF
	}
	return err
}

// Send sends data on a channel, in messages of at most MaxData bytes.
func (c *Conn) Send(channel byte, data []byte) error {
	for {
		part := data[:min(len(data), MaxData)]
		if err := c.send(channel, part); err != nil {
			return err
		}
		if data = data[len(part):]; len(data) == 0 {
			return nil
		}
	}
}

func (c *Conn) send(channel byte, data []byte) error {
	c.write.Lock()
	defer c.write.Unlock()
	c.begun.Add(1)
	defer c.done.Add(1)
	w, err := c.ws.NextWriter(websocket.BinaryMessage)
	if err == nil {
		c.channel[0] = channel
		_, err = w.Write(c.channel[:])
	}
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if cause := c.cause.Load(); err != nil && cause != nil {
		return *cause
	}
	return err
}

// ping sends pings, and answers those of the other side. The other side answers a ping only after it has read all
// messages before the ping, and it may take any time to read them. So an unanswered ping closes the connection only if
// an earlier answer confirms all messages before the ping; otherwise only TCP can detect a dead peer. To confirm
// messages, a ping carries the number of messages sent before it, and the answer repeats the number.
func (c *Conn) ping() {
	defer close(c.pinging)
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	before := int64(0) // number of messages that may have been sent before the last ping
	for {
		kind, data := websocket.PingMessage, ""
		select {
		case <-c.closed:
			return
		case data = <-c.pongs:
			kind = websocket.PongMessage
		case <-ticker.C:
			if asked := c.asked.Load(); asked != 0 {
				if silent := time.Since(c.born) - time.Duration(asked); silent >= maxSilence && !c.away.Load() && c.taken.Load() >= before {
					c.close(fmt.Errorf("the other side has not answered a ping for %v", silent.Round(time.Second)))
					return
				}
				continue
			}
		}
		asked := c.now()
		if kind == websocket.PingMessage {
			c.asked.Store(asked)
			data = strconv.FormatInt(c.done.Load(), 10)
		}
		err := c.ws.WriteControl(kind, []byte(data), time.Now().Add(maxSilence))
		if kind == websocket.PingMessage {
			before = c.begun.Load()
		}
		if kind == websocket.PingMessage && err == nil {
			c.asked.CompareAndSwap(asked, c.now()) // count from the end of the sending; the answer may already have arrived
		} else if kind == websocket.PingMessage && err != nil {
			c.asked.Store(0) // the ping was not sent, because the other side does not read; that is not silence
		}
	}
}

// now returns the current time for asked, never 0.
func (c *Conn) now() int64 { return max(1, int64(time.Since(c.born))) }

// End sends a close message, and gives up after grace. After End nothing can be sent, even if the close message was
// not sent. Next can be called until the other side has ended the connection too, or the connection breaks.
func (c *Conn) End(grace time.Duration) {
	end := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = c.ws.WriteControl(websocket.CloseMessage, end, time.Now().Add(grace)) // the connection may be gone
}

// Finish ends and closes the connection. When it returns, the goroutine of the connection has ended.
func (c *Conn) Finish() {
	if c.cause.Load() == nil {
		c.End(time.Second)
	}
	c.close(net.ErrClosed)
	<-c.pinging
}

// Abort closes the connection. Next and Send return cause.
func (c *Conn) Abort(cause error) { c.close(cause) }

func (c *Conn) close(cause error) {
	c.closing.Do(func() {
		c.cause.Store(&cause)
		close(c.closed)
		_ = c.ws.Close()
	})
}
