package controllers_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest/controllers"
	"github.com/bowline-go/bowline/client/meta"
)

var noOptions client.DeleteOptions

// work returns a Job with the name work.
func work(more string) string {
	return `{"metadata": {"name": "work"}, "spec": {"template": {"metadata": {"labels": {"app": "work"}}, "spec": {"restartPolicy": "Never",
		"containers": [{"name": "main", "image": "job"}]}}` + more + `}}`
}

// ends lets each container end after a second with that code.
func ends(code int) *controllers.Kubelet {
	return controllers.NewKubelet(controllers.KubeletOptions{Life: func(controllers.Container) controllers.Life {
		return controllers.Life{End: time.Second, Code: code}
	}})
}

func TestAJobCompletes(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("jobs", work(`, "completions": 3, "parallelism": 2`))
		w.want(w.get("jobs", "work"), map[string]string{"status.active": "2", "status.ready": "2"})
		time.Sleep(time.Minute)
		j := w.get("jobs", "work")
		w.want(j, map[string]string{"status.succeeded": "3", "status.active": "", "status.failed": "", "status.uncountedTerminatedPods": "{}"})
		if got, want := conditions(j), "Complete=True/CompletionsReached SuccessCriteriaMet=True/CompletionsReached"; got != want {
			t.Errorf("the conditions are %s", got)
		}
		if at(j, "status.completionTime") != `"2000-01-01T00:00:02Z"` {
			t.Errorf("completed at %s", at(j, "status.completionTime"))
		}
		for _, p := range w.list("pods") {
			if len(p.GetFinalizers()) > 0 {
				t.Errorf("the pod %s has the finalizers %q", p.GetName(), p.GetFinalizers())
			}
		}
	}, controllers.Jobs(), ends(0))
}

func TestAJobTriesAgainAfterAGrowingTime(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("jobs", work(`, "backoffLimit": 2`))
		for _, step := range []struct{ after, pods int }{{9, 1}, {3, 2}, {17, 2}, {7, 3}} { // 10 and 20 s after failures at 1 s and 12 s
			time.Sleep(time.Duration(step.after) * time.Second)
			if n := len(w.list("pods")); n != step.pods {
				t.Errorf("at %s there are %d pods, want %d", time.Now().Format(time.TimeOnly), n, step.pods)
			}
		}
		time.Sleep(time.Hour)
		j := w.get("jobs", "work")
		w.want(j, map[string]string{"status.failed": "3", "status.active": ""})
		if got, want := conditions(j), "Failed=True/BackoffLimitExceeded FailureTarget=True/BackoffLimitExceeded"; got != want {
			t.Errorf("the conditions are %s", got)
		}
	}, controllers.Jobs(), ends(1))
}

func TestAJobWithIndexesNamesThem(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("jobs", work(`, "completionMode": "Indexed", "completions": 5, "parallelism": 5`))
		for i, p := range w.list("pods") {
			w.want(p, map[string]string{"spec.hostname": fmt.Sprintf("%q", fmt.Sprint("work-", i))})
			if !strings.Contains(at(p, "spec.containers"), "JOB_COMPLETION_INDEX") {
				t.Errorf("the containers are %s", at(p, "spec.containers"))
			}
		}
		time.Sleep(time.Minute)
		w.want(w.get("jobs", "work"), map[string]string{"status.completedIndexes": `"0-4"`, "status.succeeded": "5"})
	}, controllers.Jobs(), ends(0))
}

func TestASuspendedJobHasNoPods(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("jobs", work(`, "suspend": true`))
		if n := len(w.list("pods")); n != 0 {
			t.Errorf("%d pods", n)
		}
		w.modify("jobs", "work", false, "spec", "suspend")
		w.want(w.get("jobs", "work"), map[string]string{"status.active": "1"})
		w.modify("jobs", "work", true, "spec", "suspend")
		j := w.get("jobs", "work")
		w.want(j, map[string]string{"status.active": "", "status.startTime": "", "status.failed": ""})
		if got := conditions(j); got != "Suspended=True/JobSuspended" || len(w.list("pods")) != 0 {
			t.Errorf("the conditions are %s, and the pods %v", got, w.list("pods"))
		}
	}, controllers.Jobs(), controllers.NewKubelet(controllers.KubeletOptions{}))
}

func TestAFinishedJobIsDeletedAfterItsTime(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("jobs", work(`, "ttlSecondsAfterFinished": 3600`))
		time.Sleep(59 * time.Minute)
		if n := len(w.list("jobs")); n != 1 {
			t.Error("deleted too early")
		}
		time.Sleep(2 * time.Minute)
		if jobs, pods := w.list("jobs"), w.list("pods"); len(jobs)+len(pods) != 0 {
			t.Errorf("left are %v and %v", jobs, pods)
		}
	}, controllers.Jobs(), controllers.GarbageCollector(), ends(0))
}

func TestADeletedJobLeavesNoFinalizersBehind(t *testing.T) {
	for _, how := range []client.Propagation{client.Background, client.Foreground, client.Orphan} {
		t.Run(string(how), func(t *testing.T) {
			live(t, func(w *cluster) {
				w.create("jobs", work(""))
				if err := w.of("jobs").Delete(w.t.Context(), key("work"), client.DeleteOptions{Propagation: how}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				jobs, pods := w.list("jobs"), w.list("pods")
				if len(jobs) != 0 || len(pods) != map[bool]int{true: 1}[how == client.Orphan] {
					t.Errorf("left are %v and %v", jobs, pods)
				}
				for _, p := range pods {
					if len(p.GetFinalizers()) != 0 {
						t.Errorf("the pod has the finalizers %q", p.GetFinalizers())
					}
				}
			}, controllers.Jobs(), controllers.GarbageCollector(), controllers.NewKubelet(controllers.KubeletOptions{}))
		})
	}
}

func TestEndpointSlicesFollowPods(t *testing.T) {
	kubelet := controllers.NewKubelet(controllers.KubeletOptions{})
	live(t, func(w *cluster) {
		w.create("services", `{"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": "http"}]}}`)
		w.create("pods", `{"metadata": {"name": "one", "labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "good", "ports": [{"name": "http", "containerPort": 8080}]}]}}`)
		check := func(want string) {
			t.Helper()
			slices := w.list("endpointslices")
			if len(slices) != 1 {
				t.Fatalf("the slices are %v", slices)
			}
			list, err := decode[[]struct {
				Conditions struct{ Ready, Serving, Terminating bool }
				NodeName   string
			}](slices[0], "endpoints")
			if got := fmt.Sprint(at(slices[0], "ports"), list, err); got != want {
				t.Errorf("the slice has %s, want %s", got, want)
			}
		}
		ports := `[{"name":"http","port":8080,"protocol":"TCP"}]`
		check(ports + `[{{true true false} node}] <nil>`)
		if err := kubelet.SetReady(w.t.Context(), key("one"), false); err != nil {
			t.Fatal(err)
		}
		check(ports + `[{{false false false} node}] <nil>`)
		if err := w.of("pods").Delete(w.t.Context(), key("one"), noOptions); err != nil {
			t.Fatal(err)
		}
		check(`null[] <nil>`)
	}, controllers.EndpointSlices(), kubelet)
}

func TestASliceHasAtMost100Endpoints(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("services", `{"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}`)
		w.create("replicasets", strings.Replace(web(""), `"replicas": 3`, `"replicas": 120`, 1))
		total := 0
		slices := w.list("endpointslices")
		for _, s := range slices {
			list, err := decode[[]any](s, "endpoints")
			if err != nil || len(list) > 100 || len(list) == 0 {
				t.Errorf("a slice has %d endpoints, %v", len(list), err)
			}
			total += len(list)
		}
		if total != 120 || len(slices) != 2 {
			t.Errorf("%d endpoints in %d slices", total, len(slices))
		}
	}, workloads()...)
}

func TestEachNamespaceHasItsServiceAccount(t *testing.T) {
	live(t, func(w *cluster) {
		w.create("namespaces", `{"metadata": {"name": "shop"}}`)
		if n := len(w.list("serviceaccounts")); n != 5 {
			t.Errorf("%d service accounts in 5 namespaces", n)
		}
		if err := w.of("serviceaccounts").Delete(w.t.Context(), meta.Key{Namespace: "shop", Name: "default"}, noOptions); err != nil {
			t.Fatal(err)
		}
		if n := len(w.list("serviceaccounts")); n != 5 {
			t.Errorf("%d service accounts after a deletion", n)
		}
		synctest.Wait()
	}, controllers.ServiceAccounts())
}
