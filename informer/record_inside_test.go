package informer

import (
	"errors"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// After a list of added ranges, events that are older than the list still come. Among them are those that a filter has turned into
// deletions, while the list has found that a later state of the object does not decode.
func TestOnlyALaterDeletionClearsAnUndecodableObject(t *testing.T) {
	bad := meta.Identity{Namespace: "default", Name: "a", UID: "1", ResourceVersion: "19"}
	for _, test := range []struct {
		name, uid, version string
		gone               bool
	}{
		{"deleted later", "1", "20", true},
		{"left out by a filter, before it became undecodable", "1", "12", false},
		{"an event without a uid, later", "", "20", true},
		{"an event without a uid, before", "", "12", false},
		{"another object of the name", "2", "20", false},
		{"a version without an order", "1", "x", true},
	} {
		r := new(record)
		r.undecodable(bad, errors.New("not a number"))
		gone := bad
		gone.UID, gone.ResourceVersion = test.uid, test.version
		r.gone(gone)
		if _, found := r.badAt(bad.Key()); found == test.gone {
			t.Errorf("%s: the object is still listed as undecodable: %t", test.name, found)
		}
	}
}
