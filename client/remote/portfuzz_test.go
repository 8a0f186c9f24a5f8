package remote

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

// FuzzPortChannels gives both channels of a port in messages, as a server may send anything: each message is a byte for its length
// and channel, and then its data.
func FuzzPortChannels(f *testing.F) {
	const port = 80
	f.Add([]byte("\x04\x50\x00\x05\x50\x00\x06abc"))
	f.Add([]byte("\x02\x50\x02\x00\x03\x50\x03\x00\x06abc\x07bad"))
	f.Add([]byte("\x04\x51\x00"))
	f.Add([]byte("\x00\x01\x08\x50\x00ab\x09\x50\x00no"))
	f.Fuzz(func(t *testing.T, messages []byte) {
		data, said := portPrefix{port: port}, portText{port: port}
		var sent, texts, read []byte
		for len(messages) > 0 {
			isError, size := messages[0]&1 == 1, int(messages[0]>>1)
			part := messages[1:min(1+size, len(messages))]
			messages = messages[1+len(part):]
			var err error
			if isError {
				texts = append(texts, part...)
				err = said.read(bytes.NewReader(part))
			} else {
				sent = append(sent, part...)
				message := bytes.NewReader(part)
				if err = data.read(message); err == nil {
					rest, _ := io.ReadAll(message)
					read, err = append(read, rest...), io.EOF
				}
			}
			of := sent
			if isError {
				of = texts
			}
			wrong := len(of) >= 2 && binary.LittleEndian.Uint16(of) != port
			if wrong != (err != io.EOF) {
				t.Fatalf("the channel has %q, and the error is %v", of, err)
			}
			if err != io.EOF {
				return
			}
		}
		for _, c := range []struct{ sent, read []byte }{{sent, read}, {texts, said.text}} {
			if want := c.sent[min(2, len(c.sent)):]; !bytes.Equal(c.read, want) {
				t.Errorf("%q was read of %q", c.read, c.sent)
			}
		}
	})
}

// FuzzPortBuffer adds and takes bytes in pieces, by both ways of either side.
func FuzzPortBuffer(f *testing.F) {
	f.Add([]byte{1, 200, 2, 3, 250, 6, 7})
	f.Fuzz(func(t *testing.T, steps []byte) {
		b := newPortBuffer()
		next, got := byte(0), byte(0) // of an endless sequence
		held := 0
		take := func(part []byte) {
			for _, c := range part {
				if c != got {
					t.Fatalf("took %d, want %d", c, got)
				}
				got++
			}
			held -= len(part)
		}
		for _, s := range steps {
			size := int(s>>2) * 1021
			switch s & 3 {
			case 0:
				size = min(size, maxRoom-held) // it would wait for room
				part := make([]byte, size)
				for i := range part {
					part[i] = next
					next++
				}
				if n, err := b.add(part); n != size || err != nil {
					t.Fatalf("add: %d, %v", n, err)
				}
				held += size
			case 1:
				if held == maxRoom {
					continue
				}
				room, err := b.room()
				if err != nil || len(room) == 0 {
					continue
				}
				n := min(size, len(room))
				for i := range room[:n] {
					room[i] = next
					next++
				}
				b.added(room, n)
				held += n
			case 2:
				if held == 0 {
					continue
				}
				part := make([]byte, size)
				n, err := b.take(part)
				if err != nil || n != min(size, held) {
					t.Fatalf("take: %d of %d, %v", n, held, err)
				}
				take(part[:n])
			case 3:
				if held == 0 {
					continue
				}
				part, err := b.next()
				if err != nil || len(part) == 0 {
					t.Fatalf("next: %d, %v", len(part), err)
				}
				n := min(size, len(part))
				take(part[:n])
				b.taken(n)
			}
			if len(b.ring) > maxRoom {
				t.Fatalf("the ring has %d bytes", len(b.ring))
			}
		}
		b.finish(io.ErrClosedPipe, io.EOF)
		if _, err := b.add([]byte{1}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("add after the end: %v", err)
		}
		rest := make([]byte, maxRoom)
		for held > 0 {
			n, err := b.take(rest)
			if err != nil {
				t.Fatal(err)
			}
			take(rest[:n])
		}
		if _, err := b.take(rest); err != io.EOF || got != next {
			t.Errorf("take after the end: %v", err)
		}
	})
}
