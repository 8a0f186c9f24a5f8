package client

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// contents of an object do not come into an error by way of a panic.
type contents string

// A panic says where it was, and not with what.
func TestPanicErrors(t *testing.T) {
	var none *struct{ n int }
	for _, test := range []struct {
		name string
		do   func()
		want string
	}{
		{"a value", func() { panic(contents("s3cret")) }, "decoding panicked at github.com/bowline-go/bowline/client.TestPanicErrors.func"},
		{"a value's type", func() { panic(contents("s3cret")) }, "with a value of type client.contents"},
		{"an error of the runtime", func() { none.n = 1 }, "with runtime error: invalid memory address or nil pointer dereference"},
		{"its place", func() { none.n = 1 }, "(decode_inside_test.go:"},
		{"nil", func() { panic(any(nil)) }, "panic called with nil argument"},
	} {
		t.Run(test.name, func(t *testing.T) {
			obj, err := 7, error(nil)
			decodeInto(&obj, &err, jsonstream.Item{Identity: meta.Identity{Name: "a"}}, func(jsonstream.Item) (int, error) {
				test.do()
				return 8, nil
			})
			bad := (*DecodeError)(nil)
			if !errors.As(err, &bad) || bad.Identity.Name != "a" || obj != 0 {
				t.Fatalf("got %d and %v", obj, err)
			}
			if text := err.Error(); !strings.Contains(text, test.want) || strings.Contains(text, "s3cret") {
				t.Errorf("the text is %q, want %q in it", text, test.want)
			}
		})
	}
}

// runtime.Goexit cannot be stopped, and the object still gets an error.
func TestDecodeLeftByGoexit(t *testing.T) {
	obj, err := 7, error(nil)
	var gone sync.WaitGroup
	gone.Go(func() {
		decodeInto(&obj, &err, jsonstream.Item{Identity: meta.Identity{Name: "a"}}, func(jsonstream.Item) (int, error) {
			runtime.Goexit()
			return 8, nil
		})
	})
	gone.Wait()
	bad := (*DecodeError)(nil)
	if !errors.As(err, &bad) || bad.Identity.Name != "a" || obj != 0 || !strings.Contains(err.Error(), "decoding left by runtime.Goexit") {
		t.Fatalf("got %d and %v", obj, err)
	}
}
