package gotype_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/gotype"
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

// A struct whose metadata was not tagged compiled, and each of its objects had no name.
func TestMetadataThatIsNotReadIsAnError(t *testing.T) {
	for _, test := range []struct {
		of   reflect.Type
		want string
	}{
		{reflect.TypeFor[*untagged](), "field ObjectMeta of gotype_test.untagged must have the tag `json:\"metadata\"`, or no object has a name; it has no json tag"},
		{reflect.TypeFor[*wronglyTagged](), "field Identity of gotype_test.wronglyTagged must have the tag `json:\"metadata\"`, or no object has a name; its json tag says \"meta\""},
		{reflect.TypeFor[*besideUnexported](), "field Identity of gotype_test.besideUnexported must have the tag"},
		{reflect.TypeFor[*misspelt](), "its json tag says \"Metadata\""},
		{reflect.TypeFor[*ownUntagged](), "field ownMeta of gotype_test.ownUntagged"},
		{reflect.TypeFor[*onlyOptions](), "it has no json tag"},
	} {
		if err := gotype.Misplaced(test.of); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v; want %q in the error", test.of, err, test.want)
		}
	}
	for _, of := range []reflect.Type{
		reflect.TypeFor[*tagged](), reflect.TypeFor[*taggedInside](), reflect.TypeFor[*ownTagged](), reflect.TypeFor[*leftOut](), reflect.TypeFor[*decodesItself](), reflect.TypeFor[*kept](), reflect.TypeFor[*inItself](), reflect.TypeFor[*meta.Unstructured](), reflect.TypeFor[*meta.Raw](),
	} {
		if err := gotype.Misplaced(of); err != nil {
			t.Errorf("a type as it should be is refused: %v", err)
		}
	}
}
