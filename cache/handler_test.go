package cache_test

import (
	"testing"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
)

func TestPanicErrorNamesAKeyOfTheCluster(t *testing.T) {
	err := &cache.PanicError{Value: 1, Key: meta.Key{Name: "node"}, Op: "OnAdd"}
	if got, want := err.Error(), `deliver OnAdd of "node": handler panicked: 1`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
