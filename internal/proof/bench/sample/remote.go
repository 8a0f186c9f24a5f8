package sample

// The jobs of commands in containers. The server is package canned's, whose containers have a few programs.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Executor runs a command in the container of the canned server's only pod, over one WebSocket. A nil stdin or stdout
// is not asked for.
type Executor struct {
	Settings string
	// Start makes the client.
	Start func(server string) (run func(ctx context.Context, argv []string, stdin io.Reader, stdout io.Writer) error, err error)
}

// Exec is the job of the throughput of both directions, and of the time to the first byte. CPU times are of this
// process for one GB.
func Exec(e Executor) Job {
	return func(ctx context.Context, p Params) (Report, error) {
		run, err := e.Start(p.Server)
		if err != nil {
			return Report{}, err
		}
		r := Report{Settings: e.Settings, Counts: map[string]int{}, Figures: map[string]float64{}}
		gb := float64(p.Streamed) / 1e9
		timed := func(name string, do func() error) error {
			before, start := cpu(), time.Now()
			if err := do(); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			r.Figures[name] = gb / time.Since(start).Seconds()
			r.Figures[name+" cpu"] = (cpu() - before).Seconds() / gb
			return nil
		}
		var out counted
		if err := timed("stdout", func() error { return run(ctx, []string{"write", strconv.Itoa(p.Streamed)}, nil, &out) }); err != nil {
			return Report{}, err
		}
		r.Counts["stdout"] = out.n
		var read firstWrite
		err = timed("stdin", func() error {
			return run(ctx, []string{"read"}, io.LimitReader(zeros{}, int64(p.Streamed)), &read)
		})
		if err != nil {
			return Report{}, err
		}
		if r.Counts["stdin"], err = strconv.Atoi(string(read.data)); err != nil {
			return Report{}, fmt.Errorf("read what the server has read: %w", err)
		}
		var first []float64
		for range p.Sessions {
			at := firstWrite{}
			start := time.Now()
			if err := run(ctx, []string{"write", "1"}, nil, &at); err != nil {
				return Report{}, err
			}
			first = append(first, at.at.Sub(start).Seconds())
		}
		slices.Sort(first)
		r.Figures["first"] = first[len(first)/2]
		return r, nil
	}
}

// Idle is the job of sessions in which nothing happens: each has a stdin that is open and a stdout, and has got one
// byte.
func Idle(e Executor) Job {
	return func(ctx context.Context, p Params) (Report, error) {
		run, err := e.Start(p.Server)
		if err != nil {
			return Report{}, err
		}
		// The figures leave out what the client allocates only once.
		if err := run(ctx, []string{"write", "1"}, nil, io.Discard); err != nil {
			return Report{}, err
		}
		heap, memory, goroutines := liveHeap(), steadyMemory(), runtime.NumGoroutine()
		var all sync.WaitGroup
		errs := make(chan error, p.Sessions)
		inputs := make([]*io.PipeWriter, p.Sessions)
		for i := range p.Sessions {
			in, w := io.Pipe()
			inputs[i] = w
			up := &firstWrite{done: make(chan struct{})}
			all.Go(func() { errs <- run(ctx, []string{"wait"}, in, up) })
			select {
			case <-up.done:
			case err := <-errs:
				return Report{}, errors.Join(errors.New("a session has ended"), err)
			case <-ctx.Done():
				return Report{}, context.Cause(ctx)
			}
		}
		n := float64(p.Sessions)
		r := Report{
			Settings: e.Settings, Counts: map[string]int{}, Figures: map[string]float64{
				"heap":       (liveHeap() - heap) / n,
				"memory":     (steadyMemory() - memory) / n,
				"goroutines": float64(runtime.NumGoroutine()-goroutines) / n,
			},
		}
		for _, w := range inputs {
			if err := w.Close(); err != nil {
				return Report{}, err
			}
		}
		all.Wait()
		close(errs)
		for err := range errs {
			if err != nil {
				return Report{}, err
			}
			r.Counts["ended"]++
		}
		return r, nil
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

type counted struct{ n int }

func (c *counted) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

// firstWrite keeps what is written, and notes when the first byte was written.
type firstWrite struct {
	data []byte
	at   time.Time
	done chan struct{} // closed then, unless it is nil
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if w.at.IsZero() && len(p) > 0 {
		w.at = time.Now()
		if w.done != nil {
			close(w.done)
		}
	}
	w.data = append(w.data, p...)
	return len(p), nil
}
