package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	gopath "path"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/internal/copyscript"
)

var errFraming = errors.New("the container's output does not match its headers: a file changed while it was read, or the output is damaged")

// receivePacked copies src into t by a shell script instead of tar.
func (c *copying) receivePacked(ctx context.Context, t *tree, src string) error {
	name := programPath(src)
	stderr, err := c.run(ctx, script(copyscript.Pack(), c.nonce, name), nil, func(r io.Reader) error {
		begun := false
		return readPacked(r, c.nonce, func(e entry) error {
			if t.below != "" && !begun { // the first entry shows whether src is a file; the names in a folder begin with "./"
				if e.kind == aFile && e.name == name {
					t.isFile, t.base = true, gopath.Base(name)
				} else {
					t.isFolder, t.base = true, ""
				}
			}
			if begun = true; t.isFile && e.name == name {
				e.name = t.base
			}
			return t.add(e)
		})
	})
	if err == nil {
		c.result.Stderr = stderr
	}
	return explained(err)
}

// readPacked reads the output of copyscript.Pack to its end, and calls add for each entry.
func readPacked(r io.Reader, nonce string, add func(entry) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		header, err := field(in, 256)
		if err != nil {
			return err
		}
		fields := strings.Split(header, " ")
		if len(fields) != 5 || fields[0] != nonce {
			return errFraming
		}
		if fields[1] == "e" {
			return padding(in)
		}
		mode, modeErr := strconv.ParseUint(fields[2], 8, 32)
		size, sizeErr := strconv.ParseInt(fields[4], 10, 64)
		if modeErr != nil || sizeErr != nil {
			return errFraming
		}
		e := entry{mode: fs.FileMode(mode) & fs.ModePerm, size: size, body: in}
		if seconds, err := strconv.ParseInt(fields[3], 10, 64); err == nil { // "-" means unknown
			e.time = time.Unix(seconds, 0)
		}
		if e.name, err = field(in, maxName+1); err != nil {
			return err
		}
		switch fields[1] {
		case "f":
			e.kind = aFile
		case "d":
			e.kind = aFolder
		case "l":
			e.kind = aLink
			if e.target, err = field(in, maxName+1); err != nil {
				return err
			}
		case "o":
			e.kind = aDevice
		default:
			return errFraming
		}
		if err := add(e); err != nil {
			return err
		}
	}
}

// field reads text up to a zero byte. Text of more than most bytes is an error.
func field(in *bufio.Reader, most int) (string, error) {
	var text []byte
	for {
		b, err := in.ReadByte()
		switch {
		case err == io.EOF:
			return "", fmt.Errorf("the output is incomplete: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return "", err
		case b == 0:
			return string(text), nil
		case len(text) == most:
			return "", errFraming
		}
		text = append(text, b)
	}
}
