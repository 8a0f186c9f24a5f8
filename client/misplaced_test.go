package client_test

import (
	"context"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

type untagged struct {
	meta.ObjectMeta
	Spec struct{} `json:"spec"`
}

// misplaced returns the error of a handle on objects of type T.
func misplaced[T meta.Object](ctx context.Context, c *client.Client) error {
	_, err := client.For(c, client.Type[T]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}).List(ctx, client.ListOptions{})
	return err
}

// A struct whose metadata was not tagged compiled, and each of its objects had no name.
func TestMetadataThatIsNotReadIsAnError(t *testing.T) {
	s := &script{answers: []answer{{code: 404}}}
	err := misplaced[*untagged](t.Context(), dial(t, serve(t, s)))
	wantErr(t, err, "field ObjectMeta of client_test.untagged must have the tag `json:\"metadata\"`, or no object has a name; it has no json tag")
	is[*client.UsageError](t, err)
	if calls := s.all(); len(calls) > 0 {
		t.Errorf("the server got %v", calls)
	}
}
