package ctrlcache_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	bowline "github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	ourerrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var pods = bowline.Type[*corev1.Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}

func (w *world) source() bowline.Resource[*corev1.Pod] {
	w.t.Helper()
	c, err := bowline.New(w.server.Config())
	must(w.t, err)
	w.t.Cleanup(c.Close)
	return bowline.For(c, pods)
}

// runs runs an informer until the test ends.
func (w *world) runs(inf toolscache.SharedIndexInformer) {
	ctx, stop := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); inf.RunWithContext(ctx) }()
	w.t.Cleanup(func() { stop(); <-done })
	synctest.Wait()
}

func sorted(s []string) string { return strings.Join(slices.Sorted(slices.Values(s)), " ") }

func TestAnInformerIsASharedIndexInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		w.create(namespace("web"), pod("default", "a", "n1"), pod("web", "b", "n1", "app", "web"), pod("web", "c", "n2"))
		inf := informer.New(w.source(), informer.Options{AllowEarlyReads: true})
		shared := ctrlcache.Informer(inf)
		byNode := func(obj any) ([]string, error) { return []string{obj.(*corev1.Pod).Spec.NodeName}, nil }
		must(t, shared.AddIndexers(toolscache.Indexers{"node": byNode}))
		if shared.HasSynced() || shared.GetController().HasSynced() {
			t.Error("it is synced before it runs")
		}
		w.runs(shared)
		if !shared.HasSynced() || shared.IsStopped() || shared.LastSyncResourceVersion() != inf.Reader().ResourceVersion() {
			t.Errorf("synced %v, stopped %v, version %q", shared.HasSynced(), shared.IsStopped(), shared.LastSyncResourceVersion())
		}
		shared.RunWithContext(t.Context()) // a second one returns
		shared.GetController().RunWithContext(t.Context())
		must(t, shared.AddIndexers(toolscache.Indexers{"twice": func(any) ([]string, error) { return []string{"x", "y"}, nil }}))

		x := shared.GetIndexer()
		if got := sorted(x.ListKeys()); got != "default/a web/b web/c" || len(x.List()) != 3 {
			t.Errorf("keys %q of %d", got, len(x.List()))
		}
		obj, found, err := x.GetByKey("web/b")
		if got, _ := obj.(*corev1.Pod); err != nil || !found || got.Name != "b" {
			t.Errorf("get by key: %v, %v, %v", obj, found, err)
		}
		if same, _, _ := x.Get(pod("web", "b", "")); same != obj {
			t.Error("get by object is another")
		}
		if own, _ := inf.Reader().Get(meta.Key{Namespace: "web", Name: "b"}); own != obj {
			t.Error("the reader has another")
		}
		for _, key := range []string{"web/x", "b", "a/b/c", ""} {
			if obj, found, err := x.GetByKey(key); obj != nil || found || err != nil {
				t.Errorf("get %q: %v, %v, %v", key, obj, found, err)
			}
		}
		byIndex := func(name, value, want string) {
			t.Helper()
			keys, err := x.IndexKeys(name, value)
			objs, err2 := x.ByIndex(name, value)
			if got := sorted(keys); got != want || err != nil || err2 != nil || len(objs) != len(keys) {
				t.Errorf("%s %s: %q, %d objects, %v, %v", name, value, got, len(objs), err, err2)
			}
		}
		byIndex("node", "n1", "default/a web/b")
		byIndex("node", "none", "")
		byIndex(toolscache.NamespaceIndex, "web", "web/b web/c")
		if objs, err := x.Index("twice", pod("", "", "")); len(objs) != 3 || err != nil {
			t.Errorf("the index with two values has %d, %v", len(objs), err)
		}
		for name, want := range map[string]string{"node": "n1 n2", toolscache.NamespaceIndex: "default web", "none": ""} {
			if got := sorted(x.ListIndexFuncValues(name)); got != want {
				t.Errorf("values of %s: %q", name, got)
			}
		}
		if _, err := x.ByIndex("none", ""); err == nil {
			t.Error("an index that is not there is read")
		}
		if err := x.AddIndexers(toolscache.Indexers{"node": byNode, "more": byNode}); err == nil || x.GetIndexers()["more"] != nil {
			t.Errorf("an index of the same name: %v", err)
		}
		for what, err := range map[string]error{"add": x.Add(obj), "update": x.Update(obj), "delete": x.Delete(obj), "replace": x.Replace(nil, "")} {
			if err == nil || len(x.List()) != 3 {
				t.Errorf("%s: %v", what, err)
			}
		}
		lister := corelisters.NewPodLister(x)
		if found, err := lister.Pods("web").List(labels.SelectorFromSet(labels.Set{"app": "web"})); len(found) != 1 || err != nil {
			t.Errorf("the lister has %v, %v", found, err)
		}
		if _, err := lister.Pods("web").Get("x"); !apierrors.IsNotFound(err) {
			t.Errorf("the lister says %v", err)
		}
		if err := shared.SetTransform(nil); err == nil {
			t.Error("a transform is set")
		}
		var r recorder
		_, err = shared.AddEventHandlerWithResyncPeriod(&r, time.Hour)
		must(t, err)
		r.want(t, "the present objects", "add a true, add b true, add c true")
		must(t, w.Delete(t.Context(), pod("web", "c", ""), client.GracePeriodSeconds(0)))
		if got := r.take(true); got != "delete c" && got != "delete c, update c false" { // the server first says that it is being deleted
			t.Errorf("a deletion: got %q", got)
		}
		wait(t, 61*time.Minute)
		r.want(t, "a resync", "update a true, update b true")
	})
}

func TestANewInformerTakesItsTransformAndItsErrorHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var allow atomic.Bool
		w := newWorld(t, clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) { return allow.Load() || a.Verb == "create", "not yet" }})
		w.create(pod("default", "a", "n1"), pod("default", "b", "n1"))
		others := make(chan error, 10)
		shared, inf := ctrlcache.NewInformer(w.source(), informer.Options{AllowEarlyReads: true, OnError: func(err error) { others <- err }}, time.Hour)
		bad := errors.New("not this one")
		must(t, shared.SetTransform(func(in any) (any, error) {
			p := in.(*corev1.Pod)
			p.Spec = corev1.PodSpec{}
			if p.Name == "b" {
				return nil, bad
			}
			return p, nil
		}))
		errs := make(chan error, 100)
		must(t, shared.SetWatchErrorHandler(func(r *toolscache.Reflector, err error) {
			if !strings.Contains(r.TypeDescription(), "pods") {
				t.Errorf("the reflector is of %q", r.TypeDescription())
			}
			errs <- err
		}))
		w.runs(shared)
		if err := <-errs; !apierrors.IsForbidden(err) {
			t.Errorf("the error is %v", err)
		} else if err := ourerrors.Ignore(err, ourerrors.Forbidden); err != nil { // one failure, known to both packages of errors
			t.Errorf("Ignore returns %v", err)
		}
		if inf.Status().Synced || shared.HasSynced() {
			t.Error("it is synced")
		}
		allow.Store(true)
		wait(t, time.Minute)
		if err := <-others; !errors.Is(err, bad) {
			t.Errorf("the other error is %v", err)
		}
		list := shared.GetStore().List()
		if len(list) != 1 || list[0].(*corev1.Pod).Spec.NodeName != "" || !inf.Status().Synced || !shared.HasSynced() {
			t.Errorf("the store has %v", list)
		}
		if err := shared.SetTransform(nil); err == nil || !strings.Contains(err.Error(), "already started") {
			t.Errorf("a transform while it runs: %v", err)
		}
		var r recorder
		_, err := shared.AddEventHandler(&r)
		must(t, err)
		r.want(t, "the present objects", "add a true")
		wait(t, 61*time.Minute)
		r.want(t, "a resync", "update a true")
	})
}

// An error that no handler takes goes to the logger of Run's context.
func TestErrorsWithoutAHandlerAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) { return false, "not you" }})
		shared, _ := ctrlcache.NewInformer(w.source(), informer.Options{}, 0)
		var lines []string
		log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
		ctx, stop := context.WithCancel(logr.NewContext(t.Context(), log))
		done := make(chan struct{})
		go func() { defer close(done); shared.RunWithContext(ctx) }()
		wait(t, time.Second)
		stop()
		<-done
		if text := strings.Join(lines, "\n"); !strings.Contains(text, "the informer fails") || !strings.Contains(text, "not you") {
			t.Errorf("the log is %q", text)
		}
	})
}

func TestRunEndsWithItsChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		shared := ctrlcache.Informer(informer.New(w.source(), informer.Options{}))
		stop, done := make(chan struct{}), make(chan struct{})
		go func() { defer close(done); shared.Run(stop) }()
		synctest.Wait()
		if !shared.HasSynced() || !toolscache.IsDone(shared.HasSyncedChecker()) {
			t.Error("it is not synced")
		}
		close(stop)
		<-done
		if !shared.IsStopped() {
			t.Error("it is not stopped")
		}
		if _, err := shared.AddEventHandler(&recorder{}); err == nil {
			t.Error("it takes a handler")
		}
	})
}
