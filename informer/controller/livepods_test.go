package controller_test

import (
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// livePods changes objects at the server, and waits until everybody has heard of it.
type livePods struct{ client.Resource[*pod] }

func (r *livePods) label(t *testing.T, name, label, value string) {
	t.Helper()
	if _, err := r.Modify(t.Context(), meta.Key{Namespace: "default", Name: name}, func(p *pod) error {
		p.Labels = map[string]string{label: value}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func (r *livePods) delete(t *testing.T, name string) {
	t.Helper()
	if err := r.Delete(t.Context(), meta.Key{Namespace: "default", Name: name}, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}
