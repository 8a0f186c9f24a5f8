package client_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// A client whose credentials are a service account's tokens gets the next one before the last has ended.
func TestTokenCredentialsRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.Start(t, clienttest.Options{Token: "bootstrap"})
		r := client.For(dial(t, srv.Config()), accounts)
		robot := meta.Key{Namespace: "default", Name: "robot"}
		must[*Slim](t)(r.Create(t.Context(), &Slim{Identity: at(robot)}))
		cfg := srv.Config()
		cfg.BearerToken = ""
		cfg.Credentials = client.TokenCredentials(r, robot, client.TokenOptions{Lifetime: 10 * time.Minute})
		own := client.For(dial(t, cfg), accounts)
		for range 8 { // one call each quarter of a lifetime and more
			must[*Slim](t)(own.Get(t.Context(), robot))
			time.Sleep(4 * time.Minute)
		}
		if n := srv.Requests()[clienttest.Call{Verb: "create", Resource: "serviceaccounts"}]; n < 4 || n > 9 {
			t.Errorf("%d tokens and an account were asked for in 32 minutes, want one for each 10 minutes or a little less", n)
		}
	})
}
