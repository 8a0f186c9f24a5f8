package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/conn"
)

// TailOptions select the containers that [Tail] follows. The zero value selects every container of every pod that the
// handle covers, and reads each log from its beginning.
type TailOptions struct {
	// Namespace is the namespace of the pods; empty means all, or the one that the handle is bound to.
	Namespace string
	// LabelSelector and FieldSelector select pods, such as "app=web" and "metadata.name=web"; empty selects all.
	LabelSelector string
	FieldSelector string
	// Containers reports whether to follow a container; nil follows all, including init and ephemeral containers. It is
	// called from one goroutine at a time, which is not the goroutine of the loop.
	Containers func(pod meta.Key, container string) bool

	// Since and Tail leave out old lines of containers that have started before the loop begins; see [LogOptions]. Tail
	// is a number of lines for each container. The logs of containers that start later are read from the beginning.
	Since time.Time
	Tail  int

	// Window is how long a line may wait for earlier lines of other containers: lines that arrive within Window of each
	// other are yielded in order of time. 0 means 1 s. A line does not wait if no other log can have an earlier one. If
	// more than 256 KiB of one container wait, they wait only until the other containers have been silent for Window.
	Window time.Duration

	buffer int // how many bytes of lines are buffered for each container, but at least one line; 0 means tailBuffer
}

const (
	defaultWindow = time.Second
	tailBuffer    = 256 << 10
)

// LogError says that the log of one container, or the list of pods, cannot be read at the moment. It is the only error
// of [Tail] that does not end the iteration: Tail continues with the other containers, and retries.
type LogError struct {
	// Pod and Container name the log. Container is empty for an error about the pod; both are empty for an error of the
	// list or watch of pods.
	Pod       meta.Key
	Container string

	err error
}

// Error implements error.
func (e *LogError) Error() string {
	switch {
	case e.Pod == meta.Key{}:
		return fmt.Sprintf("follow pods: %v", e.err)
	case e.Container == "":
		return fmt.Sprintf("follow pod %s: %v", e.Pod, e.err)
	}
	return fmt.Sprintf("follow the log of pod %s, container %s: %v", e.Pod, e.Container, e.err)
}

// Unwrap returns the cause.
func (e *LogError) Unwrap() error { return e.err }

// Tail merges and follows the logs of containers, including those of pods and containers that are created later, until
// the caller leaves the loop or ctx ends. The client needs the permissions list and watch on pods, and get on pods/log.
//
// Tail yields each line once, and the lines of one container in their order. If the connection of a log is cut, Tail
// requests the log again from the second in which the last line was written, and skips the lines that it has already
// yielded: by their timestamps, and for lines with the last timestamp by their number and content. After a restart Tail
// reads the rest of the previous run and then the new run. If the log is cut before the pod's status shows the restart,
// Tail may begin with the new run and yield the rest of the previous run later. A line is lost only if the node no
// longer has it when Tail requests it: because the log was rotated, the container was restarted twice, or the pod was
// deleted.
//
// A container's log ends with the container, and continues if the container restarts. If a pod is deleted or is no
// longer selected, Tail reads its open logs to the end while lines arrive, for at most five minutes, not counting the
// time for which the loop is slow.
//
// Lines of different containers come in order of time within TailOptions.Window. A slow loop slows the reading down; no
// line is dropped. While its log is open, each container costs a goroutine, a request, a stream of a connection, and at
// most 256 KiB and two lines of memory besides the buffers of net/http.
//
// Every error except a [*LogError] ends the iteration. Tail reports the server's refusal of a log at once, and a broken
// connection after three failed attempts in a row; it reports each only once until the log works again. The end of ctx
// is an error that wraps ctx.Err(). After the loop, none of its goroutines run. Several loops over the same iterator
// are independent, even at the same time.
func Tail[T meta.Object](ctx context.Context, pods client.Resource[T], o TailOptions) iter.Seq2[Line, error] {
	logs := newLogSource(pods)
	return func(yield func(Line, error) bool) {
		t := &tailing{logs: logs, o: o}
		err := logs.refuse
		if err == nil {
			err = o.validate()
		}
		if err != nil {
			yield(Line{}, logs.fail(meta.Key{Namespace: o.Namespace}, usage(err)))
			return
		}
		t.pods = client.Retype[*podState](pods)
		t.merge = newMerger(cmp.Or(o.Window, defaultWindow), cmp.Or(o.buffer, tailBuffer))
		t.run(ctx, yield)
	}
}

func (o TailOptions) validate() error {
	if o.Window < 0 {
		return fmt.Errorf("remote.TailOptions: Window must be 0 or more, got %v", o.Window)
	}
	return LogOptions{Since: o.Since, Tail: o.Tail}.validate()
}

// tailing is one loop over Tail. It has one goroutine for the pods and one for each container; run waits for all of
// them.
type tailing struct {
	logs  logSource
	pods  client.Resource[*podState]
	o     TailOptions
	merge *merger

	all   sync.WaitGroup // the goroutines
	final error          // the error of the goroutine for the pods; read once the merger has drained
}

// run yields lines until the caller leaves the loop or an error ends it.
func (t *tailing) run(ctx context.Context, yield func(Line, error) bool) {
	running, cancel := context.WithCancel(ctx)
	defer t.all.Wait()
	defer cancel()
	q := t.merge.add()
	t.merge.setLive(q, true) // until all pods are known
	t.all.Go(func() {
		defer t.merge.end(q)
		t.final = t.follow(running, q)
	})
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		it, ok, wait := t.merge.next(time.Now())
		if ok {
			if !yield(it.line, it.err) {
				return
			}
			continue
		}
		if t.merge.drained() {
			t.all.Wait() // final is set
			if ctx.Err() == nil {
				yield(Line{}, t.final)
				return
			}
			break
		}
		wait = cmp.Or(wait, time.Hour)
		timer.Reset(wait)
		select {
		case <-t.merge.wake:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	yield(Line{}, t.logs.fail(meta.Key{Namespace: t.o.Namespace}, conn.ContextError(ctx)))
}

// report yields a LogError.
func (t *tailing) report(ctx context.Context, q *queue, pod meta.Key, container string, err error) {
	if ctx.Err() == nil {
		_ = t.merge.push(ctx, q, queued{err: &LogError{Pod: pod, Container: container, err: err}}) // fails only if ctx ends
	}
}

var errGone = errors.New("the pod is gone")
