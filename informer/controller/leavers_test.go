package controller_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/patch"
)

func isMine(p *pod) bool { return p.Labels["mine"] == "yes" }

// stays is an object that loses its label, or its namespace, and is deleted later.
type stays struct {
	maps     client.Resource[*pod]
	factory  *informer.Factory
	set      func(...string) error // SetNamespaces
	calls    []string
	reported []error
}

func (s *stays) options() informer.Options {
	return informer.Options{OnError: func(err error) { s.reported = append(s.reported, err) }}
}

// from returns what Finalize reads and what the controller watches.
type from func(s *stays) (cache.Reader[*pod], controller.Subscriber[*pod])

func informed(change func(o *informer.Options), src func(informer.Source[*pod]) informer.Source[*pod]) from {
	return func(s *stays) (cache.Reader[*pod], controller.Subscriber[*pod]) {
		o := s.options()
		if change != nil {
			change(&o)
		}
		var source informer.Source[*pod] = s.maps
		if src != nil {
			source = src(source)
		}
		inf := informer.New(source, o)
		s.set = func(ns ...string) error { return inf.SetNamespaces(ns) }
		return inf.Reader(), inf
	}
}

var (
	bySelector = informed(func(o *informer.Options) { o.LabelSelector = "mine=yes" }, nil)
	byFilter   = informed(nil, func(src informer.Source[*pod]) informer.Source[*pod] { return informer.Filter(src, isMine) })
	within     = informed(nil, func(src informer.Source[*pod]) informer.Source[*pod] {
		return informer.Transform(informer.Filter(src, isMine), func(p *pod) *pod { return p })
	})
	byNamespace = informed(func(o *informer.Options) { o.Namespaces = []string{"default", "other"} }, nil)
	byShared    = func(s *stays) (cache.Reader[*pod], controller.Subscriber[*pod]) {
		o := s.options()
		o.LabelSelector = "mine=yes"
		shared := informer.Share(s.factory, s.maps, o)
		return shared.Reader(), shared
	}
	byView = func(s *stays) (cache.Reader[*pod], controller.Subscriber[*pod]) {
		view := informer.New(s.maps, s.options()).Reader().Where(isMine)
		return view, view
	}
	byChangedView = func(s *stays) (cache.Reader[*pod], controller.Subscriber[*pod]) {
		view := informer.New(s.maps, s.options()).Reader().Where(isMine)
		return view, controller.Changed(view, controller.LabelsChanged, controller.DeletionBegan)
	}
)

// run runs a Finalize until play returns, and then returns the error of the Run.
func (s *stays) run(t *testing.T, f from, o controller.FinalizeOptions, cleanup func() (controller.Result, error), play func()) error {
	s.factory = &informer.Factory{}
	reader, source := f(s)
	note := func(what string, then func() (controller.Result, error)) func(context.Context, *pod) (controller.Result, error) {
		return func(_ context.Context, p *pod) (controller.Result, error) {
			if !slices.Contains(p.Finalizers, ours) {
				t.Errorf("%s of an object without the finalizer", what)
			}
			s.calls = append(s.calls, what)
			return then()
		}
	}
	done := func() (controller.Result, error) { return controller.Result{}, nil }
	if cleanup == nil {
		cleanup = done
	}
	ctl := controller.New("x", controller.Options{OnError: func(err error) { s.reported = append(s.reported, err) }},
		controller.Finalize(s.maps, reader, ours, note("reconcile", done), note("cleanup", cleanup), o), controller.Watch(source))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(ctx, s.factory, ctl) }()
	time.Sleep(time.Second)
	play()
	stop()
	return <-ended
}

func (s *stays) leave(t *testing.T) {
	t.Helper()
	if s.set != nil && s.set("other") == nil {
		time.Sleep(time.Minute)
		return
	}
	(&livePods{s.maps}).label(t, "a", "mine", "no")
	time.Sleep(time.Minute)
}

// An object that lost the label of the selector kept the finalizer. When it was deleted it stayed, and nobody was told.
func TestObjectsThatLeaveTheCacheOfAFinalize(t *testing.T) {
	cleanUp, report := controller.FinalizeOptions{Leavers: controller.CleanUpLeavers}, controller.FinalizeOptions{Leavers: controller.ReportLeavers}
	for _, test := range []struct {
		name    string
		from    from
		options controller.FinalizeOptions
		calls   string
		left    bool // the object, an hour after its deletion
		reports int
	}{
		{"by a selector, cleaned up", bySelector, cleanUp, "reconcile cleanup", false, 0},
		{"by a selector, reported", bySelector, report, "reconcile", true, 1},
		{"by a filter, cleaned up", byFilter, cleanUp, "reconcile cleanup", false, 0},
		{"by a filter, reported", byFilter, report, "reconcile", true, 1},
		{"by a filter within a transform, reported", within, report, "reconcile", true, 1},
		{"of a shared informer, cleaned up", byShared, cleanUp, "reconcile cleanup", false, 0},
		{"of a view, cleaned up", byView, cleanUp, "reconcile cleanup", false, 0},
		{"of a view, reported", byView, report, "reconcile", true, 1},
		{"of a view whose changes are chosen, cleaned up", byChangedView, cleanUp, "reconcile reconcile cleanup", false, 0},
		{"by SetNamespaces, cleaned up", byNamespace, cleanUp, "reconcile reconcile cleanup", false, 0},
		{"by SetNamespaces, reported", byNamespace, report, "reconcile reconcile", true, 1},
		{"by SetNamespaces, reported without being asked", byNamespace, controller.FinalizeOptions{}, "reconcile reconcile", true, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, maps := startServer(t, clienttest.Options{})
				s := &stays{maps: maps}
				r := &livePods{maps}
				err := s.run(t, test.from, test.options, nil, func() {
					create(t, maps, "a")
					r.label(t, "a", "mine", "yes")
					time.Sleep(time.Second)
					s.leave(t)
					r.delete(t, "a")
					time.Sleep(time.Hour)
				})
				if err != nil {
					t.Errorf("Run returned %v", err)
				}
				calls := strings.Join(slices.Compact(s.calls), " ")
				if want := strings.Join(slices.Compact(strings.Fields(test.calls)), " "); calls != want {
					t.Errorf("called %s, want %s", calls, want)
				}
				_, err = maps.Get(t.Context(), meta.Key{Namespace: "default", Name: "a"})
				if (err == nil) != test.left {
					t.Errorf("an hour after its deletion, the object is there: %v, want %v", err == nil, test.left)
				}
				if len(s.reported) != test.reports {
					t.Errorf("reported %v, want %d", s.reported, test.reports)
				}
				for _, err := range s.reported {
					var terminal *controller.TerminalError
					if !errors.As(err, &terminal) || !strings.Contains(err.Error(), "default/a has left the cache (") || !strings.Contains(err.Error(), "keeps the finalizer "+ours) {
						t.Errorf("reported %v, want that a has left", err)
					}
				}
			})
		})
	}
}

// Without a word about the objects that leave, the program does not start.
func TestFinalizeRefusesACacheFromWhichObjectsLeave(t *testing.T) {
	for _, test := range []struct {
		name string
		from from
		want string // in the error; empty if it starts
	}{
		{"a label selector", bySelector, `LabelSelector is "mine=yes"`},
		{"a field selector", informed(func(o *informer.Options) { o.FieldSelector = "spec.nodeName=a" }, nil), `FieldSelector is "spec.nodeName=a"`},
		{"a filter", byFilter, "informer.Filter"},
		{"a filter within a transform", within, "informer.Filter"},
		{"a shared informer", byShared, `LabelSelector is "mine=yes"`},
		{"a view", byView, "Reader.Where"},
		{"a view whose changes are chosen", byChangedView, "Reader.Where"},

		{"nothing", informed(nil, nil), ""},
		{"a namespace", informed(func(o *informer.Options) { o.Namespace = "default" }, nil), ""},
		{"namespaces", byNamespace, ""},
		{"a field selector of the name", informed(func(o *informer.Options) { o.FieldSelector = "metadata.name=a" }, nil), ""},
		{"a transform", informed(nil, func(src informer.Source[*pod]) informer.Source[*pod] {
			return informer.Transform(src, func(p *pod) *pod { return p })
		}), ""},
		{"a view of everything", func(s *stays) (cache.Reader[*pod], controller.Subscriber[*pod]) {
			view := informer.New(s.maps, s.options()).Reader().Where(nil)
			return view, view
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, maps := startServer(t, clienttest.Options{})
				s := &stays{maps: maps}
				err := s.run(t, test.from, controller.FinalizeOptions{}, nil, func() { create(t, maps, "a"); time.Sleep(time.Second) })
				switch {
				case test.want == "" && (err != nil || len(s.calls) == 0 || s.calls[0] != "reconcile"):
					t.Errorf("Run returned %v, and called %q", err, s.calls)
				case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "FinalizeOptions.Leavers")):
					t.Errorf("Run returned %v, want one that names %s and the option", err, test.want)
				case test.want != "" && len(s.calls) > 0:
					t.Errorf("called %q", s.calls)
				}
			})
		})
	}
}

// The informer may run before the controller is made. Then nothing gets the finalizer, and each key says why.
func TestFinalizeRefusesACacheThatRunsAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, maps := startServer(t, clienttest.Options{})
		inf := informer.New(maps, informer.Options{LabelSelector: "mine=yes"})
		stopInformer := runAll(t, inf)
		create(t, maps, "a")
		(&livePods{maps}).label(t, "a", "mine", "yes")
		var reported []error
		ctl := controller.New("x", controller.Options{OnError: func(err error) { reported = append(reported, err) }},
			controller.Finalize(maps, inf.Reader(), ours, nothing, nothing, controller.FinalizeOptions{}), controller.Watch(inf))
		stop := run(t, ctl)
		time.Sleep(time.Hour)
		if live, err := maps.Get(t.Context(), meta.Key{Namespace: "default", Name: "a"}); err != nil || len(live.Finalizers) > 0 {
			t.Errorf("the object is %+v, %v", live, err)
		}
		if len(reported) != 1 || !strings.Contains(reported[0].Error(), "FinalizeOptions.Leavers") {
			t.Errorf("reported %v, want the refusal once", reported)
		}
		mustStop(t, stop)
		mustStop(t, stopInformer)
		if err := inf.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "FinalizeOptions.Leavers") {
			t.Errorf("the next Run of the informer returned %v", err)
		}
	})
}

// The view and the cache that Finalize reads must be one, or nothing names an object that has left the view.
func TestFinalizeOverAWholeCacheRefusesAViewAsItsOnlySource(t *testing.T) {
	for _, test := range []struct {
		name    string
		sources func(inf *informer.Informer[*pod]) []controller.Source[meta.Key]
		refused bool
	}{
		{"a view", func(inf *informer.Informer[*pod]) []controller.Source[meta.Key] {
			return []controller.Source[meta.Key]{controller.Watch(inf.Reader().Where(isMine))}
		}, true},
		{"a view whose changes are chosen", func(inf *informer.Informer[*pod]) []controller.Source[meta.Key] {
			return []controller.Source[meta.Key]{controller.Watch(controller.Changed(inf.Reader().Where(isMine), controller.LabelsChanged))}
		}, true},
		{"a view, and the whole", func(inf *informer.Informer[*pod]) []controller.Source[meta.Key] {
			return []controller.Source[meta.Key]{controller.Watch(inf.Reader().Where(isMine)), controller.Watch(inf)}
		}, false},
		{"a view of everything", func(inf *informer.Informer[*pod]) []controller.Source[meta.Key] {
			return []controller.Source[meta.Key]{controller.Watch(inf.Reader().Where(nil))}
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, maps := startServer(t, clienttest.Options{})
				create(t, maps, "a")
				(&livePods{maps}).label(t, "a", "mine", "yes")
				inf := informer.New(maps, informer.Options{})
				var reported []error
				ctl := controller.New("x", controller.Options{OnError: func(err error) { reported = append(reported, err) }},
					controller.Finalize(maps, inf.Reader(), ours, nothing, nothing, controller.FinalizeOptions{}), test.sources(inf)...)
				stop := runAll(t, ctl)
				time.Sleep(time.Minute)
				if (len(reported) > 0) != test.refused {
					t.Errorf("reported %v, want a refusal: %v", reported, test.refused)
				}
				if _, err := ctl.AddSource(controller.Watch(inf)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				mustStop(t, stop)
				key := meta.Key{Namespace: "default", Name: "a"}
				if live, err := maps.Get(t.Context(), key); err != nil || !slices.Contains(live.Finalizers, ours) {
					t.Errorf("with another source that sees all, the object is %+v, %v", live, err)
				}
			})
		})
	}
}

// The cleanup of an object that leaves is as safe as that of one that is deleted.
func TestACleanupOfAnObjectThatLeaves(t *testing.T) {
	cleanUp := controller.FinalizeOptions{Leavers: controller.CleanUpLeavers}
	for _, test := range []struct {
		name    string
		cleanup []func() (controller.Result, error) // the first ones; later ones are done
		play    func(t *testing.T, s *stays, server *clienttest.Server)
		calls   string
		left    string // the finalizers; "gone" if the object is
	}{
		{"fails, and is tried again", []func() (controller.Result, error){
			func() (controller.Result, error) { return controller.Result{}, errFailed },
		}, func(t *testing.T, s *stays, _ *clienttest.Server) { s.leave(t) }, "reconcile cleanup cleanup", ""},
		{"has not finished in time", []func() (controller.Result, error){
			func() (controller.Result, error) { return controller.Result{RequeueAfter: -time.Second}, nil },
		}, func(t *testing.T, s *stays, _ *clienttest.Server) { s.leave(t) }, "reconcile cleanup cleanup", ""},
		{"and it comes back", nil, func(t *testing.T, s *stays, _ *clienttest.Server) {
			s.leave(t)
			(&livePods{s.maps}).label(t, "a", "mine", "yes")
			time.Sleep(time.Minute)
		}, "reconcile cleanup reconcile", ours},
		{"not while the server does not answer", nil, func(t *testing.T, s *stays, server *clienttest.Server) {
			server.Intercept(func(r *http.Request) http.HandlerFunc {
				if q := clienttest.RequestOf(r); q.Verb == "get" {
					return clienttest.Answer(meta.Status{Reason: "InternalError", Code: 500})
				}
				return nil
			})
			_, err := s.maps.Patch(t.Context(), meta.Key{Namespace: "default", Name: "a"}, patch.Merge(map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"mine": "no"}},
			}))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			if slices.Contains(s.calls, "cleanup") {
				t.Errorf("called %s while the server does not answer", s.calls)
			}
			server.Intercept(nil)
			time.Sleep(time.Hour)
		}, "reconcile cleanup", ""},
		{"not if it is gone, without a second one", nil, func(t *testing.T, s *stays, _ *clienttest.Server) {
			(&livePods{s.maps}).delete(t, "a")
			time.Sleep(time.Minute)
		}, "reconcile cleanup", "gone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, maps := startServer(t, clienttest.Options{})
				s := &stays{maps: maps}
				n := 0
				err := s.run(t, bySelector, cleanUp, func() (controller.Result, error) {
					if n++; n <= len(test.cleanup) {
						return test.cleanup[n-1]()
					}
					return controller.Result{}, nil
				}, func() {
					create(t, maps, "a")
					(&livePods{maps}).label(t, "a", "mine", "yes")
					time.Sleep(time.Second)
					test.play(t, s, server)
				})
				if err != nil {
					t.Error(err)
				}
				// The write of the finalizer is a change that the source names once more.
				calls := strings.Join(s.calls, " ")
				for strings.Contains(calls, "reconcile reconcile") {
					calls = strings.Replace(calls, "reconcile reconcile", "reconcile", 1)
				}
				if calls != test.calls {
					t.Errorf("called %s, want %s", calls, test.calls)
				}
				left := "gone"
				if p, err := maps.Get(t.Context(), meta.Key{Namespace: "default", Name: "a"}); err == nil {
					left = strings.Join(p.Finalizers, " ")
				}
				if left != test.left {
					t.Errorf("the finalizers are %q, want %q", left, test.left)
				}
			})
		})
	}
}
