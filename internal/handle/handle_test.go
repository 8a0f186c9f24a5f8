package handle

import "testing"

type carrier struct{}

func (carrier) Inside() Source { return Source{Server: "s", StreamingLists: new(Feature)} }

func TestASourceNeedNotCarryAnything(t *testing.T) {
	if got := Of(carrier{}); got.Server != "s" {
		t.Errorf("got %+v", got)
	}
	for _, src := range []any{nil, "nothing"} {
		got, again := Of(src), Of(src)
		if got.Server != "" || got.Reads != nil || got.StreamingLists == nil || got.StreamingLists == again.StreamingLists {
			t.Errorf("%v: got %+v", src, got)
		}
	}
}
