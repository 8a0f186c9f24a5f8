package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// The entries of managedFields that were not there before are those of the writers in between; of these, the latest wrote last.
func TestTheCompetingWriteIsTheLatestNewEntryOfManagedFields(t *testing.T) {
	// An entry is written as "manager operation subresource version second fields".
	state := func(entries ...string) jsonstream.Item {
		var fields []string
		for _, e := range entries {
			f := strings.Split(e, " ")
			fields = append(fields, `{"manager":"`+f[0]+`","operation":"`+f[1]+`","subresource":"`+f[2]+`","apiVersion":"`+f[3]+
				`","time":"2026-01-01T00:00:0`+f[4]+`Z","fieldsV1":{"`+f[5]+`":{}}}`)
		}
		return jsonstream.Item{
			Identity: meta.Identity{ResourceVersion: "7"},
			Raw:      []byte(`{"metadata":{"managedFields":[` + strings.Join(fields, ",") + `]}}`),
		}
	}
	before := state("a Update - v1 1 f:x")
	for _, test := range []struct {
		name    string
		after   jsonstream.Item
		manager string
	}{
		{"another manager, in the same second and of the same fields", state("b Update - v1 1 f:x", "a Update - v1 1 f:x"), "b"},
		{"by another operation", state("b Apply - v1 1 f:x", "a Update - v1 1 f:x"), "b"},
		{"through a subresource", state("a Update status v1 1 f:x", "a Update - v1 1 f:x"), "a"},
		{"in another version", state("a Update - v2 1 f:x", "a Update - v1 1 f:x"), "a"},
		{"other fields", state("a Update - v1 1 f:y"), "a"},
		{"later", state("a Update - v1 3 f:x", "b Update - v1 2 f:z"), "a"},
		{"the later of two", state("a Update - v1 1 f:x", "b Update - v1 3 f:z", "c Update - v1 2 f:w"), "b"},
		{"the same fields within a second: whoever wrote last of all", state("a Update - v1 1 f:x"), "a"},
		{"nobody is known", state(), ""},
	} {
		var got ModifyError
		if got.wroteBetween(before, test.after); got.LostTo.Manager != test.manager || got.version != "7" {
			t.Errorf("%s: %+v, want manager %q", test.name, got, test.manager)
		}
	}
	var got ModifyError
	if got.wroteBetween(before, state("a Update status v1 1 f:x", "a Update - v1 1 f:x")); got.LostTo.Subresource != "status" {
		t.Errorf("got %+v, want the write of the status", got)
	}
}

func TestTheTextOfTheWriteThatCameFirst(t *testing.T) {
	when := meta.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("east", 3600))}
	for want, e := range map[string]ModifyError{
		`gave up after attempt 1: EOF`: {},
		`gave up after attempt 1, lost against another write (resource version "7"): EOF`: {version: "7"},
		`lost against "kubelet" by Update of status at 2026-01-02T02:04:05Z (resource version "7"): `: {
			LostTo: meta.ManagedFields{Manager: "kubelet", Operation: "Update", Subresource: "status", Time: &when}, version: "7",
		},
		`"a" (resource version "")`: {LostTo: meta.ManagedFields{Manager: "a\x1bb"}}, // no control characters
	} {
		e.Attempts, e.Err = 1, io.EOF
		if got := e.Error(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Only an error that proves that nothing was written lets Modify say so.
func TestOnlyRefusalsProveThatNothingWasWritten(t *testing.T) {
	status := func(code int) error {
		return &apierrors.StatusError{Status: meta.Status{Code: code}}
	}
	for _, test := range []struct {
		err  error
		want bool
	}{
		{&UsageError{Err: errors.New("no")}, true},
		{&CredentialError{Err: errors.New("no")}, true},
		{&conn.SlowReadError{File: "a token"}, true},
		{syscall.ECONNREFUSED, true},
		{status(http.StatusBadRequest), true},
		{status(http.StatusConflict), true},
		{status(499), true},
		{status(http.StatusRequestTimeout), false},
		{status(399), false},
		{status(http.StatusInternalServerError), false},
		{status(http.StatusGatewayTimeout), false},
		{apierrors.FromStatus(meta.Status{Code: http.StatusInternalServerError, Message: "etcdserver: request is too large"}), true},
		{syscall.ECONNRESET, false},
		{errors.New("something else"), false},
	} {
		for _, err := range []error{test.err, fmt.Errorf("update: %w", test.err)} {
			if got := refused(err); got != test.want {
				t.Errorf("refused(%v) = %v", err, got)
			}
		}
	}
}
