package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// Each value of the package is used again, or after its end. The bubbles fail if a goroutine stays.

// verbs are the calls of a client, for an object that exists.
var verbs = map[string]func(ctx context.Context, c *client.Client, key meta.Key) error{
	"get": func(ctx context.Context, c *client.Client, key meta.Key) error {
		_, err := client.For(c, configMaps).Get(ctx, key)
		return err
	},
	"list": func(ctx context.Context, c *client.Client, _ meta.Key) error {
		_, err := client.For(c, configMaps).List(ctx, client.ListOptions{})
		return err
	},
	"list of metadata": func(ctx context.Context, c *client.Client, _ meta.Key) error {
		_, err := client.Metadata(client.For(c, configMaps)).List(ctx, client.ListOptions{})
		return err
	},
	"list of one": func(ctx context.Context, c *client.Client, key meta.Key) error {
		_, err := client.For(c, configMaps).One(key).List(ctx, client.ListOptions{})
		return err
	},
	"count": func(ctx context.Context, c *client.Client, _ meta.Key) error {
		_, _, err := client.For(c, configMaps).Count(ctx, client.ListOptions{})
		return err
	},
	"table": func(ctx context.Context, c *client.Client, _ meta.Key) error {
		_, err := client.For(c, configMaps).Table(ctx, client.ListOptions{}, client.TableOptions{})
		return err
	},
	"watch": func(ctx context.Context, c *client.Client, _ meta.Key) error {
		for _, err := range client.For(c, configMaps).Watch(ctx, client.WatchOptions{InitialEvents: true}) {
			return err
		}
		return errors.New("the watch has ended")
	},
	"watch of tables": func(ctx context.Context, c *client.Client, _ meta.Key) error {
		for _, err := range client.For(c, configMaps).WatchTable(ctx, client.WatchOptions{InitialEvents: true}, client.TableOptions{}) {
			return err
		}
		return errors.New("the watch has ended")
	},
	"wait": func(ctx context.Context, c *client.Client, key meta.Key) error {
		_, err := client.WaitFor(ctx, client.For(c, configMaps), key, client.UntilCreated())
		return err
	},
	"create": func(ctx context.Context, c *client.Client, key meta.Key) error {
		_, err := client.For(c, configMaps).Create(ctx, &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, GenerateName: "new-"}})
		return err
	},
	"update": func(ctx context.Context, c *client.Client, key meta.Key) error {
		_, err := client.For(c, configMaps).Update(ctx, &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})
		return err
	},
	"ensure": func(ctx context.Context, c *client.Client, key meta.Key) error {
		_, _, err := client.For(c, configMaps).Ensure(ctx, &ConfigMap{
			ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Data: map[string]string{"a": "b"},
		}, client.EnsureOptions{})
		return err
	},
	"modify": func(ctx context.Context, c *client.Client, key meta.Key) error {
		_, err := client.For(c, configMaps).Modify(ctx, key, func(m *ConfigMap) error { m.Data = map[string]string{"a": m.Data["a"] + "x"}; return nil })
		return err
	},
	"patch": func(ctx context.Context, c *client.Client, key meta.Key) error {
		_, err := client.For(c, configMaps).Patch(ctx, key, noChange)
		return err
	},
	"apply": func(ctx context.Context, c *client.Client, key meta.Key) error {
		r := client.For(c, configMaps).With(client.WriteOptions{FieldManager: "m"})
		_, err := r.Apply(ctx, key, map[string]any{"data": map[string]any{"m": "1"}}, client.ApplyOptions{})
		return err
	},
	"finalizer": func(ctx context.Context, c *client.Client, key meta.Key) error {
		_, err := client.For(c, configMaps).AddFinalizer(ctx, key, "example.com/a", meta.FinalizerOptions{})
		if err == nil {
			_, err = client.For(c, configMaps).RemoveFinalizer(ctx, key, "example.com/a", meta.FinalizerOptions{})
		}
		return err
	},
	"delete": func(ctx context.Context, c *client.Client, key meta.Key) error {
		_, err := client.For(c, configMaps).Create(ctx, &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: "short"}})
		if err == nil {
			err = client.For(c, configMaps).Delete(ctx, meta.Key{Namespace: key.Namespace, Name: "short"}, client.DeleteOptions{})
		}
		return err
	},
	"delete a collection": func(ctx context.Context, c *client.Client, key meta.Key) error {
		return client.For(c, configMaps).DeleteCollection(ctx, client.Selection{Namespace: key.Namespace, LabelSelector: "a=b"}, client.DeleteOptions{})
	},
	"raw": func(ctx context.Context, c *client.Client, _ meta.Key) error {
		resp, err := c.Raw(ctx, client.RawRequest{Path: "/version"})
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			err = errors.Join(err, resp.Body.Close(), resp.Body.Close())
		}
		return err
	},
	"review": func(ctx context.Context, c *client.Client, _ meta.Key) error {
		_, err := client.CanI(ctx, c, client.Access{Verb: "list", Resource: configMaps.GVR()})
		return err
	},
}

// A closed client opens connections as it needs them. A call whose context has ended sends nothing, on an open client and on a closed one.
func TestEachCallAfterClose(t *testing.T) {
	key := meta.Key{Namespace: "default", Name: "a"}
	for name, call := range verbs {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, clienttest.Options{})
				c, sent := counted(t, server.Config())
				must[*ConfigMap](t)(client.For(c, configMaps).Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}))
				for closed := range 3 {
					if err := call(t.Context(), c, key); err != nil {
						t.Errorf("after Close %d times: %v", closed, err)
					}
					ended, end := context.WithCancel(t.Context())
					end()
					before := sent.Load()
					if err := call(ended, c, key); !errors.Is(err, context.Canceled) || sent.Load() != before {
						t.Errorf("after Close %d times, in a context that has ended: %v, and %d requests", closed, err, sent.Load()-before)
					}
					c.Close()
					c.Close()
				}
			})
		})
	}
}

// A watch and a body that are open while their client is closed go on.
func TestOpenWatchesAndBodiesSurviveClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c := dial(t, server.Config())
		r := client.For(c, configMaps).In("default")
		make := func(name string) {
			must[*ConfigMap](t)(r.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Name: name}}))
		}
		var seen string
		for event, err := range r.Watch(t.Context(), client.WatchOptions{InitialEvents: true}) {
			if err != nil {
				t.Fatal(err)
			}
			if seen += fmt.Sprint(event.Type, event.Identity.Name, " "); event.Identity.Name == "b" {
				break
			}
			c.Close()
			make(map[string]string{"": "a", "a": "b"}[event.Identity.Name])
		}
		if seen != "BOOKMARK ADDEDa ADDEDb " {
			t.Errorf("the watch brings %s", seen)
		}
		resp := must[*http.Response](t)(c.Raw(t.Context(), client.RawRequest{Path: "/api/v1/namespaces/default/configmaps"}))
		c.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || len(body) == 0 {
			t.Errorf("the body is %d bytes, %v", len(body), err)
		}
		if err := errors.Join(resp.Body.Close(), resp.Body.Close()); err != nil {
			t.Error(err)
		}
		if n, err := resp.Body.Read([]byte{0}); n != 0 || err == nil {
			t.Errorf("a closed body brings %d bytes, %v", n, err)
		}
	})
}

// A loop over an iterator makes its requests anew, whether or not an earlier loop was left, and also in another loop over it.
func TestIteratorsAreUsedAgain(t *testing.T) {
	type seq = func(yield func(string, error) bool)
	watch := client.WatchOptions{InitialEvents: true}
	for name, of := range map[string]func(ctx context.Context, r client.Resource[*ConfigMap]) seq{
		"All": func(ctx context.Context, r client.Resource[*ConfigMap]) seq {
			all := r.All(ctx, client.ListOptions{PageSize: 2})
			return func(yield func(string, error) bool) {
				all(func(m *ConfigMap, err error) bool { return yield(name(m), err) })
			}
		},
		"Watch": func(ctx context.Context, r client.Resource[*ConfigMap]) seq {
			all := r.Watch(ctx, watch)
			return func(yield func(string, error) bool) {
				all(func(e client.Event[*ConfigMap], err error) bool { return yield(e.Identity.Name, err) })
			}
		},
		"WatchTable": func(ctx context.Context, r client.Resource[*ConfigMap]) seq {
			all := r.WatchTable(ctx, watch, client.TableOptions{})
			return func(yield func(string, error) bool) {
				all(func(e client.TableEvent, err error) bool {
					if len(e.Table.Rows) == 0 {
						return yield("", err)
					}
					return yield(e.Table.Rows[0].Object.Name, err)
				})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, clienttest.Options{})
				c := dial(t, server.Config())
				r := client.For(c, configMaps).In("default")
				for _, name := range []string{"a", "b", "c", "d", "e"} {
					must[*ConfigMap](t)(r.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Name: name}}))
				}
				ctx, end := context.WithCancel(t.Context())
				defer end()
				all := of(ctx, r)
				loop := func(within func(name string)) (names string) {
					for name, err := range all {
						if err != nil {
							t.Fatal(err)
						}
						within(name)
						if names += name; len(names) == 5 { // a watch does not end
							break
						}
					}
					return names
				}
				leave := func(string) {
					for range all {
						break
					}
				}
				for i, within := range []func(string){leave, func(string) {}, func(string) { c.Close() }, func(string) {}} {
					if got := loop(within); got != "abcde" {
						t.Errorf("loop %d brings %s", i, got)
					}
					leave("")
				}
				for name, err := range all { // and is left from within
					if end(); name != "a" {
						if !errors.Is(err, context.Canceled) {
							t.Errorf("in a context that has ended, the loop brings %q, %v", name, err)
						}
						break
					}
				}
				n := 0
				for name, err := range all {
					if n++; name != "" || !errors.Is(err, context.Canceled) {
						t.Errorf("in a context that has ended, a loop brings %q, %v", name, err)
					}
				}
				if n != 1 {
					t.Errorf("in a context that has ended, a loop brings %d errors", n)
				}
			})
		})
	}
}

func name(m *ConfigMap) string {
	if m == nil {
		return ""
	}
	return m.Name
}

// Values that calls take are as good after them.
func TestArgumentsAreUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		fetches := 0
		cfg := server.Config()
		cfg.BearerToken = ""
		cfg.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
			fetches++
			return client.Credential{Token: "t"}, nil
		})
		created, set := client.UntilCreated(), patch.Merge(map[string]any{"data": map[string]any{"k": "v"}})
		first := dial(t, cfg)
		for i := range 4 {
			c := dial(t, cfg)
			r := client.For(c, configMaps).One(meta.Key{Namespace: "default", Name: "a"}).One(meta.Key{Namespace: "default", Name: "a"})
			key := meta.Key{Namespace: "default", Name: "a"}
			if i == 0 {
				must[*ConfigMap](t)(r.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}))
			}
			must[*ConfigMap](t)(client.WaitFor(t.Context(), r, key, created))
			for range 2 {
				if m := must[*ConfigMap](t)(r.Patch(t.Context(), key, set)); m.Data["k"] != "v" {
					t.Errorf("patched to %v", m.Data)
				}
			}
			proxy := c.Proxy(client.ProxyTarget{Resource: "services", Key: meta.Key{Namespace: "default", Name: "web"}})
			c.Close()
			for range 2 {
				req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://web/", nil))
				if resp, err := proxy.RoundTrip(req); err == nil {
					_ = resp.Body.Close()
				}
			}
			must[*ConfigMap](t)(client.For(first, configMaps).Get(t.Context(), key))
		}
		if fetches != 1 {
			t.Errorf("there were %d fetches", fetches)
		}
	})
}
