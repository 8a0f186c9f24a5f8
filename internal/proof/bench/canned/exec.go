package canned

// This file serves commands in the containers of one pod: exec over WebSockets, with the protocol v5.channel.k8s.io.

import (
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/gorilla/websocket"
)

const (
	stdoutChannel = 1
	errorChannel  = 3
	closeChannel  = 255
	// partSize is how much of an output is sent in one message, as kubelets do.
	partSize = 32 << 10
)

// part is a message with output, with its frame.
var part = func() []byte {
	frame := make([]byte, 4+1+partSize)
	frame[0], frame[1] = 0x82, 126 // a whole binary message, whose length is in two bytes
	frame[2], frame[3] = byte((1+partSize)>>8), byte((1+partSize)&0xff)
	frame[4] = stdoutChannel
	return frame
}()

// exec runs one of these programs:
//
//	write N   writes N bytes
//	read      reads its input to the end, and writes how many bytes it had
//	wait      writes a byte, and reads its input to the end
func (s *Server) exec(w http.ResponseWriter, r *http.Request) {
	u := websocket.Upgrader{Subprotocols: []string{"v5.channel.k8s.io"}, ReadBufferSize: partSize + 1024, WriteBufferSize: 1024}
	c, err := u.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	defer s.enter()()
	defer c.Close()
	argv := r.URL.Query()["command"]
	if len(argv) == 0 {
		return
	}
	read := make(chan error, 1)
	if argv[0] == "write" { // the client sends nothing but pings
		go func() { read <- input(c, nil) }()
	}
	if err := program(c, argv); err != nil {
		return // the client has gone
	}
	if c.WriteMessage(websocket.BinaryMessage, []byte("\x03"+`{"metadata":{},"status":"Success"}`)) != nil {
		return
	}
	_ = c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
	if argv[0] != "write" {
		read <- input(c, nil)
	}
	<-read // until the client has gone
}

func program(c *websocket.Conn, argv []string) error {
	out := func(text string) error {
		return c.WriteMessage(websocket.BinaryMessage, append([]byte{stdoutChannel}, text...))
	}
	switch argv[0] {
	case "write":
		n, err := strconv.Atoi(argv[len(argv)-1])
		if err != nil {
			return err
		}
		for ; n >= partSize && err == nil; n -= partSize {
			_, err = c.NetConn().Write(part)
		}
		if err == nil && n > 0 {
			err = out(string(make([]byte, n)))
		}
		return err
	case "read":
		n := 0
		if err := input(c, &n); err != nil {
			return err
		}
		return out(strconv.Itoa(n))
	case "wait":
		if err := out("x"); err != nil {
			return err
		}
		return input(c, new(int))
	}
	return errors.New("there is no such program")
}

// input reads what the client sends until its input has ended, and adds the number of bytes to n. If n is nil, it reads
// until the client has gone.
func input(c *websocket.Conn, n *int) error {
	rest := make([]byte, partSize)
	for {
		_, r, err := c.NextReader()
		if err != nil {
			return err
		}
		var channel [1]byte
		if _, err := io.ReadFull(r, channel[:]); err != nil {
			return err
		}
		for err == nil {
			var m int
			if m, err = r.Read(rest); channel[0] == 0 && n != nil {
				*n += m
			}
		}
		if err != io.EOF {
			return err
		}
		if channel[0] == closeChannel && n != nil {
			return nil
		}
	}
}
