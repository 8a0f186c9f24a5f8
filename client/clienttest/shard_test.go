package clienttest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// The suite of conformance has what a real server does. A server may also claim to apply a selector, and be told to change.
func TestShardedLists(t *testing.T) {
	server := clienttest.Start(t, clienttest.Options{ShardedLists: clienttest.ShardsClaimed})
	c, err := client.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	partials := client.For(c, client.Type[*meta.Partial]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	var all, within []string
	half := meta.Ranges{}
	for n := range meta.RangeCount / 2 {
		half = half.With(n)
	}
	for n := range 20 {
		made, err := partials.Create(t.Context(), &meta.Partial{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("a-%02d", n)}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, made.Name)
		if half.Has(meta.ShardByUID.Range(meta.Identity{UID: made.UID})) {
			within = append(within, made.Name)
		}
	}
	if len(within) == 0 || len(within) == len(all) {
		t.Fatalf("a half has %d of %d objects", len(within), len(all))
	}
	selector := meta.ShardByUID.Selector(half)
	for _, test := range []struct {
		mode  clienttest.ShardedLists
		want  []string
		says  string
		wrong string // the error about a selector that is none
	}{
		{clienttest.ShardsClaimed, all, selector, "invalid shard selector"},
		{clienttest.ShardsServed, within, selector, "invalid shard selector"},
		{clienttest.ShardsIgnored, all, "", ""},
		{clienttest.ShardsClaimed, all, selector, "invalid shard selector"},
	} {
		server.SetShardedLists(test.mode)
		for _, size := range []int{0, 3} {
			list, err := partials.List(t.Context(), client.ListOptions{Namespace: "default", ShardSelector: selector, PageSize: size})
			var got []string
			for _, o := range list.Items {
				got = append(got, o.Name)
			}
			if err != nil || !slices.Equal(got, test.want) || list.ShardInfo.Selector != test.says {
				t.Errorf("mode %d: the list is of %q, and has %v, %v; want %v", test.mode, list.ShardInfo.Selector, got, err, test.want)
			}
		}
		var got []string
		for e, err := range partials.Watch(t.Context(), client.WatchOptions{Namespace: "default", ShardSelector: selector, InitialEvents: true, Timeout: time.Minute}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.InitialEventsEnd {
				break
			}
			got = append(got, e.Identity.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("mode %d: the watch brings %v, want %v", test.mode, got, test.want)
		}
		_, err := partials.List(t.Context(), client.ListOptions{Namespace: "default", ShardSelector: "x"})
		if (err != nil) != (test.wrong != "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("mode %d: a selector that is none gives %v", test.mode, err)
		}
	}
	err = clienttest.New(clienttest.Options{ShardedLists: 3}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "ShardedLists must be ShardsIgnored, ShardsServed or ShardsClaimed, got 3") {
		t.Errorf("a mode that is none gives %v", err)
	}
}
