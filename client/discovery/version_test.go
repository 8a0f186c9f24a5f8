package discovery_test

import (
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/discovery"
)

func TestVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{})
		v := must[discovery.ServerVersion](t)(r.catalog.Version(t.Context()))
		if v.String() != "v1.36.3" || !v.AtLeast(1, 36) || v.AtLeast(1, 37) || v.AtLeast(2, 0) || !v.AtLeast(0, 99) {
			t.Errorf("got %+v", v)
		}
		must[discovery.ServerVersion](t)(r.catalog.Version(t.Context()))
		r.wantRequests(t, "/version")
	})
	if v := (discovery.ServerVersion{Major: "1", Minor: "27+"}); !v.AtLeast(1, 27) || v.AtLeast(1, 28) {
		t.Error("a plus sign after the minor version is not understood")
	}
	if (discovery.ServerVersion{}).AtLeast(0, 0) || (discovery.ServerVersion{Major: "1", Minor: "x"}).AtLeast(0, 0) {
		t.Error("a version without numbers is not at least anything")
	}
}
