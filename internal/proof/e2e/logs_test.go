package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// containerLogs answers requests for the log of a container, as a kubelet gets them.
type containerLogs func(w http.ResponseWriter, r *http.Request, pod meta.Key, container string)

// keptLogs has logs, and the queries of the requests for them.
type keptLogs struct {
	containers.Logs

	mu      sync.Mutex // guards the rest
	queries []url.Values
	cut     func() int // after how many bytes an answer breaks; negative for never
}

// asked returns the last query.
func (k *keptLogs) asked() url.Values {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.queries) == 0 {
		return nil
	}
	return k.queries[len(k.queries)-1]
}

func (k *keptLogs) serve(w http.ResponseWriter, r *http.Request, pod meta.Key, container string) {
	q := r.URL.Query()
	k.mu.Lock()
	k.queries = append(k.queries, q)
	cut := -1
	if k.cut != nil {
		cut = k.cut()
	}
	k.mu.Unlock()
	number := func(name string) int {
		n, _ := strconv.Atoi(q.Get(name))
		return n
	}
	request := remote.LogOptions{
		Container: container, Follow: q.Get("follow") == "true", Previous: q.Get("previous") == "true",
		Timestamps: q.Get("timestamps") == "true", Tail: number("tailLines"), Limit: int64(number("limitBytes")),
	}
	if q.Get("tailLines") == "0" {
		request.Tail = -1
	}
	if since, err := time.Parse(time.RFC3339, q.Get("sinceTime")); err == nil {
		request.Since = since
	}
	out := &flushed{w: w}
	var to io.Writer = out
	if cut >= 0 {
		to = &cutWriter{out, cut}
	}
	switch err := k.Serve(r.Context(), pod, request, to); {
	case errors.Is(err, http.ErrAbortHandler):
		panic(http.ErrAbortHandler)
	case err != nil && !out.begun: // as a kubelet
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, err)
	}
}

// cutWriter breaks the connection after a number of bytes.
type cutWriter struct {
	w    io.Writer
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	if n > 0 || len(p) == 0 {
		var err error
		if n, err = c.w.Write(p[:n]); err != nil {
			return n, err
		}
	}
	if c.left -= n; n < len(p) {
		return n, http.ErrAbortHandler
	}
	return n, nil
}

// flushed sends each Write at once.
type flushed struct {
	w     http.ResponseWriter
	begun bool
}

func (f *flushed) Write(p []byte) (int, error) {
	f.begun = true
	n, err := f.w.Write(p)
	f.w.(http.Flusher).Flush()
	return n, err
}

// runningStatus is the status of a pod's containers, in their run number restarts.
func runningStatus(names []string, restarts int, running bool) patch.Patch {
	var list []any
	for _, name := range names {
		ended := func(run int) any {
			return map[string]any{"terminated": map[string]any{"exitCode": 0, "containerID": fmt.Sprintf("cri://%s-%d", name, run)}}
		}
		s := map[string]any{
			"name": name, "image": "none", "imageID": "none", "ready": running, "restartCount": restarts,
			"containerID": fmt.Sprintf("cri://%s-%d", name, restarts), "state": ended(restarts),
		}
		if running {
			s["state"] = map[string]any{"running": map[string]any{}}
		}
		if restarts > 0 {
			s["lastState"] = ended(restarts - 1)
		}
		list = append(list, s)
	}
	return patch.Merge(map[string]any{"status": map[string]any{"phase": "Running", "containerStatuses": list}})
}

func TestLogs(t *testing.T) {
	k := &keptLogs{}
	r, node := newNode(t, "10.1.0.11", &kubelet{logs: k.serve})
	pod := create(t, r, "default", fmt.Sprintf(`{"metadata": {"generateName": "e2e-"}, "spec": {"nodeName": %q, "automountServiceAccountToken": false,
		"containers": [{"name": "app", "image": "none"}, {"name": "sidecar", "image": "none"}]}}`, node))
	key := meta.KeyOf(pod)
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	log := k.Of(key, "app")
	log.Add(containers.Entry{Time: noon, Text: "before"})
	log.Start()
	for i := range 3 {
		log.Add(containers.Entry{Time: noon.Add(time.Duration(i)*time.Second + 1), Text: fmt.Sprint("line ", i)})
	}
	t.Run("options", func(t *testing.T) {
		for name, tc := range map[string]struct {
			o     remote.LogOptions
			query url.Values
			want  string
		}{
			"whole":    {remote.LogOptions{}, url.Values{}, "line 0\nline 1\nline 2\n"},
			"previous": {remote.LogOptions{Previous: true}, url.Values{"previous": {"true"}}, "before\n"},
			"tail":     {remote.LogOptions{Tail: 1}, url.Values{"tailLines": {"1"}}, "line 2\n"},
			"no tail":  {remote.LogOptions{Tail: -1}, url.Values{"tailLines": {"0"}}, ""},
			"limit":    {remote.LogOptions{Limit: 8}, url.Values{"limitBytes": {"8"}}, "line 0\nl"},
			"since a time": {
				remote.LogOptions{Since: noon.Add(1500 * time.Millisecond)}, url.Values{"sinceTime": {"2026-05-01T12:00:01Z"}}, "line 1\nline 2\n",
			},
			"timestamps": {
				remote.LogOptions{Timestamps: true, Tail: 1}, url.Values{"timestamps": {"true"}, "tailLines": {"1"}}, "2026-05-01T12:00:02.000000001Z line 2\n",
			},
		} {
			tc.o.Container = "app"
			body, err := remote.Logs(t.Context(), r, key, tc.o)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			text, err := io.ReadAll(body)
			_ = body.Close()
			got := k.asked()
			if since, err := time.Parse(time.RFC3339, got.Get("sinceTime")); err == nil {
				got.Set("sinceTime", since.UTC().Format(time.RFC3339))
			}
			if err != nil || string(text) != tc.want || !reflect.DeepEqual(got, tc.query) {
				t.Errorf("%s: %q, %v; the kubelet was asked for %v, want %q and %v", name, text, err, got, tc.want, tc.query)
			}
		}
	})
	t.Run("lines", func(t *testing.T) {
		var got []string
		for l, err := range remote.Lines(t.Context(), r, key, remote.LogOptions{Container: "app"}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, l.Time.Format(time.RFC3339Nano)+" "+l.Text)
		}
		if len(got) != 3 || got[2] != "2026-05-01T12:00:02.000000001Z line 2" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("refusals", func(t *testing.T) {
		for name, tc := range map[string]struct {
			key  meta.Key
			o    remote.LogOptions
			is   error
			want string
		}{
			"no container": {key, remote.LogOptions{}, apierrors.BadRequest, "choose one of: [app sidecar]"},
			"not one":      {key, remote.LogOptions{Container: "x"}, apierrors.BadRequest, "container x is not valid"},
			"not started":  {key, remote.LogOptions{Container: "sidecar"}, apierrors.BadRequest, "is waiting to start: ContainerCreating"},
			"no previous":  {key, remote.LogOptions{Container: "sidecar", Previous: true}, apierrors.BadRequest, `previous terminated container "sidecar" in pod`},
			"no pod":       {meta.Key{Namespace: "default", Name: "none"}, remote.LogOptions{}, apierrors.NotFound, `pods "none" not found`},
		} {
			if _, err := remote.Logs(t.Context(), r, tc.key, tc.o); !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %v, want %q", name, err, tc.want)
			}
		}
	})
	t.Run("a pod without a node", func(t *testing.T) {
		pending := create(t, r, "default", `{"metadata": {"generateName": "e2e-"}, "spec": {"automountServiceAccountToken": false,
			"schedulerName": "none", "containers": [{"name": "app", "image": "none"}]}}`)
		body, err := remote.Logs(t.Context(), r, meta.KeyOf(pending), remote.LogOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer body.Close()
		if text, err := io.ReadAll(body); len(text) > 0 || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	})
	t.Run("a cut between the node and the API server ends the answer in good order", func(t *testing.T) {
		k.mu.Lock()
		k.cut = func() int { return 10 }
		k.mu.Unlock()
		defer func() { k.cut = nil }()
		body, err := remote.Logs(t.Context(), r, key, remote.LogOptions{Container: "app"})
		if err != nil {
			t.Fatal(err)
		}
		defer body.Close()
		if text, err := io.ReadAll(body); string(text) != "line 0\nlin" || err != nil {
			t.Errorf("got %q, %v: Tail need not take an end for a cut any more", text, err)
		}
	})
}

// 50 containers write, restart and are cut at random; all lines arrive once, and those of each run in their order. The status tells
// of a restart late, so if a log is cut meanwhile, lines of the second run come before the rest of the first.
func TestTail(t *testing.T) {
	t.Parallel() // it waits most of its time
	k := &keptLogs{}
	r, node := newNode(t, "10.1.0.12", &kubelet{logs: k.serve})
	// An answer begins with the lines of a second that are known, so some must have more than that. And the end of a run shows only in
	// several answers in a row that are not cut, between which Tail waits longer and longer: so the cuts end.
	start := time.Now()
	k.cut = func() int {
		if time.Since(start) > 10*time.Second || rand.IntN(3) == 0 {
			return -1
		}
		return rand.IntN(60_000)
	}
	const pods, each, lines = 10, 5, 400
	var names []string
	spec := ""
	for i := range each {
		names = append(names, fmt.Sprint("c", i))
		spec += fmt.Sprintf(`, {"name": "c%d", "image": "none"}`, i)
	}
	var (
		mu      sync.Mutex
		written = map[string][]string{}
		writers sync.WaitGroup
	)
	write := func(pod meta.Key, run int) {
		for _, name := range names {
			writers.Go(func() {
				log := k.Of(pod, name)
				for i := range lines {
					text := fmt.Sprintf("%d.%d", run, i-i%3) // some are equal
					mu.Lock()
					written[pod.Name+"/"+name] = append(written[pod.Name+"/"+name], text)
					mu.Unlock()
					when := time.Now()
					log.Add(containers.Entry{Time: when, Text: text}, containers.Entry{Time: when, Text: text}) // in one nanosecond
				}
			})
		}
	}
	var all []meta.Key
	for range pods {
		pod := create(t, r, "default", fmt.Sprintf(`{"metadata": {"generateName": "e2e-", "labels": {"tail": %q}}, "spec": {"nodeName": %q,
			"automountServiceAccountToken": false, "containers": [%s]}}`, node, node, spec[2:]))
		all = append(all, meta.KeyOf(pod))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for _, pod := range all {
			for _, name := range names {
				k.Of(pod, name).Start()
			}
			write(pod, 0)
			_, _ = r.Status().Patch(ctx, pod, runningStatus(names, 0, true))
		}
		writers.Wait()
		for _, pod := range all { // all restart
			for _, name := range names {
				k.Of(pod, name).Start()
			}
			write(pod, 1)
			_, _ = r.Status().Patch(ctx, pod, runningStatus(names, 1, true))
		}
		writers.Wait()
	}()
	got, total := map[string][]string{}, 0
	timeout := time.AfterFunc(5*time.Minute, cancel) // the pauses between requests for the end of a run grow to 30 s
	defer timeout.Stop()
	for l, err := range remote.Tail(ctx, r, remote.TailOptions{Namespace: "default", LabelSelector: "tail=" + node}) {
		if logErr := (*remote.LogError)(nil); errors.As(err, &logErr) {
			t.Log(err)
			continue
		}
		if err != nil {
			t.Errorf("%v, after %d lines", err, total)
			break
		}
		name := l.Pod.Name + "/" + l.Container
		got[name] = append(got[name], l.Text)
		if total++; total == 2*2*pods*each*lines {
			break
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for name, texts := range written {
		var want [2][]string
		for _, text := range texts {
			run := text[0] - '0'
			want[run] = append(want[run], text, text)
		}
		var runs [2][]string
		for _, text := range got[name] {
			run := text[0] - '0'
			runs[run] = append(runs[run], text)
		}
		for run := range runs {
			if !slices.Equal(runs[run], want[run]) {
				t.Errorf("%s: %d lines of run %d, want %d, or in another order", name, len(runs[run]), run, len(want[run]))
			}
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	t.Logf("%d lines in %d requests", total, len(k.queries))
}
