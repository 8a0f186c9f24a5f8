package sample

// The job of a reconcile that reads its own write, against a cluster whose watches are late.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Writer is one side's controller of the config maps in the namespace default. Its reconcile writes to an object, and
// then reads its own write from the cache.
type Writer struct {
	Settings string
	// Run makes a client and a controller, and runs it until ctx ends. For each config map it calls:
	//
	//   - began, when a reconcile starts to write the text to data.state, which has another value;
	//   - read, when it has read data.state from its cache after the write, with the value.
	Run func(ctx context.Context, server string, workers int, text string, began func(), read func(name, state string)) error
}

// WriterWorkers are the numbers of workers that are measured.
var WriterWorkers = []int{1, 8}

// OwnWrites is the job of Params.Written objects, each of which is written once and then read, with each number of
// workers in turn, by a new controller. The figure is the number of objects a second, from the start of the first write
// until the last object was read. It counts the objects of which the side has read its own write, and the reads of
// another state.
func OwnWrites(w Writer) Job {
	return func(ctx context.Context, p Params) (Report, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, errors.New("it takes too long"))
		defer cancel()
		for i := range p.Written {
			if err := createConfigMap(ctx, p.Server, fmt.Sprintf("written-%d", i)); err != nil {
				return Report{}, err
			}
		}
		r := Report{Settings: w.Settings, Counts: map[string]int{}, Figures: map[string]float64{}}
		for _, workers := range WriterWorkers {
			took, stale, err := w.write(ctx, p, workers)
			if err != nil {
				return Report{}, err
			}
			r.Counts["read"] += p.Written
			r.Counts["stale"] += stale
			r.Figures[fmt.Sprintf("by %d", workers)] = float64(p.Written) / took.Seconds()
		}
		return r, nil
	}
}

// write writes and reads all objects once.
func (w Writer) write(ctx context.Context, p Params, workers int) (took time.Duration, stale int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex // guards first, last, done and stale
	var first, last time.Time
	done, all := map[string]bool{}, make(chan struct{})
	text := fmt.Sprintf("by %d", workers)
	began := func() {
		mu.Lock()
		defer mu.Unlock()
		if first.IsZero() {
			first = time.Now()
		}
	}
	read := func(name, state string) {
		mu.Lock()
		defer mu.Unlock()
		if state != text {
			stale++
			return
		}
		if done[name] = true; len(done) == p.Written && last.IsZero() {
			last = time.Now()
			close(all)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, p.Server, workers, text, began, read) }()
	select {
	case <-all:
	case err := <-ended:
		return 0, 0, fmt.Errorf("write and read %d objects: the controller has ended: %w", p.Written, errors.Join(err, context.Cause(ctx)))
	}
	cancel()
	if err := <-ended; err != nil {
		return 0, 0, fmt.Errorf("end the controller: %w", err)
	}
	return last.Sub(first), stale, nil
}

func createConfigMap(ctx context.Context, server, name string) error {
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"state":"new"}}`, name)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server+"/api/v1/namespaces/default/configmaps", strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusCreated {
		return fmt.Errorf("create config map %q: the server said %s: %s", name, response.Status, answer)
	}
	return nil
}
