package cronjob_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/e2e/cronjob"
)

// The tests of this file make, on purpose, mistakes that a program with this controller is likely to have, with the types of k8s.io/api.
// Each used to leave a program that ran and did nothing.

var (
	policies    = client.Type[*networkingv1.NetworkPolicy]{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy", Resource: "networkpolicies"}
	deployments = client.Type[*appsv1.Deployment]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
)

// trapped is a server with the kinds of the traps.
func trapped(t testing.TB) *clienttest.Server {
	return clienttest.Start(t, clienttest.Options{CRDs: []string{"cronjobs.json"}})
}

// connect returns a client of a program with a name, under which the server records what it writes.
func connect(t *testing.T, server *clienttest.Server, name string) *client.Client {
	t.Helper()
	cfg := server.Config()
	cfg.UserAgent = name
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// ensure ensures an object and compares what that has done.
func ensure[T meta.Object](t *testing.T, r client.Resource[T], want T, outcome client.Outcome, o client.EnsureOptions) T {
	t.Helper()
	got, did, err := r.Ensure(t.Context(), want, o)
	if err != nil || did.Outcome != outcome {
		t.Fatalf("Ensure says %v, %v, want %v", did, err, outcome)
	}
	return got
}

// Trap: a policy that is to hold for all pods, where one with labels is there. The empty selector is wanted, and so are only those labels.
func TestAnEmptySelectorReplacesOneWithLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := client.For(connect(t, trapped(t), "me"), policies)
		policy := func(selector metav1.LabelSelector) *networkingv1.NetworkPolicy {
			return &networkingv1.NetworkPolicy{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "closed"},
				Spec:       networkingv1.NetworkPolicySpec{PodSelector: selector, PolicyTypes: []networkingv1.PolicyType{"Ingress"}},
			}
		}
		some := metav1.LabelSelector{MatchLabels: map[string]string{"app": "a", "tier": "b"}}
		cached := ensure(t, r, policy(some), client.Created, client.EnsureOptions{})
		for _, selector := range []metav1.LabelSelector{
			{MatchLabels: map[string]string{"app": "a"}},
			{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}},
			{},
		} {
			ensure(t, r, policy(selector), client.Updated, client.EnsureOptions{Known: cached})
			cached = ensure(t, r, policy(selector), client.Unchanged, client.EnsureOptions{})
			if got, want := fmt.Sprint(cached.Spec.PodSelector), fmt.Sprint(selector); got != want {
				t.Errorf("the selector is %s, want %s", got, want)
			}
			ensure(t, r, policy(selector), client.Unchanged, client.EnsureOptions{Known: cached})
		}
	})
}

// Trap: what is no longer wanted is left out of the object, and stays. EnsureOptions.Absent takes it away, and a cache that still has
// it does not say that all is well.
func TestAbsentRemovesFieldsThatAreNoLongerWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := client.For(connect(t, trapped(t), "me"), cronjob.CronJobs)
		old := newCronJob("tick", schedule)
		old.Labels, old.Spec.Suspend, old.Spec.StartingDeadlineSeconds = map[string]string{"old": "1", "kept": "1"}, pointer(true), pointer(int64(60))
		cached := ensure(t, r, old, client.Created, client.EnsureOptions{})
		want := newCronJob("tick", schedule)
		if got := ensure(t, r, want, client.Unchanged, client.EnsureOptions{Known: cached}); got.Spec.Suspend == nil || got.Labels["old"] == "" {
			t.Errorf("without Absent it became %+v", got)
		}
		o := client.EnsureOptions{Absent: []string{"/metadata/labels/old", "/spec/suspend"}, Known: cached}
		got := ensure(t, r, want, client.Updated, o)
		if got.Spec.Suspend != nil || got.Spec.StartingDeadlineSeconds == nil || len(got.Labels) != 1 || got.Labels["kept"] == "" {
			t.Errorf("it became %+v", got)
		}
		ensure(t, r, want, client.Unchanged, o) // the cache is out of date
		o.Known = got
		ensure(t, r, want, client.Unchanged, o)
	})
}

// Trap: a container that admission, or another program, has added to what this one ensures. It stays; one that this program no longer
// wants goes.
func TestAContainerOfAnotherWriterStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := trapped(t)
		mine, theirs := client.For(connect(t, server, "me"), deployments), client.For(connect(t, server, "injector"), deployments)
		app := func(containers ...string) *appsv1.Deployment {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
			d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
			d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
			for _, name := range containers {
				d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: name, Image: "busybox"})
			}
			return d
		}
		ensure(t, mine, app("work", "helper"), client.Created, client.EnsureOptions{})
		if _, err := theirs.Modify(t.Context(), meta.Key{Namespace: "default", Name: "a"}, func(d *appsv1.Deployment) error {
			d.Spec.Template.Spec.Containers = append(d.Spec.Template.Spec.Containers, corev1.Container{Name: "injected", Image: "proxy"})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			wanted  []string
			outcome client.Outcome
			left    string
		}{
			{[]string{"work", "helper"}, client.Unchanged, "[work helper injected]"},
			{[]string{"work"}, client.Updated, "[work injected]"},
			{[]string{"work"}, client.Unchanged, "[work injected]"},
		} {
			got := ensure(t, mine, app(test.wanted...), test.outcome, client.EnsureOptions{})
			var names []string
			for _, c := range got.Spec.Template.Spec.Containers {
				names = append(names, c.Name)
			}
			if fmt.Sprint(names) != test.left {
				t.Errorf("ensured %v: left are %v, want %s", test.wanted, names, test.left)
			}
		}
		got := ensure(t, mine, app("work"), client.Updated, client.EnsureOptions{Absent: []string{"/spec/template/spec/containers/name=injected"}})
		if n := len(got.Spec.Template.Spec.Containers); n != 1 {
			t.Errorf("%d containers are left", n)
		}
	})
}

// told is a test that fails, and remembers what it was told.
type told struct {
	testing.TB
	mu     sync.Mutex
	errors []string
}

func (s *told) Errorf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errors = append(s.errors, fmt.Sprintf(format, args...))
}

// Trap: the controller counts the jobs that run by a cache that it neither watches nor declares with controller.Reads. Nobody runs it, so
// that none seem to run, and each reconcile would start one.
func TestCountingJobsInACacheThatNobodyRunsFailsTheTest(t *testing.T) {
	for _, declared := range []bool{false, true} {
		t.Run(fmt.Sprint("declared ", declared), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fails := &told{TB: t}
				server := trapped(fails)
				c := connect(t, server, "me")
				crons, jobs := client.For(c, cronjob.CronJobs), client.For(c, cronjob.Jobs)
				job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "running"}}
				job.Spec.Template.Spec = corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "a", Image: "example.com/a"}},
				}
				for _, err := range []error{
					second(crons.Create(t.Context(), newCronJob("tick", schedule))),
					second(jobs.Create(t.Context(), job)),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
				known, running := informer.New(crons, informer.Options{}), informer.New(jobs, informer.Options{OnError: func(error) {}})
				sources := []controller.Source[meta.Key]{controller.Watch(known)}
				if declared {
					sources = append(sources, controller.Reads[meta.Key](running))
				}
				var seen []int
				ctl := controller.New("cronjobs", controller.Options{}, func(context.Context, meta.Key) (controller.Result, error) {
					seen = append(seen, running.Reader().Len())
					return controller.Result{}, nil
				}, sources...)
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				if err := informer.Run(ctx, ctl); err != nil {
					t.Fatal(err)
				}
				text := strings.Join(fails.errors, "\n")
				switch {
				case declared && (len(fails.errors) > 0 || !slices.Equal(seen, []int{1})):
					t.Errorf("saw %v, and the test was told %s", seen, text)
				case !declared && (!strings.Contains(text, "jobs") || !strings.Contains(text, "controller.Reads") || !strings.Contains(text, "traps_test.go")):
					t.Errorf("the test was told %q", text)
				}
			})
		})
	}
}

func second[V any](_ V, err error) error { return err }
