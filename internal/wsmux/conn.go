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
	// maxMessage bounds a message of the other side: kubelets send 32 KiB at most.
	maxMessage = 4 << 20
	// MaxData is the largest part of a channel that is sent in one message.
	MaxData = 32 << 10
	// writeBuffer has room for one message.
	writeBuffer = MaxData + 64
	// readBuffer has room for the beginning of one. The rest of a message is read directly into the memory of the
	// caller, and a connection on which nothing happens keeps its buffer.
	readBuffer = 4 << 10
)

// writeBuffers has the buffers of connections that send nothing at the moment.
var writeBuffers sync.Pool

const (
	// pingEvery is how often the other side must show that it is there.
	pingEvery = 10 * time.Second
	// maxSilence is how long a ping may stay without an answer.
	maxSilence = 45 * time.Second
)

// Conn is one WebSocket with channels. One goroutine calls Next; Send may be called by several. Close ends both.
type Conn struct {
	ws       *websocket.Conn
	protocol string

	write   sync.Mutex // one message at a time
	channel [1]byte    // of the message that is being sent

	reading  message // the one that Next has returned
	within   bool    // a message has begun, and is not read to its end; for the goroutine that reads
	patience patience

	asked   atomic.Int64 // when the ping was sent that nothing has answered, in nanoseconds since born; 0 if there is none
	away    atomic.Bool  // nobody reads, so an answer cannot be seen
	born    time.Time
	pongs   chan string
	begun   atomic.Int64          // messages of which the sending has begun
	done    atomic.Int64          // and has ended
	taken   atomic.Int64          // those that the other side has read, as the answers to pings say
	cause   atomic.Pointer[error] // why the connection has been closed from here
	closed  chan struct{}
	closing sync.Once
	pinging chan struct{} // closed when the pinger has ended
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
	ws.SetPingHandler(func(data string) error { // the reader must not wait for a write
		c.asked.Store(0)
		select {
		case c.pongs <- data:
		default: // an answer to a later ping is an answer to this one
		}
		return nil
	})
	go c.ping()
	return c
}

// Protocol returns the protocol that both sides have chosen.
func (c *Conn) Protocol() string { return c.protocol }

// Next returns the channel of the next message, and its data, which is valid until the next call. Its error is io.EOF
// after an end in good order, and final.
func (c *Conn) Next() (channel byte, data io.Reader, err error) {
	if cause := c.cause.Load(); cause != nil { // messages may have been read ahead
		return 0, nil, *cause
	}
	c.asked.Store(0) // what has come meanwhile is about to be read
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
		return 0, nil, c.broken("the other side sends text, where the protocol has binary messages")
	}
	c.reading = message{c: c, r: data}
	if _, err := io.ReadFull(data, c.reading.channel[:]); err == io.EOF {
		return 0, nil, c.broken("the other side sends a message without a channel")
	} else if err != nil {
		return 0, nil, c.readError(err)
	}
	return c.reading.channel[0], &c.reading, nil
}

// message is the data of a message.
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

// LimitSilence bounds the silence of the other side from now on: once a read has waited for d, and nothing has come of
// a message, the connection is closed, and reads return cause. Time in which nobody reads does not count. It replaces
// an earlier limit. Any goroutine may call it.
func (c *Conn) LimitSilence(d time.Duration, cause error) {
	c.patience.set(d, true, func() { c.close(cause) })
}

// LimitWait is LimitSilence for the sum of the times that reads wait, whatever comes.
func (c *Conn) LimitWait(d time.Duration, cause error) {
	c.patience.set(d, false, func() { c.close(cause) })
}

// Unfinished reports, after an error of a read, whether the connection has ended within a message. The goroutine that
// reads may call it.
func (c *Conn) Unfinished() bool { return c.within }

// broken closes the connection, because the other side breaks the protocol.
func (c *Conn) broken(how string) error {
	err := errors.New(how)
	c.close(err)
	return err
}

func (c *Conn) readError(err error) error {
	if cause := c.cause.Load(); cause != nil {
		return *cause
	}
	ended := (*websocket.CloseError)(nil)
	switch {
	case errors.As(err, &ended) && (ended.Code == websocket.CloseNormalClosure || ended.Code == websocket.CloseNoStatusReceived):
		return io.EOF
	case errors.As(err, &ended) && ended.Code == websocket.CloseAbnormalClosure:
		return io.ErrUnexpectedEOF
	case errors.As(err, &ended):
		return fmt.Errorf("the other side has ended the connection with code %d: %q", ended.Code, ended.Text)
	case errors.Is(err, websocket.ErrReadLimit):
		return fmt.Errorf("the other side sends a message of more than %d MiB", maxMessage>>20)
	case err == io.EOF: // within a frame
		return io.ErrUnexpectedEOF
	}
	return err
}

// Send sends data on a channel, in messages of at most MaxData.
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

// ping sends pings, and answers those of the other side. A ping that follows messages is answered only after the other
// side has read those, which it may leave for as long as it likes. So silence breaks the connection only if an earlier
// answer has come after all messages before the ping; otherwise TCP has to find out whether the other side is there.
// For that, a ping says how many messages were sent before it, and the answer repeats it.
func (c *Conn) ping() {
	defer close(c.pinging)
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	before := int64(0) // messages that may have been sent before the last ping
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
			c.asked.CompareAndSwap(asked, c.now()) // what took long was to send it; the answer may have come already
		} else if kind == websocket.PingMessage && err != nil {
			c.asked.Store(0) // the other side does not read; that is not silence
		}
	}
}

// now returns a time for asked.
func (c *Conn) now() int64 { return max(1, int64(time.Since(c.born))) }

// End tells the other side that the connection ends in good order, and gives up after grace. Nothing can be sent after
// it, whether or not the other side was told; Next goes on until the other side has ended as well, or the connection
// breaks.
func (c *Conn) End(grace time.Duration) {
	end := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = c.ws.WriteControl(websocket.CloseMessage, end, time.Now().Add(grace)) // the connection may be gone
}

// Finish ends and closes the connection. When it returns, no goroutine of the connection runs.
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
