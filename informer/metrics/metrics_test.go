package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/recorder"
	"github.com/bowline-go/bowline/client/shards"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/informer/metrics"
	"github.com/bowline-go/bowline/patch"
)

type configMap struct {
	meta.ObjectMeta `json:"metadata"`
	Data            map[string]string `json:"data,omitempty"`
}

var configMaps = client.Type[*configMap]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// world is a server, a client of it, and a registry.
type world struct {
	*testing.T
	server   *clienttest.Server
	client   *client.Client
	registry *prometheus.Registry
	ctx      context.Context
}

func bubble(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		registry := prometheus.NewPedanticRegistry()
		ctx, err := metrics.Context(t.Context(), registry)
		if err != nil {
			t.Fatal(err)
		}
		f(&world{T: t, server: server, client: c, registry: registry, ctx: ctx})
	})
}

// value returns the value of a series, such as `name{a="b"}`, with its labels in order; of a histogram, the number of
// observations.
func (w *world) value(series string) (float64, bool) {
	w.Helper()
	families, err := w.registry.Gather()
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				// To Prometheus an empty label is no label. That of informers is empty without a name.
				if l.GetName() != "host" && (l.GetName() != "informer" || l.GetValue() != "") {
					labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
				}
			}
			if f.GetName()+"{"+strings.Join(labels, ",")+"}" != series {
				continue
			}
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				return m.GetCounter().GetValue(), true
			case dto.MetricType_GAUGE:
				return m.GetGauge().GetValue(), true
			case dto.MetricType_HISTOGRAM:
				return float64(m.GetHistogram().GetSampleCount()), true
			}
		}
	}
	return 0, false
}

// has fails unless each series has its value.
func (w *world) has(want map[string]float64) {
	w.Helper()
	for series, v := range want {
		if got, found := w.value(series); !found || got != v {
			w.Errorf("%s is %v (%v), want %v", series, got, found, v)
		}
	}
}

// A test has no build information of its dependencies; internal/proof/release runs a program that has.
func TestMetricsSayTheVersion(t *testing.T) {
	bubble(t, func(w *world) {
		w.has(map[string]float64{`bowline_build_info{version="unknown"}`: 1})
	})
}

func TestMetricsOfRequests(t *testing.T) {
	bubble(t, func(w *world) {
		r := client.For(w.client, configMaps)
		fails := 2
		w.server.Intercept(func(*http.Request) http.HandlerFunc {
			switch fails--; {
			case fails == 1:
				return clienttest.TooManyRequests(time.Second)
			case fails == -1:
				return clienttest.Raw("nonsense\r\n\r\n")
			}
			return nil
		})
		if _, err := r.List(w.ctx, client.ListOptions{}); err != nil {
			w.Fatal(err)
		}
		if _, err := r.Get(w.ctx, meta.Key{Namespace: "default", Name: "a"}); err == nil {
			w.Fatal("nonsense is an object")
		}
		if _, err := r.Create(w.ctx, &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}); err != nil {
			w.Fatal(err)
		}
		if _, err := r.List(w.Context(), client.ListOptions{}); err != nil { // not with the context
			w.Fatal(err)
		}
		w.has(map[string]float64{
			`rest_client_requests_total{code="429",method="GET"}`:      1,
			`rest_client_requests_total{code="<error>",method="GET"}`:  1,
			`rest_client_requests_total{code="200",method="GET"}`:      1,
			`rest_client_requests_total{code="201",method="POST"}`:     1,
			`rest_client_request_duration_seconds{verb="GET"}`:         3,
			`rest_client_rate_limiter_duration_seconds{verb="POST"}`:   1,
			`rest_client_request_retries_total{code="429",verb="GET"}`: 1,
		})
	})
}

func TestMetricsOfInformers(t *testing.T) {
	bubble(t, func(w *world) {
		r := client.For(w.client, configMaps)
		create := func(name string) {
			w.Helper()
			if _, err := r.Create(w.Context(), &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}); err != nil {
				w.Fatal(err)
			}
		}
		create("a")
		inf := informer.New(r, informer.Options{Namespace: "default", OnError: func(error) {}})
		release := make(chan struct{})
		slow := informer.New(r, informer.Options{Namespace: "kube-system"})
		slow.Subscribe(cache.HandlerFuncs[*configMap]{Add: func(*configMap) { <-release }})
		ctx, stop := context.WithCancel(w.ctx)
		ended := make(chan error)
		go func() { ended <- informer.Run(ctx, inf, slow) }()
		synctest.Wait()
		create("b")
		synctest.Wait()
		if _, err := r.Create(w.Context(), &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "kube-system", Name: "x"}}); err != nil {
			w.Fatal(err)
		}
		<-time.After(10 * time.Second)
		w.has(map[string]float64{
			`bowline_informer_objects{resource="configmaps.v1"}`:                                      3,
			`bowline_informer_synced{resource="configmaps.v1"}`:                                       1,
			`bowline_informer_events_total{resource="configmaps.v1"}`:                                 2,
			`bowline_informer_lists_total{cause="Initial",resource="configmaps.v1",result="success"}`: 2,
			`bowline_informer_list_duration_seconds{resource="configmaps.v1"}`:                        2,
			`bowline_informer_event_age_seconds{resource="configmaps.v1"}`:                            10,
			`bowline_informer_undecodable_objects{resource="configmaps.v1"}`:                          0,
			`bowline_informer_backlog{resource="configmaps.v1"}`:                                      1,
			`bowline_informer_backlog_age_seconds{resource="configmaps.v1"}`:                          10,
		})
		close(release)
		w.server.FailWatches(meta.Status{Code: http.StatusGone, Reason: "Expired"})
		<-time.After(time.Minute)
		w.has(map[string]float64{
			`bowline_informer_relists_total{cause="Expired",resource="configmaps.v1"}`: 2,
			`bowline_informer_backlog{resource="configmaps.v1"}`:                       0,
		})
		stop()
		if err := <-ended; err != nil {
			w.Error(err)
		}
		// Counters do not go down when informers end, and begin again where they were.
		counters := map[string]float64{
			`bowline_informer_events_total{resource="configmaps.v1"}`:                  2,
			`bowline_informer_relists_total{cause="Expired",resource="configmaps.v1"}`: 2,
		}
		w.has(counters)
		if _, found := w.value(`bowline_informer_objects{resource="configmaps.v1"}`); found {
			w.Error("there are objects of informers that do not run")
		}
		ctx, stop = context.WithCancel(w.ctx)
		go func() { ended <- informer.Run(ctx, inf) }()
		synctest.Wait()
		w.has(counters)
		stop()
		if err := <-ended; err != nil {
			w.Error(err)
		}
		w.has(counters)
	})
}

func TestASecondCallOnARegistryIsAnError(t *testing.T) {
	registry := prometheus.NewRegistry()
	if _, err := metrics.Context(t.Context(), registry); err != nil {
		t.Fatal(err)
	}
	if ctx, err := metrics.Context(t.Context(), registry); err == nil || ctx != nil || !strings.HasPrefix(err.Error(), "register metrics: ") {
		t.Errorf("got %v, %v", ctx, err)
	}
}

func TestMetricsOfControllers(t *testing.T) {
	bubble(t, func(w *world) {
		outcomes := make(chan any)
		done := make(chan struct{})
		fn := func(ctx context.Context, key string) (controller.Result, error) {
			switch o := (<-outcomes).(type) {
			case error:
				return controller.Result{}, o
			case time.Duration:
				return controller.Result{RequeueAfter: o}, nil
			case string:
				panic(o)
			case bool:
				<-ctx.Done()
				return controller.Result{}, ctx.Err()
			}
			return controller.Result{}, nil
		}
		ctl := controller.New("c", controller.Options{Workers: 3, Timeout: 3 * time.Minute, OnError: func(error) {}}, fn, controller.Every(time.Hour, "key"))
		ctx, stop := context.WithCancel(w.ctx)
		go func() {
			defer close(done)
			if err := informer.Run(ctx, ctl); err != nil {
				w.Error(err)
			}
		}()
		synctest.Wait()
		w.has(map[string]float64{
			`controller_runtime_max_concurrent_reconciles{controller="c"}`:      3,
			`controller_runtime_active_workers{controller="c"}`:                 1,
			`controller_runtime_reconcile_errors_total{controller="c"}`:         0,
			`controller_runtime_reconcile_total{controller="c",result="error"}`: 0,
		})
		<-time.After(30 * time.Second)
		w.has(map[string]float64{
			`workqueue_unfinished_work_seconds{controller="c",name="c"}`:           30,
			`workqueue_longest_running_processor_seconds{controller="c",name="c"}`: 30,
		})
		for _, o := range []any{errors.New("no"), "panic", true, controller.Terminal(errors.New("never"))} {
			outcomes <- o
			<-time.After(2 * time.Minute)
		}
		outcomes <- nil
		outcomes <- 30 * time.Second
		<-time.After(10 * time.Second)
		w.has(map[string]float64{
			`controller_runtime_reconcile_total{controller="c",result="error"}`:         4,
			`controller_runtime_reconcile_total{controller="c",result="success"}`:       1,
			`controller_runtime_reconcile_total{controller="c",result="requeue_after"}`: 1,
			`controller_runtime_reconcile_errors_total{controller="c"}`:                 4,
			`controller_runtime_terminal_reconcile_errors_total{controller="c"}`:        1,
			`controller_runtime_reconcile_panics_total{controller="c"}`:                 1,
			`controller_runtime_reconcile_timeouts_total{controller="c"}`:               1,
			`controller_runtime_reconcile_time_seconds{controller="c"}`:                 6,
			`bowline_controller_conflicts_total{controller="c"}`:                        0,
			`workqueue_retries_total{controller="c",name="c"}`:                          3,
			`workqueue_adds_total{controller="c",name="c"}`:                             6,
			`workqueue_queue_duration_seconds{controller="c",name="c"}`:                 6,
			`workqueue_depth{controller="c",name="c",priority="0"}`:                     0,
			`workqueue_work_duration_seconds{controller="c",name="c"}`:                  6,
			`bowline_controller_delayed_keys{controller="c"}`:                           1,
			`bowline_controller_oldest_key_seconds{controller="c"}`:                     0,
		})
		outcomes <- nil
		stop()
		<-done
		if _, found := w.value(`controller_runtime_active_workers{controller="c"}`); found {
			w.Error("a controller that does not run has workers")
		}
	})
}

// run runs something with the metrics, until the function that it returns is called.
func (w *world) run(what informer.Runner) (stop func()) {
	ctx, cancel := context.WithCancel(w.ctx)
	ended := make(chan error)
	go func() { ended <- what.Run(ctx) }()
	synctest.Wait()
	return func() {
		w.Helper()
		cancel()
		if err := <-ended; err != nil {
			w.Error(err)
		}
	}
}

// Keys that wait for a worker are counted by priority, and there are not more series than dashboards bear.
func TestTheDepthOfAQueueByPriority(t *testing.T) {
	bubble(t, func(w *world) {
		gate := make(chan struct{}, 100)
		fn := func(_ context.Context, key int) (controller.Result, error) {
			<-gate
			return controller.Result{RequeueAfter: time.Hour, Priority: key}, nil
		}
		open := func() {
			for range 41 {
				gate <- struct{}{}
			}
			<-time.After(time.Minute)
		}
		keys := make([]int, 41)
		for i := range keys {
			keys[i] = i
		}
		stop := w.run(controller.New("c", controller.Options{}, fn, controller.Every(1000*time.Hour, keys...)))
		depth := func(label string) float64 {
			v, _ := w.value(fmt.Sprintf(`workqueue_depth{controller="c",name="c",priority=%q}`, label))
			return v
		}
		if n := depth("0"); n != 40 { // one is in progress
			t.Errorf("%v keys are ready, want 40", n)
		}
		open()
		<-time.After(time.Hour)
		sum, others := 0.0, depth("exceeded_cardinality_limit")
		for p := range 41 {
			sum += depth(fmt.Sprint(p))
		}
		if sum+others != 40 || others < 10 {
			t.Errorf("%v keys have series of their priorities, and %v share one; want 40 in all", sum, others)
		}
		open()
		w.has(map[string]float64{`workqueue_depth{controller="c",name="c",priority="exceeded_cardinality_limit"}`: 0})
		stop()
	})
}

// The waits of controller.Fresh are measured.
func TestMetricsOfFreshReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Replicas: 1})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		registry := prometheus.NewPedanticRegistry()
		ctx, err := metrics.Context(t.Context(), registry)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, server: server, client: c, registry: registry, ctx: ctx}
		maps := client.For(c, configMaps)
		inf := informer.New(maps, informer.Options{})
		stopInformer := w.run(inf)
		runs := 0
		fn := func(ctx context.Context, _ string) (controller.Result, error) {
			if runs++; runs > 3 {
				return controller.Result{}, nil
			}
			_, err := maps.Create(ctx, &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: fmt.Sprint("a", runs)}})
			return controller.Result{RequeueAfter: time.Nanosecond}, err
		}
		server.Replica(0).SetLag(0, 20*time.Second)
		stop := w.run(controller.New("c", controller.Options{FreshTimeout: 30 * time.Second, OnError: func(error) {}}, fn,
			controller.Fresh[string](inf), controller.Every(time.Hour, "key")))
		<-time.After(time.Second)
		w.has(map[string]float64{`bowline_controller_held_keys{controller="c"}`: 1})
		<-time.After(30 * time.Second)
		server.Replica(0).SetLag(1000, 0)
		<-time.After(2 * time.Minute)
		w.has(map[string]float64{
			`bowline_controller_held_keys{controller="c"}`:              0,
			`bowline_controller_fresh_wait_seconds{controller="c"}`:     3,
			`bowline_controller_stale_reconciles_total{controller="c"}`: 2,
			// Each of three waits makes the key ready once more.
			`workqueue_adds_total{controller="c",name="c"}`:             7,
			`workqueue_queue_duration_seconds{controller="c",name="c"}`: 7,
			`workqueue_work_duration_seconds{controller="c",name="c"}`:  4,
		})
		stop()
		stopInformer()
	})
}

// Somebody undoes each write of a controller.
func TestMetricsOfFights(t *testing.T) {
	bubble(t, func(w *world) {
		maps := client.For(w.client, configMaps)
		key := meta.Key{Namespace: "default", Name: "a"}
		set := func(ctx context.Context, manager, value string) error {
			_, err := maps.With(client.WriteOptions{FieldManager: manager}).Patch(ctx, key, patch.Merge(map[string]any{"data": map[string]any{"n": value}}))
			return err
		}
		if _, err := maps.Create(w.Context(), &configMap{ObjectMeta: key.ObjectMeta(), Data: map[string]string{"n": "0"}}); err != nil {
			w.Fatal(err)
		}
		fn := func(ctx context.Context, key meta.Key) (controller.Result, error) {
			return controller.Result{RequeueAfter: 10 * time.Second}, set(ctx, "us", "1")
		}
		stop := w.run(controller.New("c", controller.Options{OnError: func(error) {}}, fn, controller.Every(1000*time.Hour, key)))
		w.has(map[string]float64{
			`bowline_controller_fights_total{controller="c"}`: 0,
			`bowline_controller_fighting{controller="c"}`:     0,
		})
		for range 20 {
			<-time.After(5 * time.Second)
			if err := set(w.Context(), "them", "2"); err != nil {
				w.Fatal(err)
			}
			<-time.After(5 * time.Second)
		}
		w.has(map[string]float64{
			`bowline_controller_fights_total{controller="c"}`: 1,
			`bowline_controller_fighting{controller="c"}`:     1,
		})
		<-time.After(time.Hour)
		w.has(map[string]float64{
			`bowline_controller_fights_total{controller="c"}`: 1,
			`bowline_controller_fighting{controller="c"}`:     0,
		})
		stop()
	})
}

func TestMetricsOfLeaderElections(t *testing.T) {
	bubble(t, func(w *world) {
		elector := func(identity string) *leader.Elector {
			return leader.New(w.client, leader.Options{Namespace: "default", Name: "lease", Identity: identity, OnError: func(error) {}})
		}
		lead := func(ctx context.Context) error { <-ctx.Done(); return nil }
		ctx, stop := context.WithCancel(w.ctx)
		ended := make(chan error)
		go func() { ended <- elector("a").Run(ctx, lead) }()
		<-time.After(11 * time.Second)
		w.has(map[string]float64{
			`leader_election_master_status{name="lease"}`:           1,
			`leader_election_slowpath_total{name="lease"}`:          0,
			`bowline_leader_lost_total{name="lease"}`:               0,
			`bowline_leader_renewal_duration_seconds{name="lease"}`: 5,
		})
		leases := client.For(w.client, client.Type[*meta.Unstructured]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"})
		edit := func(change func(*meta.Unstructured) error) {
			w.Helper()
			if _, err := leases.Modify(w.Context(), meta.Key{Namespace: "default", Name: "lease"}, change); err != nil {
				w.Fatal(err)
			}
		}
		edit(func(l *meta.Unstructured) error { return meta.SetNested(l, "b", "metadata", "labels", "a") })
		<-time.After(3 * time.Second)
		w.has(map[string]float64{`leader_election_slowpath_total{name="lease"}`: 1})
		stop()
		if err := <-ended; err != nil {
			w.Error(err)
		}
		w.has(map[string]float64{`leader_election_master_status{name="lease"}`: 0})

		go func() { ended <- elector("b").Run(w.ctx, lead) }()
		<-time.After(5 * time.Second)
		w.has(map[string]float64{`leader_election_master_status{name="lease"}`: 1})
		edit(func(l *meta.Unstructured) error { return meta.SetNested(l, "c", "spec", "holderIdentity") })
		if err := <-ended; err == nil {
			w.Error("the lease was not lost")
		}
		w.has(map[string]float64{
			`leader_election_master_status{name="lease"}`: 0,
			`bowline_leader_lost_total{name="lease"}`:     1,
		})
	})
}

func TestMetricsOfShards(t *testing.T) {
	bubble(t, func(w *world) {
		group := func(identity string, weight int) *shards.Group {
			return shards.New(w.client, shards.Options{Namespace: "default", Name: "group", Identity: identity, Weight: weight, OnError: func(error) {}})
		}
		run := func(ctx context.Context, g *shards.Group) (stop func()) {
			ctx, cancel := context.WithCancel(ctx)
			ended := make(chan error)
			go func() { ended <- g.Run(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil }) }()
			<-time.After(time.Second)
			return func() {
				w.Helper()
				cancel()
				if err := <-ended; err != nil {
					w.Error(err)
				}
			}
		}
		a := group("a", 1)
		caches := a.Follow("caches")
		caches.Have(meta.AllRanges())
		stop := run(w.ctx, a)
		w.has(map[string]float64{
			`bowline_shards_ranges{name="group"}`:              256,
			`bowline_shards_due_ranges{name="group"}`:          256,
			`bowline_shards_members{name="group"}`:             1,
			`bowline_shards_silent_members{name="group"}`:      0,
			`bowline_shards_weight{name="group"}`:              1,
			`bowline_shards_waiting_ranges{name="group"}`:      0,
			`bowline_shards_unready_ranges{name="group"}`:      0,
			`bowline_shards_unowned_ranges{name="group"}`:      0,
			`bowline_shards_gained_ranges_total{name="group"}`: 256,
			`bowline_shards_lost_ranges_total{name="group"}`:   0,
			`bowline_shards_lost_total{name="group"}`:          0,
		})
		stopOther := run(w.Context(), group("b", 3))
		has, _ := w.value(`bowline_shards_ranges{name="group"}`)
		if has < 40 || has > 90 {
			t.Errorf("a replica of weight 1 beside one of 3 has %v ranges", has)
		}
		w.has(map[string]float64{
			`bowline_shards_due_ranges{name="group"}`:        64,
			`bowline_shards_members{name="group"}`:           2,
			`bowline_shards_lost_ranges_total{name="group"}`: 256 - has,
			`bowline_shards_lost_total{name="group"}`:        0,
		})
		leases := client.For(w.client, client.Type[*meta.Unstructured]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"})
		if err := leases.Delete(w.Context(), meta.Key{Namespace: "default", Name: "group-b"}, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.has(map[string]float64{
			`bowline_shards_members{name="group"}`:        2, // it has joined again
			`bowline_shards_silent_members{name="group"}`: 1,
			`bowline_shards_due_ranges{name="group"}`:     64,
		})
		// The other one leaves, and waits for this one to get ready for its ranges.
		<-time.After(time.Minute)
		caches.Have(a.Status().Ranges)
		left := make(chan struct{})
		go func() {
			defer close(left)
			stopOther()
		}()
		<-time.After(time.Second)
		w.has(map[string]float64{
			`bowline_shards_members{name="group"}`:        2,
			`bowline_shards_silent_members{name="group"}`: 0,
			`bowline_shards_due_ranges{name="group"}`:     256,
			`bowline_shards_unready_ranges{name="group"}`: 256 - has,
		})
		caches.Have(meta.AllRanges())
		<-left
		<-time.After(time.Minute)
		w.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.Reset() })
		<-time.After(time.Minute)
		w.has(map[string]float64{
			`bowline_shards_ranges{name="group"}`:              0,
			`bowline_shards_due_ranges{name="group"}`:          0,
			`bowline_shards_members{name="group"}`:             0,
			`bowline_shards_gained_ranges_total{name="group"}`: 512 - has,
			`bowline_shards_lost_ranges_total{name="group"}`:   512 - has,
			`bowline_shards_lost_total{name="group"}`:          1,
		})
		w.server.Intercept(nil)
		<-time.After(time.Minute)
		stop()
		w.has(map[string]float64{
			`bowline_shards_gained_ranges_total{name="group"}`: 768 - has,
			`bowline_shards_lost_ranges_total{name="group"}`:   768 - has,
			`bowline_shards_lost_total{name="group"}`:          1,
		})
		if _, found := w.value(`bowline_shards_ranges{name="group"}`); found {
			t.Error("a group that does not run has ranges")
		}
	})
}

// Informers of two clusters shared a series, so nobody could tell which of them was away.
func TestNamedInformersHaveSeparateSeries(t *testing.T) {
	bubble(t, func(w *world) {
		if _, err := client.For(w.client, configMaps).Create(w.ctx, &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}); err != nil {
			w.Fatal(err)
		}
		ctx, stop := context.WithCancel(w.ctx)
		var runs sync.WaitGroup
		for _, name := range []string{"eu", "us"} {
			inf := informer.New(client.For(w.client, configMaps), informer.Options{Name: name, Namespace: map[string]string{"eu": "default", "us": "kube-system"}[name]})
			runs.Go(func() {
				if err := inf.Run(ctx); err != nil {
					w.Error(err)
				}
			})
		}
		synctest.Wait()
		w.has(map[string]float64{
			`bowline_informer_objects{informer="eu",resource="configmaps.v1"}`:                                      1,
			`bowline_informer_objects{informer="us",resource="configmaps.v1"}`:                                      0,
			`bowline_informer_synced{informer="us",resource="configmaps.v1"}`:                                       1,
			`bowline_informer_lists_total{cause="Initial",informer="eu",resource="configmaps.v1",result="success"}`: 1,
			`bowline_informer_list_duration_seconds{informer="us",resource="configmaps.v1"}`:                        1,
		})
		stop()
		runs.Wait()
		w.has(map[string]float64{`bowline_informer_events_total{informer="eu",resource="configmaps.v1"}`: 0})
	})
}

// A cache of a share has its ranges, by where they are selected.
func TestMetricsOfTheRangesOfACache(t *testing.T) {
	bubble(t, func(w *world) {
		maps := client.For(w.client, configMaps)
		share := func(to int) *informer.Informer[*configMap] {
			var ranges meta.Ranges
			for n := range to {
				ranges = ranges.With(n)
			}
			return informer.New(maps, informer.Options{Shards: informer.FixedShards(meta.ShardByUID, ranges)})
		}
		for i := range 200 { // some are in the ranges, and some in others
			if _, err := maps.Create(w.Context(), &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: fmt.Sprint("a", i)}}); err != nil {
				t.Fatal(err)
			}
		}
		stopLocal := w.run(share(64))
		w.has(map[string]float64{`bowline_informer_ranges{resource="configmaps.v1",selected="local"}`: 64})
		w.server.SetShardedLists(clienttest.ShardsServed)
		stopServed := w.run(share(32))
		w.has(map[string]float64{
			`bowline_informer_ranges{resource="configmaps.v1",selected="local"}`:  64,
			`bowline_informer_ranges{resource="configmaps.v1",selected="server"}`: 32,
		})
		w.server.SetShardedLists(clienttest.ShardsIgnored)
		stopOther := w.run(share(16))
		w.has(map[string]float64{`bowline_informer_ranges{resource="configmaps.v1",selected="local"}`: 80})
		stopOther()
		stopServed()
		stopLocal()
	})
}

func TestMetricsOfAPausedController(t *testing.T) {
	bubble(t, func(w *world) {
		ctl := controller.New("c", controller.Options{Workers: 2}, func(context.Context, string) (controller.Result, error) {
			return controller.Result{}, nil
		}, controller.Every(time.Hour, "key"))
		stop := w.run(ctl)
		w.has(map[string]float64{`bowline_controller_paused{controller="c"}`: 0})
		ctl.Pause()
		if err := ctl.SetWorkers(5); err != nil {
			t.Fatal(err)
		}
		w.has(map[string]float64{
			`bowline_controller_paused{controller="c"}`:                    1,
			`controller_runtime_max_concurrent_reconciles{controller="c"}`: 5,
		})
		ctl.Resume()
		w.has(map[string]float64{`bowline_controller_paused{controller="c"}`: 0})
		stop()
	})
}

func TestMetricsOfRecorders(t *testing.T) {
	bubble(t, func(w *world) {
		rec := recorder.New(w.client, recorder.Options{Controller: "example.com/c", Burst: 2, OnError: func(error) {}})
		stop := w.run(rec)
		records := recorder.For(rec, configMaps)
		obj := &configMap{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a", UID: "u"}}
		w.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.TooManyRequests(time.Minute) })
		for _, reason := range []string{"First", "Second", "Third"} {
			records.Normal(obj, reason, "note")
		}
		<-time.After(time.Second)
		w.has(map[string]float64{`bowline_recorder_waiting{controller="example.com/c"}`: 2})
		w.server.Intercept(nil)
		<-time.After(2 * time.Minute)
		records.Normal(obj, "Second", "note")
		<-time.After(time.Hour)
		w.has(map[string]float64{
			`bowline_recorder_sent_total{controller="example.com/c",result="created"}`:     2,
			`bowline_recorder_sent_total{controller="example.com/c",result="updated"}`:     1,
			`bowline_recorder_wait_seconds{controller="example.com/c"}`:                    3,
			`bowline_recorder_waiting{controller="example.com/c"}`:                         0,
			`bowline_recorder_dropped_total{cause="Spam",controller="example.com/c"}`:      1,
			`bowline_recorder_dropped_total{cause="QueueFull",controller="example.com/c"}`: 0,
		})
		stop()
		if _, found := w.value(`bowline_recorder_waiting{controller="example.com/c"}`); found {
			w.Error("records wait for a recorder that does not run")
		}
	})
}
