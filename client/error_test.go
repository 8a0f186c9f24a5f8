package client_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// behaviour 336
func TestErrorTextsNameTheCallAndTheCause(t *testing.T) {
	core := meta.GVR{Version: "v1", Resource: "pods"}
	apps := meta.GVR{Group: "apps", Version: "v1", Resource: "deployments"}
	id := meta.Identity{Namespace: "web", Name: "a", UID: "u", ResourceVersion: "7"}
	for _, test := range []struct {
		err  error
		want string
	}{
		{&client.OpError{Verb: "get", Resource: core, Key: web, Err: io.EOF}, `get pods "web/a": EOF`},
		{&client.OpError{Verb: "get", Resource: core, Key: meta.Key{Name: "n"}, Err: io.EOF}, `get pods "n": EOF`},
		{
			&client.OpError{Verb: "list", Resource: core, Key: meta.Key{Namespace: "web"}, Err: io.EOF},
			`list pods in "web": EOF`,
		},
		{&client.OpError{Verb: "watch", Resource: apps, Err: io.EOF}, `watch deployments.apps: EOF`},
		{
			&client.OpError{Verb: "update", Resource: apps, Subresource: "status", Key: web, Err: io.EOF},
			`update deployments.apps/status "web/a": EOF`,
		},
		{
			&client.OpError{Verb: "get", Resource: core, Key: meta.Key{Namespace: "a\nb", Name: "c"}, Err: io.EOF},
			`get pods "a\nb/c": EOF`,
		},

		{&client.DecodeError{Identity: id, Err: io.EOF}, `decode "web/a" (resource version "7"): EOF`},
		{
			&client.AnswerError{Reason: client.WrongKind, Got: "v1 Pod", Want: "v1 Node"},
			`server sent v1 Pod, want v1 Node`,
		},
		{&client.AnswerError{Reason: client.WrongKind, Want: "v1 Node"}, `server sent an object without a kind, want v1 Node`},
		{&client.EventError{Err: io.EOF}, `server sent an unusable event: EOF`},
		{&client.OpError{Verb: "list", Resource: core, Page: 3, Err: io.EOF}, `list pods: page 3: EOF`},
		{
			&client.OpError{Verb: "get", Resource: core, Before: []error{io.ErrUnexpectedEOF, io.ErrShortWrite}, Err: io.EOF},
			`get pods: EOF (attempt 3; attempt 1: unexpected EOF; attempt 2: short write)`,
		},
	} {
		if got := test.err.Error(); got != test.want {
			t.Errorf("%T says  %s\n  want %s", test.err, got, test.want)
		}
		if u := errors.Unwrap(test.err); u != nil && u != io.EOF {
			t.Errorf("%T wraps %v", test.err, u)
		}
	}
}

// behaviour 338
func TestReasonsAreFoundThroughWrapping(t *testing.T) {
	err := error(&client.OpError{Verb: "get", Err: apierrors.FromStatus(meta.Status{Reason: "NotFound", Code: 404})})
	for _, e := range []error{err, fmt.Errorf("reconcile: %w", err), errors.Join(io.EOF, err)} {
		if !errors.Is(e, apierrors.NotFound) {
			t.Errorf("it is not in %v", e)
		}
	}
}
