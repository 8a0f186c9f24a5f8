package sample

// The job of a whole controller, against the canned server.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Controller is one side's controller of the server's pods.
type Controller struct {
	// Settings are its public settings.
	Settings string
	// Run makes a client and a controller with one worker, and runs it until ctx ends. Its reconcile does nothing but
	// call reconciled with the name of the pod.
	Run func(ctx context.Context, server string, reconciled func(name string)) error
}

// Controlled is the job of a controller from its start until it has reconciled each pod once. Wall is the time from
// before the client is made until that moment. CPU is that of the process until that moment, including its start, and
// so is the peak memory. It counts the distinct pods, and the reconciles of a pod that was reconciled before or does
// not exist.
func Controlled(c Controller) Job {
	return func(ctx context.Context, p Params) (Report, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, errors.New("it takes too long"))
		defer cancel()
		seen, all := make([]bool, p.Pods), make(chan struct{})
		var distinct, wrong atomic.Int64
		began := time.Now()
		ended := make(chan error, 1)
		go func() {
			ended <- c.Run(ctx, p.Server, func(name string) { // by one worker
				i, err := number(name)
				if err != nil || i >= len(seen) || seen[i] {
					wrong.Add(1)
					return
				}
				seen[i] = true
				if distinct.Add(1) == int64(len(seen)) {
					close(all)
				}
			})
		}()
		select {
		case <-all:
		case err := <-ended:
			return Report{}, fmt.Errorf("run the controller until all pods are reconciled: it ended with %d of %d: %w",
				distinct.Load(), p.Pods, errors.Join(err, context.Cause(ctx)))
		}
		wall, used, peak := time.Since(began), cpu(), peakMemory()
		cancel()
		if err := <-ended; err != nil {
			return Report{}, fmt.Errorf("end the controller: %w", err)
		}
		return Report{
			Settings: c.Settings,
			Counts:   map[string]int{"reconciled": int(distinct.Load()), "wrong": int(wrong.Load())},
			Figures:  map[string]float64{"wall": wall.Seconds(), "cpu": used.Seconds(), "peak": peak},
		}, nil
	}
}

// number returns the number of the canned pod with the name.
func number(name string) (int, error) {
	n, err := strconv.ParseUint(name[strings.LastIndexByte(name, '-')+1:], 16, 32)
	return int(n), err
}
