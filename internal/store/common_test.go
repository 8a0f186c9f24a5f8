package store_test

import (
	"testing"

	"github.com/bowline-go/bowline/internal/store/storetest"
)

type (
	thing    = storetest.Thing
	record   = storetest.Record
	things   = storetest.Cache[*thing]
	labelled = storetest.Labelled
)

var (
	id           = storetest.ID
	key          = storetest.Key
	object       = storetest.Object
	set          = storetest.Set
	remove       = storetest.Remove
	relist       = storetest.Relist
	states       = storetest.States
	deliver      = storetest.Deliver
	drain        = storetest.Drain
	bubble       = storetest.Bubble
	pass         = storetest.Pass
	putLabelled  = storetest.PutLabelled
	filled       = storetest.Filled
	newSlow      = storetest.NewSlow
	isClosed     = storetest.IsClosed
	contents     = storetest.Contents
	contentsOf   = storetest.ContentsOf
	firstTag     = storetest.FirstTag
	identities   = storetest.Identities
	manyVersions = storetest.ManyVersions
	sorted       = storetest.Sorted
	only         = storetest.Only
	pending      = storetest.Pending
)

func expect[E comparable](t *testing.T, what string, got []E, want ...E) {
	t.Helper()
	storetest.Expect(t, what, got, want...)
}
