package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// event is a record.
type event struct {
	meta.ObjectMeta `json:"metadata"`
	Reason          string `json:"reason"`
	Regarding       struct {
		Kind string `json:"kind"`
	} `json:"regarding"`
}

var events = client.Type[*event]{Group: "events.k8s.io", Version: "v1", Kind: "Event", Resource: "events"}

func TestTheOperatorKeepsAConfigMapForEachPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{CRDs: []string{"pages.yaml"}})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		pages, configMaps := client.For(c, Pages), client.For(c, ConfigMaps)
		key := meta.Key{Namespace: "default", Name: "home"}
		var fails atomic.Bool // the cleanup
		cleaned := make(chan string, 100)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- run(ctx, server.Config(), "default", false, nil, nil, func(p *Page) error {
				cleaned <- p.Spec.Text
				if fails.Load() {
					return errors.New("not yet")
				}
				return nil
			})
		}()
		check := func(text string) {
			t.Helper()
			synctest.Wait() // the operator has nothing left to do
			page, err := pages.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			if ready := meta.FindCondition(page.Status.Conditions, "Ready"); ready == nil || ready.Status != meta.ConditionTrue || ready.ObservedGeneration != page.Generation {
				t.Errorf("with %q the condition is %+v, and the generation %d", text, ready, page.Generation)
			}
			made, err := configMaps.Get(t.Context(), key)
			if err != nil || made.Data["text"] != text || len(made.OwnerReferences) != 1 || made.OwnerReferences[0].UID != page.UID {
				t.Errorf("the ConfigMap is %+v, %v, want %q", made, err, text)
			}
		}

		page := &Page{ObjectMeta: key.ObjectMeta()}
		page.Spec.Text = "hello"
		if _, err := pages.Create(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		check("hello")
		if _, err := pages.Modify(t.Context(), key, func(p *Page) error {
			p.Spec.Text = "good morning"
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		check("good morning")
		noted, err := client.For(c, events).List(t.Context(), client.ListOptions{Namespace: "default"})
		if err != nil || len(noted.Items) != 2 || noted.Items[1].Reason != "Published" || noted.Items[1].Regarding.Kind != "Page" {
			t.Errorf("the records are %+v, %v", noted.Items, err)
		}
		if err := configMaps.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		check("good morning")

		// A cleanup that fails keeps the page.
		fails.Store(true)
		if err := pages.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got, err := pages.Get(t.Context(), key); err != nil || !meta.IsDeleting(got) {
			t.Errorf("the page is %+v, %v", got, err)
		}
		fails.Store(false)
		time.Sleep(time.Minute) // for the retry
		synctest.Wait()
		if _, err := pages.Get(t.Context(), key); !errors.Is(err, apierrors.NotFound) {
			t.Errorf("the page is there: %v", err)
		}
		if n := len(cleaned); n < 2 || <-cleaned != "good morning" {
			t.Errorf("cleaned up %d times", n)
		}
		before := server.Requests()
		time.Sleep(time.Hour)
		synctest.Wait()
		for call, n := range server.Requests() {
			if call.Verb != "watch" && call.Resource != "leases" && n != before[call] {
				t.Errorf("%d further requests to %s %s while nothing happened", n-before[call], call.Verb, call.Resource)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
