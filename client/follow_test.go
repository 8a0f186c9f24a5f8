package client_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/follow"
	"github.com/bowline-go/bowline/patch"
)

var inDefault = meta.Key{Namespace: "default", Name: "a"}

func TestTheContextOfACallIsToldOfItsWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := clienttest.Start(t, clienttest.Options{}).Config()
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		r := client.For(c, configMaps)
		var told []follow.Write
		ctx := follow.Writes(t.Context(), func(w follow.Write) { told = append(told, w) })
		obj := &ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "a", Namespace: "default"}, Data: map[string]string{"z": "z"}}
		for _, step := range []struct {
			name, want string // the verbs that are told
			do         func() error
		}{
			{"dry run", "", func() error { return drop(r.With(client.WriteOptions{DryRun: true}).Create(ctx, obj)) }},
			{"create", "create", func() error { return drop(r.Create(ctx, obj)) }},
			{"a creation that fails", "", func() error {
				if err := drop(r.Create(ctx, obj)); err == nil {
					return errors.New("it did not fail")
				}
				return nil
			}},
			{"get", "", func() error { return drop(r.Get(ctx, inDefault)) }},
			{"modify", "update", func() error {
				return drop(r.Modify(ctx, inDefault, func(c *ConfigMap) error { c.Data = map[string]string{"a": "b"}; return nil }))
			}},
			{"patch", "patch", func() error {
				return drop(r.Patch(ctx, inDefault, patch.Merge(map[string]any{"data": map[string]any{"a": "c"}})))
			}},
			{"apply", "apply", func() error {
				return drop(r.With(client.WriteOptions{FieldManager: "me"}).Apply(ctx, inDefault, map[string]any{
					"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"x": "y"},
				}, client.ApplyOptions{}))
			}},
			{"finalizer", "patch", func() error { return drop(r.AddFinalizer(ctx, inDefault, "example.com/a", meta.FinalizerOptions{})) }},
			{"a deletion that is not stored", "", func() error {
				return r.With(client.WriteOptions{DryRun: true}).Delete(ctx, inDefault, client.DeleteOptions{})
			}},
			{"a deletion that waits for a finalizer", "delete", func() error { return r.Delete(ctx, inDefault, client.DeleteOptions{}) }},
			{"without the finalizer it is gone", "patch", func() error { return drop(r.RemoveFinalizer(ctx, inDefault, "example.com/a", meta.FinalizerOptions{})) }},
			{"generated name", "create", func() error {
				return drop(r.Create(ctx, &ConfigMap{ObjectMeta: meta.ObjectMeta{GenerateName: "b-", Namespace: "default"}, Data: obj.Data}))
			}},
		} {
			told = nil
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			var verbs []string
			for _, w := range told {
				verbs = append(verbs, w.Verb)
				if w.UID == "" || w.ResourceVersion == "" || w.Key.Namespace != "default" || w.Key.Name == "" || w.Resource != configMaps.GVR() || w.Server != cfg.Server {
					t.Errorf("%s: told of %+v", step.name, w)
				}
				if w.Verb != "delete" && !strings.Contains(string(w.Answer), `"managedFields"`) && step.name != "without the finalizer it is gone" {
					t.Errorf("%s: the answer is %s", step.name, w.Answer)
				}
			}
			if got := strings.Join(verbs, ","); got != step.want {
				t.Errorf("%s: told of %q, want %q", step.name, got, step.want)
			}
			if step.name == "apply" {
				raw, err := told[0].Read(ctx)
				if err != nil || !strings.Contains(string(raw), `"managedFields"`) || !strings.Contains(string(raw), `"data":{`) || told[0].Manager != "me" {
					t.Errorf("the object is %s, %v; the manager is %q", raw, err, told[0].Manager)
				}
			}
		}

		last := told[0]
		told = nil
		if err := r.Delete(ctx, last.Key, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		if len(told) != 1 || told[0].Verb != "delete" || told[0].UID != last.UID || told[0].ResourceVersion != "" || told[0].Server != cfg.Server {
			t.Errorf("told of %+v", told)
		}
	})
}

// A gate that closes while a request waits for its connection stops it: the server gets no body, so it stores nothing.
func TestNothingIsWrittenAfterTheGateHasClosed(t *testing.T) {
	for _, closes := range []string{"before the call", "during the dial", "during the body", "never"} {
		t.Run(closes, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var closed error
				errLate := errors.New("too late")
				server := clienttest.Start(t, clienttest.Options{})
				cfg := server.Config()
				dial := cfg.Dial
				cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					time.Sleep(time.Minute)
					if closes == "during the dial" {
						closed = errLate
					}
					return dial(ctx, network, address)
				}
				c, err := client.New(cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				r, reads := client.For(c, configMaps), 0
				ctx := follow.Gate(t.Context(), func() error {
					if reads++; closes == "before the call" || closes == "during the body" && reads > 3 {
						closed = errLate
					}
					return closed
				})
				big := &ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "a", Namespace: "default"}, Data: map[string]string{"a": strings.Repeat("x", 200_000)}}
				_, err = r.Create(ctx, big)
				if closes == "never" {
					if err != nil {
						t.Fatal(err)
					}
				} else if !errors.Is(err, errLate) || !strings.Contains(err.Error(), `create configmaps "default/a": too late`) {
					t.Errorf("the error is %v", err)
				}
				time.Sleep(time.Hour) // the server gives up what it got of the body
				all, err := r.List(t.Context(), client.ListOptions{})
				if err != nil || len(all.Items) == 1 != (closes == "never") {
					t.Errorf("the server has %d objects, %v", len(all.Items), err)
				}
			})
		})
	}
}
