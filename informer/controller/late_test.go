package controller

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/follow"
	"github.com/bowline-go/bowline/internal/fresh"
	"github.com/bowline-go/bowline/internal/store"
)

// named is a cache with a name.
type named struct{}

func (named) String() string                                   { return "informer" }
func (named) Run(context.Context) error                        { return nil }
func (named) WaitSynced(context.Context) error                 { return nil }
func (named) AfterWrite(follow.Write, func(bool)) *store.Sight { return nil }

func TestTheErrorOfALateReconcileNamesAFewWrites(t *testing.T) {
	late := slices.Repeat([]fresh.Late{{Cache: named{}, Write: follow.Write{
		Resource: meta.GVR{Version: "v1", Resource: "configmaps"}, Key: meta.Key{Namespace: "default", Name: "a"}, ResourceVersion: "7",
	}}}, 5)
	late[1].Write.ResourceVersion = ""
	err := staleError(fresh.Admission{After: time.Second, Late: late})
	want := `caches are behind after 1s: informer has not seen version 7 of configmaps "default/a", informer has not seen the deletion of ` +
		`configmaps "default/a", informer has not seen version 7 of configmaps "default/a", and 2 more`
	if err.Error() != want {
		t.Errorf("the error is\n%v\nwant\n%s", err, want)
	}
}
