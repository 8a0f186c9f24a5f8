package cache_test

import (
	"testing"

	"github.com/bowline-go/bowline/cache"
)

func TestMutationError(t *testing.T) {
	err := &cache.MutationError{Key: key("ns/a"), ResourceVersion: "1", Field: `metadata.labels["a"]`}
	want := `check "ns/a" at version 1: the cached object was changed at metadata.labels["a"]; ` +
		`clone an object before changing it`
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}
