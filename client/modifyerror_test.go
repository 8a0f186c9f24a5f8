package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func setData(obj *Slim) error {
	obj.Data = map[string]string{"k": "new"}
	return nil
}

// Who gives up says how often it tried, and who was faster.
func TestModifySaysWhoWon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		as := func(manager string) client.Resource[*Slim] {
			return client.For(dial(t, server.Config()), slims).With(client.WriteOptions{FieldManager: manager})
		}
		key := meta.Key{Namespace: "default", Name: "a"}
		must[*Slim](t)(as("creator").Create(t.Context(), &Slim{Identity: at(key), Data: map[string]string{"k": "0"}}))
		faster := as("faster")
		var won string
		var when time.Time
		calls := 0
		_, err := as("slower").Modify(t.Context(), key, func(obj *Slim) error {
			calls++
			time.Sleep(time.Second)
			theirs := must[*Slim](t)(faster.Modify(t.Context(), key, func(obj *Slim) error {
				obj.Data = map[string]string{"k": fmt.Sprint(calls)}
				return nil
			}))
			won, when = theirs.ResourceVersion, time.Now().Truncate(time.Second)
			return setData(obj)
		})
		e := is[*client.ModifyError](t, err)
		if who := e.LostTo; e.Attempts != 50 || e.MayHaveWritten || who.Manager != "faster" || who.Operation != "Update" || !who.Time.Equal(when) {
			t.Errorf("error is %+v, want an Update of faster at %v", *e, when)
		}
		if !errors.Is(err, apierrors.Conflict) || is[*client.OpError](t, e.Err).Verb != "update" {
			t.Errorf("the last conflict is not in %v", err)
		}
		wantErr(t, err, fmt.Sprintf(`modify configmaps "default/a": gave up after attempt 50, lost against "faster" by Update at %s (resource version %q): update configmaps "default/a": server said Conflict (409): `,
			when.UTC().Format(time.RFC3339), won))
	})
}

// A context that ends says so, with the conflict that it ended after and who won that.
func TestModifySaysWhoWonWhenItsContextEnds(t *testing.T) {
	for _, test := range []struct {
		name     string
		attempts int
		cancel   func(s *row, cancel func()) // called for the attempts' requests with the row's lock held
	}{
		{"while it reads again", 1, func(s *row, cancel func()) {
			if s.gets == 2 {
				cancel()
			}
		}},
		{"before it writes again", 1, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := newRow(t, unknownFields)
				srv.before = (*row).touch
				ctx, cancel := context.WithCancel(t.Context())
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if test.cancel != nil && r.Method == http.MethodGet {
						srv.mu.Lock()
						test.cancel(&row{gets: srv.gets + 1}, cancel)
						srv.mu.Unlock()
					}
					srv.ServeHTTP(w, r)
				})
				calls := 0
				_, err := client.For(connect(t, h), slims).Modify(ctx, web, func(obj *Slim) error {
					if calls++; calls == 2 {
						cancel()
					}
					return setData(obj)
				})
				e := is[*client.ModifyError](t, err)
				if e.Attempts != test.attempts || e.MayHaveWritten || !errors.Is(err, context.Canceled) || !errors.Is(err, apierrors.Conflict) {
					t.Errorf("error is %+v: %v", *e, err)
				}
				if test.cancel == nil && (e.LostTo.Manager != "m" || !strings.Contains(err.Error(), `(resource version "2")`)) {
					t.Errorf("%+v won: %v", e.LostTo, err)
				}
			})
		})
	}
}

// What is known of a write that failed: nobody may take a change that may be there for one that is not, nor the other way round.
func TestModifySaysWhetherItMayHaveWritten(t *testing.T) {
	refuses := func(code int, reason string) outcome {
		return outcome{answer: answer{code: code, body: status(code, reason, "no")}}
	}
	live := outcome{answer: answer{body: object("a", "1")}}
	for _, test := range []struct {
		name string
		puts []outcome
		may  bool
	}{
		{"refused for what it is", []outcome{refuses(422, "Invalid")}, false},
		{"not permitted", []outcome{refuses(403, "Forbidden")}, false},
		{"gone", []outcome{refuses(404, "NotFound")}, false},
		{"not now", []outcome{refuses(429, "TooManyRequests")}, false},
		{"a refused connection", []outcome{{err: syscall.ECONNREFUSED}}, false},
		{"an error within", []outcome{refuses(500, "InternalError")}, true},
		{"too large for the store", []outcome{{answer: answer{code: 500, body: status(500, "", "etcdserver: request is too large")}}}, false},
		{"a full store", []outcome{{answer: answer{code: 500, body: status(500, "", "etcdserver: mvcc: database space exceeded")}}}, true},
		{"a timeout of the server's", []outcome{refuses(504, "Timeout")}, true},
		{"a timeout of the request", []outcome{refuses(408, "")}, true},
		{"a gateway", []outcome{{answer: answer{code: 502, body: "bad gateway"}}}, true},
		{"resets", []outcome{{err: syscall.ECONNRESET}}, true},
		{"a reset, then a conflict", []outcome{{err: syscall.ECONNRESET}, refuses(409, "Conflict")}, true},
		{"a reset, then a refusal", []outcome{{err: syscall.ECONNRESET}, refuses(403, "Forbidden")}, true},
		{"a page in its place", []outcome{{answer: answer{header: http.Header{"Content-Type": {"text/html"}}, body: "<p>"}}}, true},
		{"half an object that is complete JSON", []outcome{{answer: answer{body: `[]`}}}, true},
		{"an object that does not decode", []outcome{{answer: answer{body: strings.Replace(object("a", "2"), `{}`, `7`, 1)}}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, net := through(append([]outcome{live}, test.puts...)...)
				_, err := client.For(dial(t, cfg), slims).Modify(t.Context(), web, setData)
				e := (*client.ModifyError)(nil)
				if may := errors.As(err, &e) && e.MayHaveWritten; err == nil || may != test.may {
					t.Errorf("it may have written: %v, in %v", may, err)
				}
				if test.may {
					wantErr(t, err, `modify configmaps "web/a": gave up after attempt 1, which may have been written: update configmaps "web/a": `)
				} else {
					wantErr(t, err, `update configmaps "web/a": `)
				}
				for _, c := range net.calls[1:] {
					if c.method != http.MethodPut && c.method != http.MethodGet {
						t.Errorf("%v was sent", c)
					}
				}
			})
		})
	}
}

// A server that has said yes has written. Of an answer that breaks off after that, the object is read again.
func TestModifyReadsAgainWhenTheAnswerBreaksOff(t *testing.T) {
	yes := outcome{answer: answer{body: object("a", "2", "k")[:40], cut: true}}
	live, stored := outcome{answer: answer{body: object("a", "1")}}, outcome{answer: answer{body: object("a", "3", "k", "theirs")}}
	for _, test := range []struct {
		name string
		list []outcome
		want string
	}{
		{"the object", []outcome{live, yes, stored}, ""},
		{"nothing by now", []outcome{live, yes, {answer: answer{code: 404, body: status(404, "NotFound", "no")}}}, "which may have been written"},
		{
			"another object by now",
			[]outcome{live, yes, {answer: answer{body: strings.Replace(object("a", "9"), "u-a", "u-b", 1)}}},
			"which may have been written",
		},
		{"a server that has gone", []outcome{live, yes, {err: syscall.ECONNREFUSED}}, "which may have been written"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, net := through(test.list...)
				calls := 0
				got, err := client.For(dial(t, cfg), slims).Modify(t.Context(), web, func(obj *Slim) error { calls++; return setData(obj) })
				if calls != 1 || len(net.calls) != 3 {
					t.Errorf("%d calls and %v", calls, net.calls)
				}
				if test.want == "" {
					if err != nil || got.ResourceVersion != "3" || len(got.Data) != 2 {
						t.Errorf("got %+v and %v", got, err)
					}
					return
				}
				wantErr(t, err, test.want)
				if e := is[*client.ModifyError](t, err); !e.MayHaveWritten || !errors.Is(err, io.ErrUnexpectedEOF) && apierrors.NetworkOf(err) == "" {
					t.Errorf("error is %+v", *e)
				}
			})
		})
	}
}

// Every attempt begins with a read of the newest state, whatever the server has cached.
func TestModifyNeverReadsAStaleObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, conflict := outcome{answer: answer{body: object("a", "1")}}, outcome{answer: answer{code: 409, body: status(409, "Conflict", "no")}}
		cfg, net := through(live, conflict, live, conflict, live, live)
		must[*Slim](t)(client.For(dial(t, cfg), slims).Modify(t.Context(), web, setData))
		var sent []string
		for _, c := range net.calls {
			sent = append(sent, c.String())
		}
		const get, put = "GET /api/v1/namespaces/web/configmaps/a", "PUT /api/v1/namespaces/web/configmaps/a"
		if want := []string{get, put, get, put, get, put}; !reflect.DeepEqual(sent, want) {
			t.Errorf("sent %v", sent)
		}
	})
}

// A name can pass to another object between two attempts: what is written then is made of that one, and never goes to the other.
func TestModifyOfANameThatPassesToAnotherObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		maps := client.For(dial(t, server.Config()), configMaps)
		key := meta.Key{Namespace: "default", Name: "a"}
		create := func(value string) {
			must[*ConfigMap](t)(maps.Create(t.Context(), &ConfigMap{
				ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Data: map[string]string{"n": value},
			}))
		}
		create("1")
		var uids []string
		got := must[*ConfigMap](t)(maps.Modify(t.Context(), key, func(obj *ConfigMap) error {
			if uids = append(uids, obj.UID); len(uids) == 1 {
				if err := maps.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				create("7")
			}
			obj.Data["n"] += "+1"
			return nil
		}))
		if len(uids) != 2 || uids[0] == uids[1] || got.UID != uids[1] || got.Data["n"] != "7+1" {
			t.Errorf("saw %v and got %+v", uids, got)
		}
	})
}

// An object that is being deleted is changed like any other; without its last finalizer it is gone, and returned as it was.
func TestModifyOfAnObjectThatIsBeingDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		maps := client.For(dial(t, server.Config()), configMaps)
		key := meta.Key{Namespace: "default", Name: "a"}
		must[*ConfigMap](t)(maps.Create(t.Context(), &ConfigMap{
			ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Finalizers: []string{"example.com/f"}},
		}))
		if err := maps.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		got := must[*ConfigMap](t)(maps.Modify(t.Context(), key, func(obj *ConfigMap) error {
			obj.Data = map[string]string{"k": "v"}
			return nil
		}))
		if got.Data["k"] != "v" || got.DeletionTimestamp == nil {
			t.Errorf("got %+v", got)
		}
		got = must[*ConfigMap](t)(maps.Modify(t.Context(), key, func(obj *ConfigMap) error { obj.Finalizers = nil; return nil }))
		if len(got.Finalizers) != 0 || got.DeletionTimestamp == nil {
			t.Errorf("got %+v", got)
		}
		if _, err := maps.Get(t.Context(), key); !errors.Is(err, apierrors.NotFound) {
			t.Errorf("error is %v", err)
		}
	})
}
