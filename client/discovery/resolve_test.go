package discovery_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
)

func TestAReferenceToAnObjectOfAnyKindIsResolved(t *testing.T) {
	r := newRig(t, discovery.Options{}, widgets("v1"))
	from := meta.ObjectReference{APIVersion: "example.dev/v1", Kind: "Widget", Namespace: "default", Name: "from"}
	for _, test := range []struct {
		ref meta.ObjectReference
		gvr string
		key string
	}{
		{meta.ObjectReference{Kind: "Widget", Name: "w"}, "widgets.example.dev/v1", "default/w"}, // the version of from
		{meta.ObjectReference{Kind: "Widget", Name: "w", APIVersion: "example.dev/v1"}, "widgets.example.dev/v1", "default/w"},
		{meta.ObjectReference{Kind: "Widget", Name: "w", APIVersion: "example.dev/v3"}, "widgets.example.dev/v1", "default/w"}, // not served
		{meta.ObjectReference{Kind: "Node", Name: "n", APIVersion: "v1"}, "nodes.v1", "n"},
		{meta.ObjectReference{Kind: "Secret", Name: "s", Namespace: "other", APIVersion: "v1"}, "secrets.v1", "other/s"},
	} {
		one, key, err := r.catalog.Resolve(t.Context(), test.ref, from)
		if err != nil || one.GVR().String() != test.gvr || key.String() != test.key {
			t.Errorf("%+v: %v, %v, %v; want %s, %s", test.ref, one.GVR(), key, err, test.gvr, test.key)
		}
	}
	for want, ref := range map[string]meta.ObjectReference{
		"kind must not be empty": {Name: "a"},
		"name must not be empty": {Kind: "Widget"},
		"no Gadget":              {Kind: "Gadget", Name: "a"},
		"namespace must be":      {Kind: "Node", APIVersion: "v1", Namespace: "x", Name: "a"},
	} {
		_, _, err := r.catalog.Resolve(t.Context(), ref, from)
		if want == "no Gadget" {
			if !errors.As(err, new(*discovery.NoMatchError)) || !strings.Contains(err.Error(), "Gadget") {
				t.Errorf("%+v: %v", ref, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want an error with %s", ref, err, want)
		}
	}
	if _, _, err := r.catalog.Resolve(t.Context(), meta.ObjectReference{Kind: "A", Name: "a"}, meta.ObjectReference{}); err == nil || !strings.Contains(err.Error(), "apiVersion must not be empty") {
		t.Error(err)
	}
}
