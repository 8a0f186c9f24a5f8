package inside

import (
	"testing"

	"github.com/bowline-go/bowline/internal/undertest"
)

type carrier struct{ t *undertest.Test }

func (c carrier) Inside() Source { return Source{Test: c.t, StreamingLists: new(Feature)} }

func TestASourceNeedNotCarryAnything(t *testing.T) {
	test := undertest.New(t.Errorf)
	if got := Of(carrier{test}); got.Test != test {
		t.Errorf("got %+v", got)
	}
	for _, src := range []any{nil, "nothing"} {
		got, again := Of(src), Of(src)
		if got.Test != nil || got.Reads != nil || got.StreamingLists == nil || got.StreamingLists == again.StreamingLists {
			t.Errorf("%v: got %+v", src, got)
		}
	}
}
