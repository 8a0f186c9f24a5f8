package informer_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// said is what has been logged, each line with the time since the logger was made.
type said struct {
	mu    sync.Mutex
	start time.Time
	lines []string
}

func (s *said) logger() logr.Logger {
	s.start = time.Now()
	return funcr.New(func(_, args string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lines = append(s.lines, fmt.Sprint(time.Since(s.start).Round(time.Second), " ", strings.ReplaceAll(args, `\"`, `"`)))
	}, funcr.Options{})
}

// with returns the lines that have a text.
func (s *said) with(text string) (lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.lines {
		if strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return lines
}

// has fails unless the lines that there are begin with these times and contain these texts.
func (s *said) has(r *rig, want ...string) {
	r.Helper()
	got := s.with("")
	ok := len(got) == len(want)
	for n := range min(len(got), len(want)) {
		at, text, _ := strings.Cut(want[n], " ")
		ok = ok && strings.HasPrefix(got[n], at+" ") && strings.Contains(got[n], text)
	}
	if !ok {
		r.Errorf("logged\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// Two clusters that were away gave two identical lines.
func TestAnInformerIsNamed(t *testing.T) {
	bubble(t, func(r *rig) {
		l := &said{}
		var run informer.RunInfo
		var list informer.ListInfo
		var event informer.EventInfo
		i := informer.New(r.things, informer.Options{Name: "eu", Namespaces: []string{"default"}, Logger: l.logger(), Hooks: informer.Hooks{
			Run:   func(_ context.Context, i informer.RunInfo) func() { run = i; return nil },
			List:  func(_ context.Context, l informer.ListInfo) { list = l },
			Event: func(_ context.Context, e informer.EventInfo) { event = e },
		}})
		ctx, stop := context.WithCancel(r.Context())
		ended := make(chan error)
		go func() { ended <- i.Run(ctx) }()
		r.pass(time.Second)
		r.put("a")
		r.pass(time.Second)
		r.server.Refuse(syscall.ECONNREFUSED)
		r.server.DropWatches()
		r.server.GoAway()
		r.pass(3 * time.Second)
		if lines := l.with(`configmaps.v1 of "eu" in default: watch fails`); len(lines) == 0 {
			t.Errorf("no line names the informer: %q", l.with(""))
		}
		if got, want := i.String(), `informer "eu" of configmaps.v1`; got != want || run.Name != want || run.Status().Name != "eu" {
			t.Errorf("the informer is %s, and %s of %q to hooks, want %s", got, run.Name, run.Status().Name, want)
		}
		if list.Informer != "eu" || event.Informer != "eu" {
			t.Errorf("the list is of %q, and the event of %q", list.Informer, event.Informer)
		}
		if s := i.Status(); s.Name != "eu" || s.Namespaces["default"].Name != "" || !strings.Contains(s.String(), ", name=eu, synced=true") {
			t.Errorf("the status is %v", s)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		err := informer.New(r.things, informer.Options{Name: "eu", PageSize: 1, Namespace: "a/b"}).Run(ctx)
		if want := `run informer "eu" of configmaps.v1: `; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Run returned %v, want %s...", err, want)
		}
	})
}

// A name with a line feed would break log lines, and one that is no UTF-8 metrics.
func TestNamesThatCannotBeShown(t *testing.T) {
	bubble(t, func(r *rig) {
		for _, name := range []string{"a\nb", "\x00", "\xff", "\u202e"} {
			err := informer.New(r.things, informer.Options{Name: name}).Run(r.Context())
			if want := fmt.Sprintf("informer.Options: Name must have printable characters only, got %q", name); err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("Run returned %v, want %s", err, want)
			}
		}
	})
}

// An informer without a hook said nothing of a server that is gone, of a 403 and of a resource that is missing.
func TestAnErrorThatNoHookTakesIsLogged(t *testing.T) {
	for _, test := range []struct {
		name  string
		fault http.HandlerFunc
		text  string
	}{
		{"forbidden", failure(403, "Forbidden", "not you"), "Forbidden (403): not you"},
		{"not found", failure(404, "NotFound", "no such resource"), "NotFound (404): no such resource"},
		{"dead", nil, "refused"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				if test.fault == nil {
					r.server.Refuse(syscall.ECONNREFUSED)
				} else {
					r.on("collection", test.fault)
				}
				var got said
				i := r.running(informer.New(r.things, informer.Options{Logger: got.logger(), Namespace: "web"}))
				r.pass(10 * time.Minute)
				r.heal()
				r.server.Refuse(nil)
				r.pass(time.Minute)
				i.stop()
				lines := got.with("")
				if n := len(lines); n < 5 || n > 9 {
					r.Errorf("%d lines in 10 minutes:\n%s", n, strings.Join(lines, "\n"))
				}
				if first := lines[0]; !strings.HasPrefix(first, "0s ") || !strings.Contains(first, "configmaps.v1 in web: list fails") || !strings.Contains(first, test.text) {
					r.Errorf("the first line is %s", first)
				}
				if second := lines[1]; !strings.Contains(second, " time") || !strings.Contains(second, `"since"=`) {
					r.Errorf("the second line is %s", second)
				}
				if last := lines[len(lines)-1]; !strings.Contains(last, "configmaps.v1 in web: list works again after 10m") || !strings.Contains(last, "attempts") {
					r.Errorf("the last line is %s", last)
				}
			})
		})
	}
}

func TestAWatchThatFailsIsLogged(t *testing.T) {
	bubble(t, func(r *rig) {
		var got said
		i := r.running(informer.New(r.things, informer.Options{Logger: got.logger()}))
		r.on("watch", failure(500, "InternalError", "no luck"))
		r.server.DropWatches()
		r.pass(3 * time.Minute)
		r.heal()
		r.put("a")
		r.pass(time.Minute)
		i.stop()
		if lines := got.with("watch fails"); len(lines) < 3 || len(lines) > 7 || len(got.with("so the informer polls")) < 2 {
			r.Errorf("logged %q", lines)
		}
		if lines := got.with("works again"); len(lines) != 1 || !strings.Contains(lines[0], "configmaps.v1: watch works again, polling ends after ") {
			r.Errorf("logged %q", got.lines)
		}
	})
}

// Poison of a thousand names is two lines, and one more when it is mended.
func TestObjectsThatDoNotDecodeMakeFewLines(t *testing.T) {
	bubble(t, func(r *rig) {
		for n := range 100 {
			r.put(fmt.Sprintf("x%d", n), "bad", "yes")
		}
		var got said
		i := r.running(informer.New(r.things, informer.Options{Logger: got.logger()}))
		r.pass(time.Minute)
		for n := range 100 {
			r.put(fmt.Sprintf("x%d", n))
		}
		r.pass(time.Minute)
		i.stop()
		got.has(r, "0s configmaps.v1: object does not decode", "5s object does not decode, 99 times in 5s", "1m0s configmaps.v1: all objects decode again after 1m0s")
	})
}

// How long objects did not decode counts anew for a namespace that was given up meanwhile.
func TestANamespaceThatWasLeftFailsAnew(t *testing.T) {
	bubble(t, func(r *rig) {
		bad, err := r.raw.Create(r.Context(), unstructured("kube-system", "a", nil, map[string]any{"bad": "yes"}))
		if err != nil {
			r.Fatal(err)
		}
		var got said
		inf := informer.New(r.things, informer.Options{Namespaces: []string{"default", "kube-system"}, Logger: got.logger()})
		i := r.running(inf)
		change := func(namespaces ...string) {
			if err := inf.SetNamespaces(namespaces); err != nil {
				r.Fatal(err)
			}
			r.pass(time.Hour)
		}
		change("default")
		change("default", "kube-system")
		if err := r.raw.Delete(r.Context(), meta.KeyOf(bad), client.DeleteOptions{}); err != nil {
			r.Fatal(err)
		}
		r.pass(time.Second)
		i.stop()
		got.has(r, "0s object does not decode", "1h0m0s object does not decode",
			"2h0m0s object does not decode", // the state in which it was deleted
			"2h0m0s all objects decode again after 1h0m0s")
	})
}

func TestAHandlerThatPanicsIsLogged(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		var got said
		inf := informer.New(r.things, informer.Options{Logger: got.logger()})
		inf.Subscribe(cache.HandlerFuncs[*Thing]{Add: func(*Thing) { panic("oh") }})
		i := r.running(inf)
		r.pass(time.Minute)
		i.stop()
		got.has(r, "0s configmaps.v1: handler fails")
		if len(got.with("goroutine")) != 1 {
			r.Errorf("the line has no stack: %q", got.lines)
		}
	})
}

func TestAHookThatDiscardsSilencesAnInformer(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("x", "bad", "yes")
		var got said
		ctx, cancel := context.WithTimeout(logr.NewContext(r.Context(), got.logger()), time.Hour)
		defer cancel()
		r.on("watch", failure(500, "InternalError", "no luck"))
		inf := informer.New(r.things, informer.Options{OnError: func(error) {}, Logger: got.logger()})
		if err := inf.Run(ctx); err != nil {
			r.Error(err)
		}
		got.has(r)
	})
}

// The logger of the context that informer.Run is given is that of all that it runs.
func TestTheLoggerOfRunsContextIsUsed(t *testing.T) {
	bubble(t, func(r *rig) {
		r.on("collection", failure(403, "Forbidden", "not you"))
		var got said
		ctx, cancel := context.WithTimeout(logr.NewContext(r.Context(), got.logger()), time.Second)
		defer cancel()
		ctl := controller.New("c", controller.Options{}, newReconciled().reconcile, controller.Watch(informer.New(r.things, informer.Options{})))
		if err := informer.Run(ctx, ctl); err != nil {
			r.Error(err)
		}
		if len(got.with("list fails")) == 0 {
			r.Errorf("logged %q", got.lines)
		}
	})
}

// A logger that asks the informer must not wait for itself.
func TestALoggerMayAskTheInformer(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("x", "bad", "yes")
		var inf *informer.Informer[*Thing]
		var asked int
		inf = informer.New(r.things, informer.Options{Namespaces: []string{"default"}, Logger: funcr.New(func(_, _ string) {
			asked++
			_, _ = inf.Status(), inf.Unsynced()
			inf.Subscribe(nil).Close()
			if err := inf.SetNamespaces([]string{"default"}); err != nil {
				r.Error(err)
			}
		}, funcr.Options{Verbosity: 9})})
		i := r.running(inf)
		r.pass(time.Minute)
		i.stop()
		if asked == 0 {
			r.Error("nothing was logged")
		}
	})
}

// Namespaces by the hundred that are refused make a bounded number of lines.
func TestManyNamespacesMakeFewLines(t *testing.T) {
	bubble(t, func(r *rig) {
		r.on("collection", failure(403, "Forbidden", "not you"))
		var names []string
		for n := range 200 {
			names = append(names, fmt.Sprintf("n%d", n))
		}
		var got said
		i := r.running(informer.New(r.things, informer.Options{Namespaces: names, Logger: got.logger()}))
		r.pass(time.Minute)
		i.stop()
		if n := len(got.lines); n < 2 || n > 40 {
			r.Errorf("%d lines in a minute for 200 namespaces", n)
		}
	})
}

// A user with a hook hears of errors by it; errors of the others are logged.
func TestErrorsOfASharedInformerAreLoggedForUsersWithoutAHook(t *testing.T) {
	for _, test := range []struct {
		name  string
		hooks []bool
		want  bool
	}{
		{"all have hooks", []bool{true, true}, false},
		{"one has none", []bool{true, false}, true},
		{"none has one", []bool{false, false}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.on("collection", failure(403, "Forbidden", "not you"))
				var got said
				shared := &informer.Factory{}
				all := []informer.Runner{shared}
				told := make([]int, len(test.hooks))
				for n, hook := range test.hooks {
					o := informer.Options{Logger: got.logger()}
					if hook {
						o.OnError = func(error) { told[n]++ }
					}
					all = append(all, informer.Share(shared, r.things, o))
				}
				i := r.together(all...)
				r.pass(2 * time.Minute) // a user who came after one error hears of the next
				i.stop()
				if len(got.lines) > 0 != test.want {
					r.Errorf("logged %q", got.lines)
				}
				for n, hook := range test.hooks {
					if told[n] > 0 != hook {
						r.Errorf("hook %d was called %d times", n, told[n])
					}
				}
			})
		})
	}
}

// A logger was called with a lock of the informer held when a change of the namespaces took away the last object that did not
// decode: one that used the informer held it for ever. Now the end of that is not worth a line.
func TestALoggerMayUseTheInformerWhenNamespacesChange(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("good")
		obj := unstructured("kube-system", "bad", nil, map[string]any{"bad": "yes"})
		if _, err := r.raw.Create(r.Context(), obj); err != nil {
			r.Fatal(err)
		}
		var (
			inf   *informer.Informer[*Thing]
			lines []string
		)
		logger := funcr.New(func(_, args string) {
			lines = append(lines, args)
			if err := inf.Run(r.Context()); err == nil { // it is running, and says so
				r.Error("a second Run has returned nil")
			}
		}, funcr.Options{})
		inf = informer.New(r.things, informer.Options{Namespaces: []string{"default", "kube-system", "web"}, Logger: logger})
		i := r.running(inf)
		r.pass(time.Second)
		if err := inf.SetNamespaces([]string{"default", "web"}); err != nil {
			r.Fatal(err)
		}
		r.pass(time.Second)
		if len(lines) != 1 || !strings.Contains(lines[0], "object does not decode") {
			r.Errorf("it has logged %q", lines)
		}
		i.stop()
	})
}

// A namespace that failed when it was left kept its place among what is logged, and its failure was never over.
func TestANamespaceThatIsLeftFailsNoMore(t *testing.T) {
	bubble(t, func(r *rig) {
		r.only("kube-system", failure(403, "Forbidden", "not you"))
		var got said
		inf := informer.New(r.things, informer.Options{Namespaces: []string{"default", "kube-system"}, Logger: got.logger()})
		i := r.running(inf)
		r.pass(time.Second)
		if err := inf.SetNamespaces([]string{"default"}); err != nil {
			r.Fatal(err)
		}
		r.pass(time.Hour)
		r.heal()
		if err := inf.SetNamespaces([]string{"default", "kube-system"}); err != nil {
			r.Fatal(err)
		}
		r.pass(time.Second)
		if lines := got.with("works again"); len(lines) > 0 || len(got.with("Forbidden")) != 1 {
			r.Errorf("it has logged %q, of a namespace that was left an hour ago", append(lines, got.with("Forbidden")...))
		}
		i.stop()
	})
}

// The first event of a watch shows that watches work, before the watch has been open for a second.
func TestTheFirstEventOfAWatchEndsThePollingInTheLog(t *testing.T) {
	bubble(t, func(r *rig) {
		r.unwatched(failure(403, "Forbidden", "no watch"))
		var got said
		i := r.running(informer.New(r.things, informer.Options{Logger: got.logger()}))
		r.pass(time.Minute)
		r.heal()
		r.within(time.Minute, "there is a watch", func() bool { return r.server.Watches() == 1 })
		r.put("a")
		r.pass(time.Minute)
		i.stop()
		if lines := got.with("works again"); len(lines) != 1 || !strings.Contains(lines[0], "configmaps.v1: watch works again, polling ends after ") {
			r.Errorf("logged %q", got.lines)
		}
	})
}
