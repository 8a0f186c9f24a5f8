package client

import (
	"fmt"
	"time"
)

// StallError says that a server accepted a request and then made no progress with its answer; see Config.StallTimeout. The
// request may have taken effect.
type StallError struct {
	// Begun says that the answer had begun: its headers were there, and the rest of it stalled.
	Begun bool
	// Waited is how long the caller waited for more.
	Waited time.Duration
	// Received is how many bytes of the body came in that time.
	Received int
}

// Error implements error.
func (e *StallError) Error() string {
	if !e.Begun {
		return fmt.Sprintf("server stalled: no answer within %v", e.Waited)
	}
	return fmt.Sprintf("server stalled: %d B of its answer came in %v", e.Received, e.Waited)
}

// Timeout returns true. By it errors.NetworkOf tells that it is a timeout of the network.
func (e *StallError) Timeout() bool { return true }

// stalled returns the error for an answer of which so many bytes came within Config.StallTimeout.
func (c *Client) stalled(received int) error {
	return &StallError{Begun: true, Waited: c.stall, Received: received}
}
