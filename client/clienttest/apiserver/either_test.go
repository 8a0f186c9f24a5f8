package apiserver_test

import (
	"context"
	"errors"
	"flag"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/apiserver"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

var minor = flag.String("apiserver", "", "minor release of Kubernetes to test with; empty means clienttest")

// start starts the server that the flag names. GUIDE.md shows it.
func start(t *testing.T) client.Config {
	crds := []string{"testdata/pages.yaml"}
	if *minor == "" {
		return clienttest.Start(t, clienttest.Options{CRDs: crds}).Config()
	}
	return apiserver.Start(t, apiserver.Options{Minor: *minor, CRDs: crds}).Config()
}

// page is a text that a program publishes.
type page struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Text   string `json:"text,omitempty"`
		Copies int64  `json:"copies,omitempty"`
	} `json:"spec"`
	Status struct {
		Published string `json:"published,omitempty"`
	} `json:"status"`
}

type configMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

const held = "example.com/published"

// publish runs a program that keeps a ConfigMap for each page, until ctx ends. A finalizer holds a deleted page until its
// ConfigMap is gone.
func publish(ctx context.Context, pages client.Resource[*page], maps client.Resource[*configMap]) error {
	seen := informer.New(pages, informer.Options{})
	reconcile := func(ctx context.Context, key meta.Key) (controller.Result, error) {
		p, ok := seen.Reader().Get(key)
		switch {
		case !ok:
			return controller.Result{}, nil
		case p.DeletionTimestamp != nil:
			if err := maps.Delete(ctx, key, client.DeleteOptions{}); err != nil && !errors.Is(err, apierrors.NotFound) {
				return controller.Result{}, err
			}
			_, err := pages.Modify(ctx, key, func(p *page) error {
				p.Finalizers = nil
				return nil
			})
			if errors.Is(err, apierrors.NotFound) {
				err = nil
			}
			return controller.Result{}, err
		}
		text := p.Spec.Text
		wanted := map[string]any{"data": map[string]string{"text": text}}
		if _, err := maps.Apply(ctx, key, wanted, client.ApplyOptions{}); err != nil {
			return controller.Result{}, err
		}
		_, err := pages.Status().Modify(ctx, key, func(p *page) error {
			p.Status.Published = text
			return nil
		})
		return controller.Result{}, err
	}
	return informer.Run(ctx, seen, controller.New("publisher", controller.Options{}, reconcile, controller.Watch(seen)))
}

// The same file runs on both servers: go test -run EitherServer . -apiserver 1.36
func TestPagesArePublishedOnEitherServer(t *testing.T) {
	c, err := client.New(start(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pages := client.For(c, client.Type[*page]{Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages"})
	maps := client.For(c, client.Type[*configMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}).With(client.WriteOptions{FieldManager: "publisher"})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- publish(ctx, pages, maps) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	wrong := &page{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "wrong"}}
	wrong.Spec.Copies = 10
	const refusal = `Page.example.com "wrong" is invalid: spec.copies: Invalid value: 10: spec.copies in body should be less than or equal to 9`
	var refused *apierrors.StatusError
	if _, err := pages.Create(t.Context(), wrong); !errors.As(err, &refused) || refused.Status.Message != refusal {
		t.Errorf("ten copies: %v, want %s", err, refusal)
	}
	home := &page{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "home", Finalizers: []string{held}}}
	made, err := pages.Create(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	if made.Spec.Text != "(empty)" || made.Generation != 1 {
		t.Errorf("the page is %+v, want the default text and generation 1", made)
	}
	text := func(want string) {
		t.Helper()
		cond := client.Until("published", func(p *page) (bool, error) { return p.Status.Published == want, nil })
		if _, err := client.WaitFor(t.Context(), pages, home.Key(), cond); err != nil {
			t.Fatal(err)
		}
		if m, err := maps.Get(t.Context(), home.Key()); err != nil || m.Data["text"] != want {
			t.Errorf("the ConfigMap is %+v, %v, want the text %q", m, err, want)
		}
	}
	text("(empty)")
	changed, err := pages.Modify(t.Context(), home.Key(), func(p *page) error {
		p.Spec.Text = "hello"
		return nil
	})
	if err != nil || changed.Generation != 2 { // of which the status is no part
		t.Errorf("the changed page is %+v, %v, want generation 2", changed, err)
	}
	text("hello")
	if err := pages.Delete(t.Context(), home.Key(), client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.WaitFor(t.Context(), pages, home.Key(), client.UntilDeleted(made.UID)); err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Get(t.Context(), home.Key()); !errors.Is(err, apierrors.NotFound) {
		t.Errorf("the ConfigMap of the deleted page: %v, want that it is gone", err)
	}
}
