package cache_test

import (
	"testing"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
)

func TestMutationError(t *testing.T) {
	err := &cache.MutationError{Key: key("ns/a"), ResourceVersion: "1", Field: `metadata.labels["a"]`}
	want := `check "ns/a" at version 1: the cached object was changed at metadata.labels["a"]; ` +
		`clone an object before changing it`
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}

	err.Others = []meta.Key{key("ns/b"), key("ns/c")}
	want = `check "ns/a" at version 1: the cached object was changed at metadata.labels["a"], ` +
		`in a part that it shares with "ns/b", "ns/c"; clone an object before changing it`
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	err.Others = append(err.Others, key("ns/d"), key("ns/e"), key("ns/f"))
	want = `check "ns/a" at version 1: the cached object was changed at metadata.labels["a"], ` +
		`in a part that it shares with "ns/b", "ns/c", "ns/d" and 2 more; clone an object before changing it`
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}
