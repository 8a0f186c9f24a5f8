package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
)

// Trust says by what c knows its server: "plain" for a server without TLS, "unverified" with TLS.Insecure, and otherwise the name that
// the server's certificate must have, and the system's authorities or a digest of those that TLS names. Two clients that say
// the same believe the same answers of one server. So what a program keeps of answers, on a disk for instance, is to be kept
// with it: a client that verifies must not believe what another one has read without. It has no secret in it.
//
// It needs what is in the files that TLS names, and waits for them as a request does; the error says why they cannot be used, or
// that ctx has ended.
func (c *Client) Trust(ctx context.Context) (string, error) {
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
