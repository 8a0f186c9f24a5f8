package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/clienttest/controllers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
)

// one returns a pod with the name one and a container main; more are further members of the spec.
func one(more string) string {
	return `{"metadata": {"name": "one"}, "spec": {"containers": [{"name": "main", "image": "good"}]` + more + `}}`
}

// lives runs a test with a kubelet whose containers have a Life.
func lives(t *testing.T, life func(controllers.Container) controllers.Life, test func(w *cluster, k *controllers.Kubelet)) {
	t.Helper()
	k := controllers.NewKubelet(controllers.KubeletOptions{Life: life})
	live(t, func(w *cluster) { test(w, k) }, k)
}

func TestAPodRunsAndIsDeleted(t *testing.T) {
	lives(t, nil, func(w *cluster, _ *controllers.Kubelet) {
		w.create("pods", one(""))
		p := w.get("pods", "one")
		w.want(p, map[string]string{"status.phase": `"Running"`, "spec.nodeName": `"node"`, "status.startTime": `"2000-01-01T00:00:00Z"`})
		if got, want := conditions(p), "ContainersReady=True Initialized=True PodReadyToStartContainers=True PodScheduled=True Ready=True"; got != want {
			t.Errorf("the conditions are %s", got)
		}
		if err := w.of("pods").Delete(w.t.Context(), key("one"), noOptions); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := len(w.list("pods")); n != 0 {
			t.Errorf("%d pods are left", n)
		}
	})
}

func TestAContainerThatDoesNotStopIsKilledAfterTheGracePeriod(t *testing.T) {
	stubborn := func(controllers.Container) controllers.Life { return controllers.Life{Stop: -1} }
	lives(t, stubborn, func(w *cluster, _ *controllers.Kubelet) {
		w.create("pods", one(""))
		if err := w.of("pods").Delete(w.t.Context(), key("one"), noOptions); err != nil {
			t.Fatal(err)
		}
		time.Sleep(29 * time.Second)
		w.want(w.get("pods", "one"), map[string]string{"status.phase": `"Running"`})
		time.Sleep(2 * time.Second)
		if n := len(w.list("pods")); n != 0 {
			t.Errorf("%d pods are left", n)
		}
	})
}

func TestContainersStartBecomeReadyAndEndByThemselves(t *testing.T) {
	life := func(controllers.Container) controllers.Life {
		return controllers.Life{Start: time.Minute, Ready: time.Minute, End: time.Hour, Code: 3}
	}
	lives(t, life, func(w *cluster, _ *controllers.Kubelet) {
		w.create("pods", one(`, "restartPolicy": "Never"`))
		for _, step := range []struct {
			after        time.Duration
			phase, ready string
		}{
			{30 * time.Second, "Pending", "Ready=False/ContainersNotReady"},
			{time.Minute, "Running", "Ready=False/ContainersNotReady"},
			{time.Minute, "Running", "Ready=True"},
			{time.Hour, "Failed", "Ready=False/PodFailed"},
		} {
			time.Sleep(step.after)
			p := w.get("pods", "one")
			if got := conditions(p); at(p, "status.phase") != fmt.Sprintf("%q", step.phase) || !strings.Contains(got, " "+step.ready) {
				t.Errorf("at %s the phase is %s, and the conditions %s; want %+v", time.Now().Format(time.TimeOnly), at(p, "status.phase"), got, step)
			}
		}
		if got := at(w.get("pods", "one"), "status.containerStatuses"); !strings.Contains(got, `"exitCode":3`) {
			t.Errorf("the containers are %s", got)
		}
	})
}

func TestAContainerIsRestartedAfterAGrowingTime(t *testing.T) {
	crashes := func(c controllers.Container) controllers.Life {
		if c.Restarts == 4 {
			return controllers.Life{}
		}
		return controllers.Life{End: time.Second, Code: 1}
	}
	lives(t, crashes, func(w *cluster, _ *controllers.Kubelet) {
		w.create("pods", one(""))
		// Each run takes a second. The waits are 0, 10, 20 and 40 s.
		for _, step := range []struct {
			after, restarts int
			waits           bool
		}{{0, 0, false}, {1, 1, false}, {1, 1, true}, {11, 2, true}, {21, 3, true}, {40, 4, false}} {
			time.Sleep(time.Duration(step.after) * time.Second)
			statuses := at(w.get("pods", "one"), "status.containerStatuses")
			if !strings.Contains(statuses, fmt.Sprintf(`"restartCount":%d`, step.restarts)) || strings.Contains(statuses, "CrashLoopBackOff") != step.waits {
				t.Errorf("at %s the containers are %s, want %+v", time.Now().Format(time.TimeOnly), statuses, step)
			}
		}
	})
}

func TestInitContainersAndSidecarsStartFirst(t *testing.T) {
	life := func(c controllers.Container) controllers.Life {
		if c.Init {
			return controllers.Life{End: time.Minute}
		}
		if c.Name == "main" {
			return controllers.Life{End: time.Minute}
		}
		return controllers.Life{}
	}
	lives(t, life, func(w *cluster, _ *controllers.Kubelet) {
		w.create("pods", one(`, "restartPolicy": "Never", "initContainers": [
			{"name": "first", "image": "good"}, {"name": "side", "image": "good", "restartPolicy": "Always"}]`))
		p := w.get("pods", "one")
		w.want(p, map[string]string{"status.phase": `"Pending"`})
		if got := conditions(p); !strings.Contains(got, "Initialized=False/ContainersNotInitialized") {
			t.Errorf("the conditions are %s", got)
		}
		time.Sleep(90 * time.Second)
		w.want(w.get("pods", "one"), map[string]string{"status.phase": `"Running"`})
		time.Sleep(time.Minute)
		w.want(w.get("pods", "one"), map[string]string{"status.phase": `"Succeeded"`})
	})
}

func TestAPodIsReadyWhenItsGatesAre(t *testing.T) {
	lives(t, nil, func(w *cluster, _ *controllers.Kubelet) {
		w.create("pods", one(`, "readinessGates": [{"conditionType": "example.com/open"}]`))
		if got := conditions(w.get("pods", "one")); !strings.Contains(got, " Ready=False/ReadinessGatesNotReady") {
			t.Errorf("the conditions are %s", got)
		}
		_, err := w.of("pods").Status().Modify(w.t.Context(), key("one"), func(p object) error {
			list, _, err := meta.Nested[[]any](p, "status", "conditions")
			if err != nil {
				return err
			}
			return meta.SetNested(p, append(list, map[string]any{"type": "example.com/open", "status": "True"}), "status", "conditions")
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := conditions(w.get("pods", "one")); !strings.Contains(got, " Ready=True") {
			t.Errorf("the conditions are %s", got)
		}
	})
}

func TestAPodIsEvicted(t *testing.T) {
	lives(t, nil, func(w *cluster, k *controllers.Kubelet) {
		w.create("pods", one(""))
		if err := k.Evict(w.t.Context(), key("one"), "no memory"); err != nil {
			t.Fatal(err)
		}
		p, err := w.of("pods").Get(w.t.Context(), key("one")) // at once
		if err != nil {
			t.Fatal(err)
		}
		w.want(p, map[string]string{"status.phase": `"Failed"`, "status.reason": `"Evicted"`, "status.message": `"no memory"`})
		if got := conditions(p); !strings.Contains(got, "DisruptionTarget=True/TerminationByKubelet") {
			t.Errorf("the conditions are %s", got)
		}
		if err := k.Evict(w.t.Context(), key("one"), "again"); err == nil || !strings.Contains(err.Error(), "the pod has ended") {
			t.Errorf("a second eviction: %v", err)
		}
	})
}

func TestAPodFailsAtItsDeadline(t *testing.T) {
	lives(t, nil, func(w *cluster, _ *controllers.Kubelet) {
		w.create("pods", one(`, "activeDeadlineSeconds": 60`))
		time.Sleep(59 * time.Second)
		w.want(w.get("pods", "one"), map[string]string{"status.phase": `"Running"`})
		time.Sleep(2 * time.Second)
		w.want(w.get("pods", "one"), map[string]string{"status.phase": `"Failed"`, "status.reason": `"DeadlineExceeded"`})
	})
}

func TestMethodsWaitForThePod(t *testing.T) {
	held := func(controllers.Container) controllers.Life { return controllers.Life{Start: -1} }
	lives(t, held, func(w *cluster, k *controllers.Kubelet) {
		done := make(chan error, 1)
		go func() { done <- k.Finish(w.t.Context(), key("one"), "", 0) }() // before the pod exists
		w.create("pods", one(`, "restartPolicy": "Never"`))
		w.want(w.get("pods", "one"), map[string]string{"status.phase": `"Pending"`})
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
		defer cancel()
		if err := k.SetReady(ctx, key("one"), true); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `waiting for container "main" to run`) {
			t.Errorf("the error is %v", err)
		}
		if err := k.Start(w.t.Context(), key("one")); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		w.want(w.get("pods", "one"), map[string]string{"status.phase": `"Succeeded"`})
	})
}

func TestWrongWordsAreErrors(t *testing.T) {
	lives(t, nil, func(w *cluster, k *controllers.Kubelet) {
		w.create("pods", one(""))
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
		defer cancel()
		for want, err := range map[string]error{
			"the pod has the containers main":                      k.Finish(ctx, key("one"), "other", 0),
			"the code must be from 0 to 255, got 256":              k.Finish(ctx, key("one"), "main", 256),
			"no container waits for its start":                     k.Start(ctx, key("one")),
			"waiting for the pod to come to one of the nodes node": k.Finish(ctx, key("two"), "main", 0),
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want %q", err, want)
			}
		}
	})
}

func TestWrongOptionsOfAKubeletAreErrors(t *testing.T) {
	for want, nodes := range map[string][]string{
		"Nodes must have a name":             {},
		`Nodes[1] duplicates Nodes[0] ("a")`: {"a", "a"},
		"Nodes[0]":                           {""},
	} {
		err := controllers.Run(t.Context(), client.Config{Server: "http://nowhere"}, controllers.NewKubelet(controllers.KubeletOptions{Nodes: nodes}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

func TestOneRunAtATimeUsesAKubelet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		k := controllers.NewKubelet(controllers.KubeletOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- controllers.Run(ctx, server.Config(), k) }()
		synctest.Wait()
		if err := controllers.Run(t.Context(), server.Config(), k); err == nil || !strings.Contains(err.Error(), "already running") {
			t.Errorf("the second Run: %v", err)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestALaterRunTakesOverTheContainers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		w := &cluster{t: t, server: server, c: c}
		k := controllers.NewKubelet(controllers.KubeletOptions{Life: func(controllers.Container) controllers.Life {
			return controllers.Life{End: time.Hour}
		}})
		for _, length := range []time.Duration{10 * time.Minute, 55 * time.Minute} {
			ctx, cancel := context.WithTimeout(t.Context(), length)
			done := make(chan error, 1)
			go func() { done <- controllers.Run(ctx, server.Config(), k) }()
			synctest.Wait()
			if len(w.list("pods")) == 0 {
				w.create("pods", one(`, "restartPolicy": "Never"`))
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			cancel()
		}
		w.want(w.get("pods", "one"), map[string]string{"status.phase": `"Succeeded"`, "status.startTime": `"2000-01-01T00:00:00Z"`})
		if got := at(w.get("pods", "one"), "status.containerStatuses"); !strings.Contains(got, `"finishedAt":"2000-01-01T01:00:00Z"`) {
			t.Errorf("the containers are %s", got)
		}
	})
}

func TestPodsAreSpreadOverNodesThatFit(t *testing.T) {
	k := controllers.NewKubelet(controllers.KubeletOptions{Nodes: []string{"a", "b", "c"}})
	live(t, func(w *cluster) {
		synctest.Wait()
		w.modify("nodes", "c", true, "spec", "unschedulable")
		w.create("replicasets", strings.Replace(web(""), `"replicas": 3`, `"replicas": 4`, 1))
		on := map[string]int{}
		for _, p := range w.list("pods") {
			on[at(p, "spec.nodeName")]++
		}
		if on[`"a"`] != 2 || on[`"b"`] != 2 {
			t.Errorf("the pods are on %v", on)
		}
		w.create("pods", one(`, "nodeSelector": {"disk": "fast"}`))
		if got := conditions(w.get("pods", "one")); got != "PodScheduled=False/Unschedulable" {
			t.Errorf("the conditions are %s", got)
		}
		w.modify("nodes", "b", "fast", "metadata", "labels", "disk")
		w.want(w.get("pods", "one"), map[string]string{"spec.nodeName": `"b"`, "status.phase": `"Running"`})
	}, controllers.ReplicaSets(), k)
}

// The kubelet gives a pod its status, and package containers runs commands in it.
func TestCommandsRunInThePodsOfAKubelet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{Containers: &containers.Server{
			Run: func(_ context.Context, p *containers.Process) int {
				fmt.Fprintf(p.Stdout, "%s in %s", strings.Join(p.Args, " "), p.Container)
				return 0
			},
		}})
		c, err := client.New(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		w := &cluster{t: t, server: server, c: c}
		k := controllers.NewKubelet(controllers.KubeletOptions{})
		controllers.Start(t, server.Config(), k)
		w.create("pods", one(`, "restartPolicy": "Never"`))
		if _, err := client.WaitFor(t.Context(), w.of("pods"), key("one"), client.UntilPodReady()); err != nil {
			t.Fatal(err)
		}
		if out, err := remote.Command(w.of("pods"), key("one"), "date").Output(t.Context()); err != nil || string(out) != "date in main" {
			t.Errorf("the output is %q, %v", out, err)
		}
		if err := k.Finish(t.Context(), key("one"), "main", 0); err != nil {
			t.Fatal(err)
		}
		if _, err := remote.Command(w.of("pods"), key("one"), "date").Output(t.Context()); !errors.Is(err, apierrors.BadRequest) {
			t.Errorf("a command in a pod that has ended: %v", err)
		}
	})
}
