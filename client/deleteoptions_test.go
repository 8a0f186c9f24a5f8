package client_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
)

// behaviour 10
func TestInvalidDeletionsAreRefused(t *testing.T) {
	srv := says(object("a", "1"))
	r := client.For(connect(t, srv), slims)
	everything := client.Selection{Namespace: "web", Everything: true}
	remove := func(o client.DeleteOptions) error { return r.Delete(t.Context(), web, o) }
	removeAll := func(s client.Selection, o client.DeleteOptions) error { return r.DeleteCollection(t.Context(), s, o) }
	const (
		one       = `delete configmaps "web/a": client.DeleteOptions: `
		all       = `deletecollection configmaps in "web": client.DeleteOptions: `
		selection = `deletecollection configmaps in "web": client.Selection: `
	)
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{
			"another propagation", remove(client.DeleteOptions{Propagation: "Sideways"}),
			one + `Propagation must be Background, Foreground, Orphan or empty, got "Sideways"`,
		},
		{
			"half a second of grace", remove(client.DeleteOptions{GracePeriod: 500 * time.Millisecond}),
			one + "GracePeriod must be whole seconds or NoGracePeriod, got 500ms",
		},
		{
			"negative grace", remove(client.DeleteOptions{GracePeriod: -time.Second}),
			one + "GracePeriod must be whole seconds or NoGracePeriod, got -1s",
		},
		{
			"a collection with a uid", removeAll(everything, client.DeleteOptions{UID: "u"}),
			all + "UID and ResourceVersion must be empty for DeleteCollection",
		},
		{
			"a collection by nothing", removeAll(client.Selection{Namespace: "web"}, client.DeleteOptions{}),
			selection + "LabelSelector or FieldSelector must be set, or Everything for all of the collection",
		},
		{
			"everything, and yet a selector",
			removeAll(client.Selection{Namespace: "web", FieldSelector: "a=b", Everything: true}, client.DeleteOptions{}),
			selection + "Everything must not be set beside a selector",
		},
		{
			"all namespaces", removeAll(client.Selection{Everything: true}, client.DeleteOptions{}),
			"deletecollection configmaps: namespace must not be empty for a namespaced resource",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.err == nil || test.err.Error() != test.want {
				t.Errorf("error is %v\n         want %s", test.err, test.want)
			}
			is[*client.OpError](t, test.err)
			is[*client.UsageError](t, test.err)
		})
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
}

// behaviour 28: a deletion, and what is like it, needs no body in its answer.
func TestADeletionIsAcceptedWithoutABody(t *testing.T) {
	for _, code := range []int{http.StatusOK, http.StatusAccepted, http.StatusNoContent} {
		r := client.For(connect(t, answers(answer{code: code})), slims)
		pods := client.For(connect(t, answers(answer{code: code})), pods)
		for verb, err := range map[string]error{
			"delete":           r.Delete(t.Context(), web, client.DeleteOptions{}),
			"deletecollection": r.DeleteCollection(t.Context(), client.Selection{Namespace: "web", Everything: true}, client.DeleteOptions{}),
			"evict":            client.Evict(t.Context(), pods, web, client.DeleteOptions{}),
			"bind":             client.Bind(t.Context(), pods, web, "n1"),
		} {
			if err != nil {
				t.Errorf("%s answered with %d: %v", verb, code, err)
			}
		}
	}
}
