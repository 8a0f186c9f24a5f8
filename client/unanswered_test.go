package client_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// An Ensure whose answer was lost said Unchanged of an object that it had created, or failed although it could have looked.
func TestEnsureSettlesAWriteWithoutAnAnswer(t *testing.T) {
	absent := outcome{answer: answer{code: 404, body: status(404, "NotFound", "no")}}
	exists := outcome{answer: answer{code: 409, body: status(409, "AlreadyExists", "no")}}
	conflict := outcome{answer: answer{code: 409, body: status(409, "Conflict", "no")}}
	without, with := outcome{answer: answer{body: object("a", "1")}}, outcome{answer: answer{body: object("a", "2", "k")}}
	lost, cut := outcome{err: reset}, outcome{answer: answer{body: object("a", "2", "k")[:40], cut: true}}
	other := outcome{answer: answer{body: strings.Replace(object("a", "9", "k"), "u-a", "u-b", 1)}}
	for _, test := range []struct {
		name    string
		list    []outcome
		outcome client.Outcome
		calls   string
	}{
		{"a creation that was made", []outcome{absent, lost, exists, with}, client.Created, "GET POST POST GET"},
		{"a creation that was not", []outcome{absent, lost, with}, client.Created, "GET POST POST"},
		{"a creation whose answer broke off", []outcome{absent, cut, exists, with}, client.Created, "GET POST POST GET"},
		{"a creation that the server was too busy to answer", []outcome{absent, busy(500, "1"), exists, with}, client.Created, "GET POST POST GET"},
		{"a creation that another was faster with", []outcome{absent, exists, with}, client.Unchanged, "GET POST GET"},
		{"a creation refused before it was looked at", []outcome{absent, busy(429, "1"), exists, with}, client.Unchanged, "GET POST POST GET"},
		{"a creation that was made, and changed since", []outcome{absent, lost, exists, without, with}, client.Updated, "GET POST POST GET PUT"},
		{"an update that was made", []outcome{without, lost, conflict, with}, client.Updated, "GET PUT PUT GET"},
		{"an update whose answer broke off", []outcome{without, cut, conflict, with}, client.Updated, "GET PUT PUT GET"},
		{"an update that another was faster with", []outcome{without, conflict, with}, client.Unchanged, "GET PUT GET"},
		{"an update of an object that another has taken the place of", []outcome{without, lost, conflict, other}, client.Unchanged, "GET PUT PUT GET"},
		{"an update of an object that has gone", []outcome{without, lost, absent, absent, with}, client.Created, "GET PUT PUT GET POST"},
		{"a quota that was written at the same time", []outcome{absent, conflict, absent, with}, client.Created, "GET POST GET POST"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, net := through(test.list...)
				got, outcome, err := client.For(dial(t, cfg), slims).Ensure(t.Context(), &Slim{Identity: at(web), Data: map[string]string{"k": "k"}}, client.EnsureOptions{})
				if err != nil || outcome.Outcome != test.outcome || got.Data["k"] != "k" {
					t.Errorf("got %+v, %v, %v, want %v", got, outcome, err, test.outcome)
				}
				if sent := net.methods(); sent != test.calls {
					t.Errorf("sent %s, want %s", sent, test.calls)
				}
			})
		})
	}
}

// The version that was asked for is gone once it has been written. That was a PreconditionError, of which nothing is written.
func TestAPreconditionAndAWriteWithoutAnAnswer(t *testing.T) {
	conflict := outcome{answer: answer{code: 409, body: status(409, "Conflict", "no")}}
	live, mine, theirs := outcome{answer: answer{body: object("a", "1")}}, outcome{answer: answer{body: object("a", "2", "k")}}, outcome{answer: answer{body: object("a", "3")}}
	replaced := outcome{answer: answer{body: strings.Replace(object("a", "9", "k"), "u-a", "u-b", 1)}}
	for _, test := range []struct {
		name string
		last outcome
		want string
	}{
		{"and was made", mine, ""},
		{"and was undone, or not made", theirs, `ensure configmaps "web/a": gave up after attempt 1, lost against another write (resource version "3"), which may have been written: metadata.resourceVersion must be "1", but the object has "3"`},
		{"and another object", replaced, `which may have been written: metadata.resourceVersion must be "1", but the object has "9"`},
		{"and nothing to see", outcome{answer: answer{code: 403, body: status(403, "Forbidden", "no")}}, `gave up after attempt 1, which may have been written: get configmaps "web/a": server said Forbidden (403)`},
		{"and a server that does not answer", outcome{err: refused}, `which may have been written: get configmaps "web/a": `},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, _ := through(live, outcome{err: reset}, conflict, test.last)
				want := &Slim{Identity: at(web), Data: map[string]string{"k": "k"}}
				want.ResourceVersion = "1"
				_, outcome, err := client.For(dial(t, cfg), slims).Ensure(t.Context(), want, client.EnsureOptions{})
				if test.want == "" {
					if err != nil || outcome.Outcome != client.Updated {
						t.Errorf("got %v, %v", outcome, err)
					}
					return
				}
				wantErr(t, err, test.want)
				if e := is[*client.ModifyError](t, err); !e.MayHaveWritten || outcome.Outcome != client.Unchanged {
					t.Errorf("got %v, %+v", outcome, *e)
				}
			})
		})
	}
}

// Each creation is some call's, and no call says that it created what another did, whatever is deleted meanwhile.
func TestEnsuresCountWhatTheyCreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		maps := client.For(dial(t, server.Config()), configMaps)
		key := meta.Key{Namespace: "default", Name: "a"}
		var all sync.WaitGroup
		var created, deleted atomic.Int64
		for i := range 64 {
			label := fmt.Sprint("l", i)
			all.Go(func() {
				for range 3 {
					got, outcome, err := maps.Ensure(t.Context(), &ConfigMap{
						ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{label: "x"}},
					}, client.EnsureOptions{})
					if err != nil || got.Labels[label] != "x" {
						t.Errorf("got %+v, %v", got, err)
					}
					if outcome.Outcome == client.Created {
						created.Add(1)
					}
				}
			})
		}
		for range 4 {
			all.Go(func() {
				for range 20 {
					switch err := maps.Delete(t.Context(), key, client.DeleteOptions{}); {
					case err == nil:
						deleted.Add(1)
					case !errors.Is(err, apierrors.NotFound):
						t.Error(err)
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		all.Wait()
		left := int64(1)
		if _, err := maps.Get(t.Context(), key); err != nil {
			left = 0
		}
		if c, d := created.Load(), deleted.Load(); c != d+left || d == 0 {
			t.Errorf("%d were created, %d deleted, and %d is left", c, d, left)
		}
	})
}

// That an update found nothing does not say that a later read did: what was there all the time was created.
func TestEnsureCreatesOnlyWhatItHasNotFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		absent := outcome{answer: answer{code: 404, body: status(404, "NotFound", "no")}}
		cfg, net := through(outcome{answer: answer{body: object("a", "1")}}, outcome{err: reset}, absent, outcome{answer: answer{code: 403, body: status(403, "Forbidden", "no")}})
		_, _, err := client.For(dial(t, cfg), slims).Ensure(t.Context(), &Slim{Identity: at(web), Data: map[string]string{"k": "k"}}, client.EnsureOptions{})
		wantErr(t, err, `ensure configmaps "web/a": gave up after attempt 1, which may have been written: get configmaps "web/a": server said Forbidden (403)`)
		if sent := net.methods(); sent != "GET PUT PUT GET" || !errors.Is(err, apierrors.Forbidden) {
			t.Errorf("sent %s", sent)
		}
	})
}

// A dry run that was refused has not written before either.
func TestADryRunHasNoUnansweredWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := through(
			outcome{answer: answer{code: 404, body: status(404, "NotFound", "no")}}, outcome{err: reset},
			outcome{answer: answer{code: 409, body: status(409, "AlreadyExists", "no")}}, outcome{answer: answer{body: object("a", "2", "k")}})
		r := client.For(dial(t, cfg), slims).With(client.WriteOptions{DryRun: true})
		if _, outcome, err := r.Ensure(t.Context(), &Slim{Identity: at(web), Data: map[string]string{"k": "k"}}, client.EnsureOptions{}); err != nil || outcome.Outcome != client.Unchanged {
			t.Errorf("got %v, %v", outcome, err)
		}
	})
}

// A difference beyond 2^53 is one.
func TestTheOutcomeOfADryRunIsExact(t *testing.T) {
	was, is := strings.Replace(unknownFields, `"uid"`, `"resourceVersion":"1","uid"`, 1), ""
	is = strings.Replace(was, "9007199254740993", "9007199254740992", 1)
	is = strings.Replace(is, `"k":"v"`, `"k":"v","new":"x"`, 1)
	srv := says(was, is)
	r := client.For(connect(t, srv), slims).With(client.WriteOptions{DryRun: true})
	if _, outcome, err := r.Ensure(t.Context(), &Slim{Identity: at(web), Data: map[string]string{"new": "x"}}, client.EnsureOptions{}); err != nil || outcome.Outcome != client.Updated {
		t.Errorf("got %v, %v", outcome, err)
	}
}

// A finalizer whose answer was lost was an error, although a look tells.
func TestAFinalizerSettlesAPatchWithoutAnAnswer(t *testing.T) {
	state := func(version, finalizers string) outcome {
		return outcome{answer: answer{body: strings.Replace(object("a", version), `"uid"`, `"finalizers":[`+finalizers+`],"uid"`, 1)}}
	}
	invalid := outcome{answer: answer{code: 422, body: status(422, "Invalid", "no")}}
	absent := outcome{answer: answer{code: 404, body: strings.Replace(status(404, "NotFound", "no"), `"code"`, `"details":{"name":"a","kind":"configmaps"},"code"`, 1)}}
	lost, cut := outcome{err: reset}, outcome{answer: answer{body: object("a", "2")[:40], cut: true}}
	for _, test := range []struct {
		name   string
		remove bool
		list   []outcome
		calls  string
		want   error
	}{
		{"added", false, []outcome{state("1", `"f"`), lost, invalid, state("2", `"f","e.x/a"`)}, "GET PATCH PATCH GET", nil},
		{"added as the first", false, []outcome{state("1", ``), lost, invalid, state("2", `"e.x/a"`)}, "GET PATCH PATCH GET", nil},
		{"added, and the answer broke off", false, []outcome{state("1", `"f"`), cut, invalid, state("2", `"f","e.x/a"`)}, "GET PATCH PATCH GET", nil},
		{"not added", false, []outcome{state("1", `"f"`), lost, state("2", `"f","e.x/a"`)}, "GET PATCH PATCH", nil},
		{"refused for what it is", false, []outcome{state("1", `"f"`), lost, invalid, state("1", `"f"`)}, "GET PATCH PATCH GET", apierrors.Invalid},
		{"removed", true, []outcome{state("1", `"f","e.x/a"`), lost, invalid, state("2", `"f"`)}, "GET PATCH PATCH GET", nil},
		{"removed, and the object with it", true, []outcome{state("1", `"e.x/a"`), lost, absent}, "GET PATCH PATCH", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, net := through(test.list...)
				r := client.For(dial(t, cfg), slims)
				call := r.AddFinalizer
				if test.remove {
					call = r.RemoveFinalizer
				}
				if _, err := call(t.Context(), web, "e.x/a", meta.FinalizerOptions{}); test.want == nil && err != nil || !errors.Is(err, test.want) {
					t.Errorf("error is %v, want %v", err, test.want)
				}
				if sent := net.methods(); sent != test.calls {
					t.Errorf("sent %s, want %s", sent, test.calls)
				}
			})
		})
	}
}

// methods returns the methods of what was sent.
func (o *outcomes) methods() string {
	var methods []string
	for _, c := range o.calls {
		methods = append(methods, c.method)
	}
	return strings.Join(methods, " ")
}
