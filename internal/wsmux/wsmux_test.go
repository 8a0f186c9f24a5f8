package wsmux_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/bowline-go/bowline/internal/memnet"
	"github.com/bowline-go/bowline/internal/wsmux"
)

const protocol = "test.channel.k8s.io"

// dial opens a connection to a server that does what handle says with its side.
func dial(t *testing.T, handle http.HandlerFunc) (*wsmux.Conn, error) {
	t.Helper()
	listener := memnet.Listen()
	server := &http.Server{Handler: handle}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	transport := &http.Transport{DialContext: listener.DialContext}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
	return wsmux.Open(t.Context(), func(ctx context.Context, h http.Header) (io.ReadWriteCloser, http.Header, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listener.Addr().String(), nil)
		if err != nil {
			return nil, nil, err
		}
		r.Header = h
		resp, err := transport.RoundTrip(r)
		if err != nil {
			return nil, nil, err
		}
		if resp.StatusCode != http.StatusSwitchingProtocols {
			return nil, nil, fmt.Errorf("answer %s", resp.Status)
		}
		return resp.Body.(io.ReadWriteCloser), resp.Header, nil
	}, protocol)
}

// raw returns a handler that speaks frames.
func raw(handle func(c *websocket.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		u := websocket.Upgrader{Subprotocols: []string{protocol}}
		c, err := u.Upgrade(w, r, nil)
		if err != nil {
			panic(err)
		}
		defer c.Close()
		handle(c)
	}
}

// guarantee S14, behaviour 168
func TestInvalidFramesAreRefused(t *testing.T) {
	for _, tc := range []struct {
		name   string
		handle func(*websocket.Conn)
		want   string
	}{
		{"text", func(c *websocket.Conn) { _ = c.WriteMessage(websocket.TextMessage, []byte("\x01x")) }, "sent a text message"},
		{"no channel", func(c *websocket.Conn) { _ = c.WriteMessage(websocket.BinaryMessage, nil) }, "without a channel"},
		{"too long", func(c *websocket.Conn) {
			_ = c.WriteMessage(websocket.BinaryMessage, make([]byte, 4<<20+1))
		}, "more than 4 MiB"},
		{"a length that overflows", func(c *websocket.Conn) {
			_, _ = c.NetConn().Write([]byte{0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
		}, "more than 4 MiB"},
		{"a negative length", func(c *websocket.Conn) {
			_, _ = c.NetConn().Write([]byte{0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
		}, "more than 4 MiB"},
		{"a masked frame", func(c *websocket.Conn) { _, _ = c.NetConn().Write([]byte{0x82, 0x81, 1, 2, 3, 4, 5}) }, "MASK"},
		{"a control frame that is too long", func(c *websocket.Conn) {
			_, _ = c.NetConn().Write(append([]byte{0x89, 126, 0, 126}, make([]byte, 126)...))
		}, "control"},
		{"reserved bits", func(c *websocket.Conn) { _, _ = c.NetConn().Write([]byte{0xf2, 1, 1}) }, "RSV"},
		{"a code", func(c *websocket.Conn) {
			_ = c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseInternalServerErr, "broken"))
		}, `code 1011: "broken"`},
		{"a cut", func(*websocket.Conn) {}, io.ErrUnexpectedEOF.Error()},
		{"a cut within a frame", func(c *websocket.Conn) { _, _ = c.NetConn().Write([]byte{0x82, 10, 1, 2}) }, io.ErrUnexpectedEOF.Error()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			conn, err := dial(t, raw(tc.handle))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Finish()
			var data io.Reader
			if _, data, err = conn.Next(); err == nil {
				_, err = io.Copy(io.Discard, data)
			}
			if err == nil || err == io.EOF || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Next: %v, want %q", err, tc.want)
			}
		})
	}
}

func TestFinishSendsAllDataFirst(t *testing.T) {
	conn, err := dial(t, func(w http.ResponseWriter, r *http.Request) {
		c, err := wsmux.Accept(w, r, protocol)
		if err != nil {
			t.Error(err)
			return
		}
		if err := c.Send(7, make([]byte, 3*wsmux.MaxData+1)); err != nil {
			t.Error(err)
		}
		c.Finish()
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Finish()
	messages, size := 0, int64(0)
	for {
		channel, data, err := conn.Next()
		if err == io.EOF {
			break
		}
		if err != nil || channel != 7 {
			t.Fatalf("channel %d, %v", channel, err)
		}
		n, err := io.Copy(io.Discard, data)
		if err != nil {
			t.Fatal(err)
		}
		messages, size = messages+1, size+n
	}
	if messages != 4 || size != 3*wsmux.MaxData+1 {
		t.Errorf("%d messages of %d bytes", messages, size)
	}
}

func TestAnUnknownProtocolIsAnError(t *testing.T) {
	_, err := dial(t, func(w http.ResponseWriter, r *http.Request) {
		if c, err := wsmux.Accept(w, r, "other"); err == nil {
			c.Finish()
		}
	})
	if err == nil || !strings.Contains(err.Error(), "speaks none of the protocols") {
		t.Errorf("Open: %v", err)
	}
}

// behaviour 159
func TestSilence(t *testing.T) {
	for name, tc := range map[string]struct {
		handle func(*websocket.Conn)
		reads  bool
		breaks bool
	}{
		"does not answer pings": {
			func(c *websocket.Conn) {
				c.SetPingHandler(func(string) error { return nil })
				_, _, _ = c.ReadMessage()
			}, true, true,
		},
		"answers pings": {func(c *websocket.Conn) { _, _, _ = c.ReadMessage() }, true, false},
		"sends without answers": {func(c *websocket.Conn) {
			c.SetPingHandler(func(string) error { return nil })
			go func() { _, _, _ = c.ReadMessage() }()
			for c.WriteMessage(websocket.BinaryMessage, []byte{1}) == nil {
				time.Sleep(30 * time.Second)
			}
		}, true, false},
		"nobody reads here": {
			func(c *websocket.Conn) {
				c.SetPingHandler(func(string) error { return nil })
				_, _, _ = c.ReadMessage()
			}, false, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, err := dial(t, raw(tc.handle))
				if err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() {
					if !tc.reads {
						time.Sleep(time.Hour)
						ended <- nil
						return
					}
					for {
						if _, _, err := conn.Next(); err != nil {
							ended <- err
							return
						}
					}
				}()
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				select {
				case err := <-ended:
					if !tc.breaks || !strings.Contains(err.Error(), "has not answered a ping") {
						t.Errorf("Next: %v", err)
					}
				default:
					if tc.breaks {
						t.Error("the connection goes on")
					}
				}
				if !tc.reads && conn.Send(1, nil) != nil {
					t.Error("the connection is closed, although nobody could see an answer")
				}
				conn.Finish()
				if !tc.breaks {
					<-ended
				}
				time.Sleep(time.Minute) // the other side sees it
			})
		})
	}
}

// The other side has room for what is sent, and the ping after it, but does not read. A ping of an idle connection is another thing:
// see TestSilence.
func TestAReaderThatTakesItsTimeIsNotGone(t *testing.T) {
	for name, tc := range map[string]struct {
		first  bool // the other side reads until a ping has come, and answers it
		dies   bool // then it never reads again
		breaks bool
	}{
		"from the beginning": {}, "after an answer": {first: true}, "gone after it has read everything": {true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := make(chan struct{})
				conn, err := dial(t, raw(func(c *websocket.Conn) {
					if tc.first {
						if _, _, err := c.ReadMessage(); err != nil {
							t.Error(err)
							return
						}
						_ = c.NetConn().SetReadDeadline(time.Now().Add(25 * time.Second))
						_, _, _ = c.ReadMessage() // answers pings
					}
					if tc.dies {
						<-over
						return
					}
					time.Sleep(time.Hour)
				}))
				if err != nil {
					t.Fatal(err)
				}
				read := make(chan error, 1)
				go func() {
					_, _, err := conn.Next()
					read <- err
				}()
				if err := conn.Send(1, []byte("x")); err != nil {
					t.Fatal(err)
				}
				if tc.first && !tc.dies {
					time.Sleep(26 * time.Second)
					if err := conn.Send(1, []byte("x")); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(30 * time.Minute)
				synctest.Wait()
				select {
				case err := <-read:
					if !tc.breaks {
						t.Errorf("Next: %v", err)
					}
				default:
					if tc.breaks {
						t.Error("the connection goes on")
					}
				}
				close(over)
				conn.Finish()
				time.Sleep(time.Hour)
			})
		})
	}
}

// A Send may be blocked, because the other side does not read.
func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan struct{})
		conn, err := dial(t, raw(func(*websocket.Conn) { <-gone }))
		if err != nil {
			t.Fatal(err)
		}
		cause := errors.New("enough")
		sent, read := make(chan error, 1), make(chan error, 1)
		go func() {
			for {
				if err := conn.Send(1, make([]byte, wsmux.MaxData)); err != nil {
					sent <- err
					return
				}
			}
		}()
		go func() {
			_, _, err := conn.Next()
			read <- err
		}()
		synctest.Wait()
		conn.Abort(cause)
		if err := <-sent; !errors.Is(err, cause) {
			t.Errorf("Send: %v", err)
		}
		if err := <-read; !errors.Is(err, cause) {
			t.Errorf("Next: %v", err)
		}
		conn.Finish()
		close(gone)
	})
}

func TestPingsOfTheServerAreAnswered(t *testing.T) {
	pongs := make(chan string, 1)
	conn, err := dial(t, raw(func(c *websocket.Conn) {
		c.SetPongHandler(func(data string) error {
			pongs <- data
			return nil
		})
		_ = c.WriteControl(websocket.PingMessage, []byte("there?"), time.Time{})
		_, _, _ = c.ReadMessage()
	}))
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, _, err := conn.Next()
		read <- err
	}()
	if got := <-pongs; got != "there?" {
		t.Errorf("the answer is %q", got)
	}
	conn.Finish()
	<-read
}

// The other side takes its time to read what is sent. That is not silence: it cannot have seen a ping.
func TestASlowReaderIsNotGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const messages = 100
		conn, err := dial(t, raw(func(c *websocket.Conn) {
			time.Sleep(time.Hour)
			for range messages {
				if _, _, err := c.ReadMessage(); err != nil {
					t.Error(err)
					return
				}
			}
			_, _, _ = c.ReadMessage()
		}))
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan error, 1)
		go func() {
			_, _, err := conn.Next()
			read <- err
		}()
		for range messages {
			if err := conn.Send(1, make([]byte, wsmux.MaxData)); err != nil {
				t.Fatal(err)
			}
		}
		conn.Finish()
		<-read
	})
}
