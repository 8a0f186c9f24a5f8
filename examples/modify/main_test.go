package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

func TestEverySeatIsSoldOnce(t *testing.T) {
	var out bytes.Buffer
	err := cluster.InProcess(t.Context(), func(ctx context.Context, c *client.Client) error {
		return work(ctx, c, "default", []string{"ann", "ben", "cem", "dot", "eve"}, &out)
	})
	if want := "5 clerks have sold 1a 1b 1c 2a 2b 2c 3a 3b 3c\n"; err != nil || out.String() != want {
		t.Errorf("got %v and %s", err, out.String())
	}
}

func TestASaleThatMayHaveHappenedIsNotMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		shows := client.For(c, Shows)
		show := &Show{Identity: meta.Identity{Namespace: "default", Name: "show"}}
		show.Data.Free = "1a"
		if _, err := shows.Create(t.Context(), show); err != nil {
			t.Fatal(err)
		}
		key := meta.KeyOf(show)
		server.Intercept(func(r *http.Request) http.HandlerFunc {
			if r.Method == http.MethodPut {
				return clienttest.Reset()
			}
			return nil
		})
		if seat, err := sell(t.Context(), shows, key, "ann"); seat != "" || err == nil || !strings.HasPrefix(err.Error(), "sell seat 1a by ann: check whether it is sold: ") {
			t.Errorf("sold %q, and the error is %v", seat, err)
		}
		server.Intercept(nil)
		if seat, err := sell(t.Context(), shows, key, "ben"); seat != "1a" || err != nil {
			t.Errorf("sold %q, and the error is %v", seat, err)
		}
		if _, err := sell(t.Context(), shows, key, "ben"); !errors.Is(err, errSoldOut) {
			t.Errorf("the error is %v", err)
		}
		if _, err := sell(t.Context(), shows, meta.Key{Namespace: "default", Name: "none"}, "ben"); !errors.Is(err, apierrors.NotFound) {
			t.Errorf("the error is %v", err)
		}
	})
}
