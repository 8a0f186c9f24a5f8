package discovery_test

import (
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/discovery"
)

// What is JSON and says no version was taken for one that is empty.
func TestAVersionWithoutGitVersionIsAnError(t *testing.T) {
	for _, body := range []string{"null", "{}", `{"kind":"Status","code":200}`} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, discovery.Options{})
			r.answer("/version", "application/json", body)
			if v, err := r.catalog.Version(t.Context()); err == nil || err.Error() != `read /version: it has no "gitVersion"` {
				t.Errorf("%s is %+v, %v", body, v, err)
			}
		})
	}
}

func TestVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{})
		v := must[discovery.ServerVersion](t)(r.catalog.Version(t.Context()))
		if v.GitVersion != "v1.37.1" || !v.AtLeast(1, 37) || v.AtLeast(1, 38) || v.AtLeast(2, 0) || !v.AtLeast(0, 99) {
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
