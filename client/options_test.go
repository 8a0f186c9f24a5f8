package client_test

import (
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
)

// behaviour 15, and the like: pairs that cannot be meant are refused before anything is sent.
func TestOptionsThatCannotBeMeantAreRefused(t *testing.T) {
	srv := says(listOf("1", ""))
	r := client.For(connect(t, srv), slims)
	list := func(o client.ListOptions) error { return drop(r.List(t.Context(), o)) }
	iterate := func(o client.ListOptions) error { _, _, err := collect(t.Context(), r, o); return err }
	watches := func(o client.WatchOptions) error { return watch(t.Context(), r, o) }
	remove := func(o client.DeleteOptions) error { return r.Delete(t.Context(), web, o) }
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{
			"a match without a version", list(client.ListOptions{ResourceVersionMatch: client.Exact}),
			"list configmaps: client.ListOptions: ResourceVersionMatch needs a ResourceVersion",
		},
		{
			"the same for All", iterate(client.ListOptions{ResourceVersionMatch: client.NotOlderThan}),
			"ResourceVersionMatch needs a ResourceVersion",
		},
		{
			"exactly any version", list(client.ListOptions{ResourceVersion: "0", ResourceVersionMatch: client.Exact}),
			`Exact needs a ResourceVersion other than "0"`,
		},
		{
			"another match", list(client.ListOptions{ResourceVersion: "1", ResourceVersionMatch: "Newest"}),
			`must be NotOlderThan or Exact, got "Newest"`,
		},
		{
			"a watch of half a second", watches(client.WatchOptions{Timeout: 500 * time.Millisecond}),
			"watch configmaps: client.WatchOptions: Timeout must be a whole, not negative number of seconds, got 500ms",
		},
		{"a watch that has ended before", watches(client.WatchOptions{Timeout: -time.Second}), "Timeout must be"},
		{
			"another propagation", remove(client.DeleteOptions{Propagation: "Sideways"}),
			`delete configmaps "web/a": client.DeleteOptions: Propagation must be Background, Foreground, Orphan or empty, got "Sideways"`,
		},
		{
			"half a second of grace", remove(client.DeleteOptions{GracePeriod: 500 * time.Millisecond}),
			"GracePeriod must be whole seconds or Immediately, got 500ms",
		},
		{"negative grace", remove(client.DeleteOptions{GracePeriod: -time.Second}), "GracePeriod must be"},
		{
			"another validation", drop(r.With(client.WriteOptions{FieldValidation: "Some"}).Get(t.Context(), web)),
			`client.WriteOptions: FieldValidation must be Ignore, Warn, Strict or empty, got "Some"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantErr(t, test.err, test.want)
			is[*client.OpError](t, test.err)
		})
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
}

func TestWithReplacesTheOptionsOfACopy(t *testing.T) {
	srv := says(object("a", "1"))
	r := client.For(connect(t, srv), slims)
	first := r.With(client.WriteOptions{FieldManager: "one", FieldValidation: client.ValidateIgnore})
	second := first.With(client.WriteOptions{FieldValidation: client.ValidateWarn})
	for _, h := range []client.Resource[*Slim]{r, first, second} {
		must[*Slim](t)(h.Update(t.Context(), &Slim{Identity: at(web)}))
	}
	var got []string
	for _, c := range srv.all() {
		got = append(got, c.uri[len("/api/v1/namespaces/web/configmaps/a"):])
	}
	want := []string{"", "?fieldManager=one&fieldValidation=Ignore", "?fieldValidation=Warn"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("handle %d sent %q, want %q", i, got[i], want[i])
		}
	}
}
