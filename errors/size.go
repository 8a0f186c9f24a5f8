package errors

import (
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// refusesSize reports whether a Status says that the store, etcd, has refused an object because of its size. The API
// has no Reason for such a refusal: the API server answers 500 with the store's text. The texts are those of etcd
// (ErrRequestTooLarge) and of gRPC's limits on message size. gRPC's code ResourceExhausted proves nothing, because a
// full database has it too.
//
// method may be empty. gRPC's text about a received message is about the request only if the request writes; for a
// read, it is about the store's answer.
func refusesSize(s meta.Status, method string) bool {
	switch Reason(s.Reason) {
	case "", Unknown, InternalError:
	default:
		return false
	}
	if s.Code != http.StatusInternalServerError {
		return false
	}
	text := strings.TrimPrefix(s.Message, "Internal error occurred: ")
	if after, ok := strings.CutPrefix(text, "rpc error: code = "); ok {
		_, text, _ = strings.Cut(after, " desc = ")
	}
	text = strings.TrimPrefix(text, "grpc: ")
	switch {
	case text == "etcdserver: request is too large", strings.HasPrefix(text, "trying to send message larger than max ("):
		return true
	case strings.HasPrefix(text, "received message larger than max "),
		strings.HasPrefix(text, "received message after decompression larger than max "):
		return method != "" && method != http.MethodGet && method != http.MethodHead
	}
	return false
}
