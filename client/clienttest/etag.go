package clienttest

import (
	"crypto/sha512"
	"fmt"
	"net/http"
	"strconv"
)

// hashOf returns the hash of a document, which, as on a real server, does not depend on the form in which it is sent.
func hashOf(v any) string {
	return fmt.Sprintf("%X", sha512.Sum512(encoded(v)))
}

// notModified sets the ETag, and answers 304 if the client already has that document.
func (c *call) notModified(hash string) bool {
	tag := strconv.Quote(hash)
	c.w.Header().Set("ETag", tag)
	if c.r.Header.Get("If-None-Match") != tag {
		return false
	}
	c.w.WriteHeader(http.StatusNotModified)
	return true
}
