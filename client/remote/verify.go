package remote

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bowline-go/bowline/internal/copyscript"
)

// verify compares the SHA-256 of the files in a folder of the container with sums.
func (c *copying) verify(ctx context.Context, folder string, sums []sum) error {
	_, err := c.run(ctx, script(copyscript.Sums(), folder, c.nonce),
		func(w io.Writer) error {
			out := bufio.NewWriter(w)
			for _, s := range sums {
				if _, err := out.WriteString(copyscript.Line("./" + s.name)); err != nil {
					return err
				}
			}
			_ = out.WriteByte('\n') // Flush has the error
			return out.Flush()
		},
		func(r io.Reader) error {
			in := bufio.NewReaderSize(r, 2*maxName) // a line contains a name
			for _, s := range sums {
				line, err := sumLine(in)
				if err != nil {
					return err
				}
				if err := s.check(line); err != nil {
					return &entryError{s.name, err}
				}
			}
			return c.end(in)
		})
	if isMissing("sh", err) {
		err = fmt.Errorf("the container has no sh: %w", err)
	}
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	return nil
}

// sumLine reads a line of the output of sha256sum.
func sumLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadSlice('\n')
	if err == io.EOF {
		return "", fmt.Errorf("the output of sha256sum is incomplete: %w", io.ErrUnexpectedEOF)
	}
	return string(line), err
}

// check compares the sum in a line of the output of sha256sum.
func (s *sum) check(line string) error {
	text, _, _ := strings.Cut(line, " ")
	got, err := hex.DecodeString(strings.TrimPrefix(text, `\`)) // GNU sha256sum marks a line with an escaped name by a backslash
	if err != nil || len(got) != sha256.Size {
		return errors.New("the container printed no SHA-256 for it")
	}
	if [sha256.Size]byte(got) != s.sum {
		return fmt.Errorf("its SHA-256 is %x in the container, and %x here", got, s.sum)
	}
	return nil
}

// end checks that the rest of the output of a script is the nonce, and after it at most zeros.
func (c *copying) end(r io.Reader) error {
	got := make([]byte, len(c.nonce))
	if _, err := io.ReadFull(r, got); err != nil {
		return fmt.Errorf("the output is incomplete: %w", io.ErrUnexpectedEOF)
	}
	if string(got) != c.nonce {
		return errFraming
	}
	return padding(r)
}
