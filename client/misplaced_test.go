package client_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

type (
	untagged struct {
		meta.ObjectMeta
		Spec struct{} `json:"spec"`
	}
	wronglyTagged struct {
		*meta.Identity `json:"meta,omitempty"`
	}
	besideUnexported struct {
		meta.Identity
		metadata string // encoding/json does not see it
	}
	misspelt struct {
		meta.ObjectMeta `json:"Metadata"`
	}
	ownMeta struct {
		meta.Identity
		meta.DeletionMeta
	}
	ownUntagged struct{ ownMeta }
	onlyOptions struct {
		meta.ObjectMeta `json:",omitzero"`
	}

	tagged struct {
		meta.ObjectMeta `json:"metadata,omitempty"`
		Name            string `json:"name"`
	}
	taggedInside struct{ tagged }
	ownTagged    struct {
		ownMeta `json:"metadata"`
	}
	leftOut struct {
		meta.Identity `json:"-"`
	}
	decodesItself struct{ meta.Identity }
	Around        struct{ *Around }
	inItself      struct {
		meta.Identity `json:"metadata"`
		*Around
	}
	kept struct {
		decodesItself
		Metadata map[string]any `json:"metadata"`
	}
)

var _ = besideUnexported{}.metadata

func (*decodesItself) UnmarshalJSON([]byte) error { return nil }

// misplaced returns the error of a handle on objects of type T.
func misplaced[T meta.Object](ctx context.Context, c *client.Client) error {
	_, err := client.For(c, client.Type[T]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}).List(ctx, client.ListOptions{})
	return err
}

// A struct whose metadata was not tagged compiled, and each of its objects had no name.
func TestMetadataThatIsNotReadIsAnError(t *testing.T) {
	s := &script{answers: []answer{{code: 404}}}
	c := dial(t, serve(t, s))
	for _, test := range []struct {
		err  error
		want string
	}{
		{misplaced[*untagged](t.Context(), c), "field ObjectMeta of client_test.untagged must have the tag `json:\"metadata\"`, or no object has a name; it has no json tag"},
		{misplaced[*wronglyTagged](t.Context(), c), "field Identity of client_test.wronglyTagged must have the tag `json:\"metadata\"`, or no object has a name; its json tag says \"meta\""},
		{misplaced[*besideUnexported](t.Context(), c), "field Identity of client_test.besideUnexported must have the tag"},
		{misplaced[*misspelt](t.Context(), c), "its json tag says \"Metadata\""},
		{misplaced[*ownUntagged](t.Context(), c), "field ownMeta of client_test.ownUntagged"},
		{misplaced[*onlyOptions](t.Context(), c), "it has no json tag"},
	} {
		wantErr(t, test.err, test.want)
		if e := is[*client.UsageError](t, test.err); e == nil {
			t.Errorf("error is a %T", test.err)
		}
	}
	if calls := s.all(); len(calls) > 0 {
		t.Errorf("the server got %v", calls)
	}
	for _, err := range []error{
		misplaced[*tagged](t.Context(), c), misplaced[*taggedInside](t.Context(), c), misplaced[*ownTagged](t.Context(), c), misplaced[*leftOut](t.Context(), c), misplaced[*decodesItself](t.Context(), c),
		misplaced[*kept](t.Context(), c), misplaced[*inItself](t.Context(), c),
		misplaced[*meta.Unstructured](t.Context(), c), misplaced[*meta.Raw](t.Context(), c),
	} {
		if usage := (*client.UsageError)(nil); errors.As(err, &usage) {
			t.Errorf("a type as it should be is refused: %v", err)
		}
	}
}
