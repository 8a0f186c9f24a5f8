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

// TailOptions choose the containers that [Tail] follows. The zero value is every container of every pod that the handle
// covers, from the beginning of its log.
type TailOptions struct {
	// Namespace is that of the pods; empty is all of them, or the one that the handle is bound to.
	Namespace string
	// LabelSelector and FieldSelector select pods, such as "app=web" and "metadata.name=web"; empty selects all.
	LabelSelector string
	FieldSelector string
	// Containers says whether a container is followed; nil follows all, init and ephemeral containers too. It is called
	// from one goroutine at a time, which is not the caller's.
	Containers func(pod meta.Key, container string) bool

	// Since and Tail leave out old lines of the containers that have started when Tail begins; see [LogOptions]. Tail
	// counts for each container. Containers that start later are read from the beginning.
	Since time.Time
	Tail  int

	// Window is how long a line may wait for earlier lines of other containers: two lines of logs that are being read
	// come in order of time if they arrive within Window. 0 means 1 s. A line does not wait if no other log can have an
	// earlier one. Lines of one container that have more than 256 KiB within Window do not wait for containers that
	// have been silent for as long.
	Window time.Duration

	buffer int // how many bytes of the lines of each container are held; one line is held whatever its size. 0 means tailBuffer
}

const (
	defaultWindow = time.Second
	tailBuffer    = 256 << 10
)

// LogError says that the log of one container cannot be read now, or that the pods cannot be. In the iteration of
// [Tail] it is the only error that is not final: Tail goes on with the other containers, and tries again.
type LogError struct {
	// Pod and Container name the log. Without a Container, it is about the pod; without a Pod, about the list or watch
	// of pods.
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

// Tail follows the logs of containers as one, also of pods and containers that come later, until the caller leaves the
// loop or ctx ends. The client needs the permissions list and watch on pods, and get on pods/log.
//
// Each line is handed on once, and the lines of one container in their order. If a log is cut, Tail asks for it again
// from the second of the last line, and leaves out the lines that it has handed on: by their timestamps, and those with
// the last timestamp by their number and content. After a restart Tail reads the rest of the run before, and then the
// new one. If the log is cut before the pod's status tells of the restart, Tail may begin the new one first; the rest
// of the run before then comes later. A line is lost only if the node no longer has it when Tail asks: a log that was
// rotated meanwhile, a container that was restarted twice, a pod that has been deleted.
//
// A container's log ends with the container, and goes on if it restarts. When a pod goes, its open logs are read to
// their end, for as long as lines come, but for no longer than five minutes unless the caller is slow.
//
// Lines of different containers come in order of their time within TailOptions.Window. A slow loop stops the reading;
// nothing is dropped. Each container costs a goroutine, a request and a connection's stream while its log is open, and
// at most 256 KiB and two lines of memory beside the buffers of net/http.
//
// An error is final, except a [*LogError]. Tail reports a container's refusal at once, and a broken connection after
// three attempts in a row that failed, each once until something works again. The end of ctx is an error that wraps
// ctx.Err(). When the loop has been left, for whatever reason, nothing of it runs. Another loop over the same iterator
// begins anew, also at the same time.
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

// tailing is one loop over Tail. The goroutines are that of the pods, and one for each container; run waits for all of
// them.
type tailing struct {
	logs  logSource
	pods  client.Resource[*podState]
	o     TailOptions
	merge *merger

	all   sync.WaitGroup // the goroutines
	final error          // of the pods; read once the merger has drained
}

// run hands on lines until the loop is left or an error is final.
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
		if wait == 0 {
			wait = time.Hour
		}
		timer.Reset(wait)
		select {
		case <-t.merge.wake:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	yield(Line{}, t.logs.fail(meta.Key{Namespace: t.o.Namespace}, conn.ContextError(ctx)))
}

// report hands on an error that is not final.
func (t *tailing) report(ctx context.Context, q *queue, pod meta.Key, container string, err error) {
	if ctx.Err() == nil {
		_ = t.merge.push(ctx, q, queued{err: &LogError{Pod: pod, Container: container, err: err}}) // fails with ctx only
	}
}

var errGone = errors.New("the pod is gone")
