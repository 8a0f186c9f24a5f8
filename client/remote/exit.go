package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/shown"
)

// ExitError says that a command has ended with an exit code other than 0.
type ExitError struct {
	// Code is the exit code: any int32 but 0. On Linux it is from 1 to 255; after a signal it is 128 plus the signal's
	// number, as in a shell. On Windows it may be negative, and -1 is an ordinary exit code. If the exit code is
	// unknown, the error is the server's status and not an ExitError.
	Code int
	// Stderr is the end of the command's standard error, at most 32 KiB, if [Cmd.Output] or a copy captured it; nil
	// otherwise.
	Stderr []byte

	where string
}

// Error implements error.
func (e *ExitError) Error() string { return fmt.Sprintf("%s: exit code %d", e.where, e.Code) }

// ending is the final Status of a command, which the server sends on the error channel.
type ending struct {
	text []byte
	said bool  // text is complete
	err  error // the command's error, if said; nil for the exit code 0
}

// maxEnding bounds the status, in bytes.
const maxEnding = 1 << 20

// add adds a part of the status. With v4 and v5 the status is a JSON Status; with v1 it is a text without an end mark.
func (e *ending) add(c *Cmd, protocol string, part []byte) error {
	if e.said {
		return errors.New("the server sent data after the command's final Status")
	}
	if e.text = append(e.text, part...); len(e.text) > maxEnding {
		return fmt.Errorf("the command's final Status has more than %d bytes", maxEnding)
	}
	if protocol == v1 || !json.Valid(e.text) {
		return nil // the rest of the text may still arrive
	}
	var s meta.Status
	if err := json.Unmarshal(e.text, &s); err != nil {
		return fmt.Errorf("read the command's final Status: %w", err)
	}
	e.said, e.err = true, c.ended(s)
	return nil
}

// result returns the error of the command once the connection has ended with err; nil means a clean end. cut means that
// output may be missing.
func (e *ending) result(protocol string, err error, cut bool) error {
	switch {
	case e.said && cut && e.err == nil:
		return fmt.Errorf("the command has succeeded, but its output may be cut off: %w", err)
	case e.said && cut:
		return fmt.Errorf("%w, and its output may be cut off: %w", e.err, err)
	case e.said:
		return e.err
	case errors.Is(err, errInput):
		return err
	case len(e.text) > 0 && protocol == v1:
		return fmt.Errorf("the server says: %s", shown.Text(string(e.text)))
	case len(e.text) > 0:
		return fmt.Errorf("the server sent %q instead of the command's final Status", shown.Text(string(bytes.TrimSpace(e.text))))
	case err != nil:
		return fmt.Errorf("the connection broke before the server said how the command ended: %w", err)
	case protocol == v1:
		return nil
	}
	return errors.New("the server has ended the connection without saying how the command ended")
}

// ended returns the error for the status of a command's end.
func (c *Cmd) ended(s meta.Status) error {
	if s.Status == "Success" {
		return nil
	}
	err := apierrors.FromStatus(s)
	if s.Reason == "NonZeroExitCode" {
		cause, _ := apierrors.Cause(err, "ExitCode")
		if code, bad := strconv.ParseInt(cause.Message, 10, 32); bad == nil && code != 0 {
			return &ExitError{Code: int(code), where: c.where()}
		}
	}
	return err
}

// where names the command for errors, without its arguments, which may contain secrets.
func (c *Cmd) where() string {
	where := c.what + " in pod " + c.key.String()
	if c.Container != "" {
		where += ", container " + c.Container
	}
	if len(c.argv) > 0 {
		where += ": " + shown.Text(c.argv[0])
	}
	return where
}
