package main

import (
	"errors"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
)

// allowed passes a request on if the rules of the cluster allow its sender to get the path. It asks the API server with
// the sender's own bearer token, so the operator itself needs no permission for it. Over plain HTTP others can read the
// token on the way: outside of a trusted network, serve with TLS.
func allowed(cfg client.Config, next http.Handler) http.Handler {
	anonymous := cfg.Anonymous()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !found {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "send the token of a user or a service account", http.StatusUnauthorized)
			return
		}
		asker := anonymous
		asker.BearerToken = client.Secret(token)
		c, err := client.New(asker)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		defer c.Close()
		answer, err := client.CanI(r.Context(), c, client.Access{Verb: "get", Path: r.URL.Path})
		switch {
		case errors.Is(err, apierrors.Unauthorized):
			http.Error(w, "the API server does not know the token", http.StatusUnauthorized)
		case err != nil:
			http.Error(w, "the API server does not answer", http.StatusServiceUnavailable)
		case !answer.Allowed:
			http.Error(w, "the user of the token may not get "+r.URL.Path, http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
