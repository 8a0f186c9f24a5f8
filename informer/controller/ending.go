// The end of a run: what is ready is worked off, what is in progress has its grace, and what hangs is named.

package controller

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/internal/report"
)

// ending says how workers end.
type ending struct {
	drain, grace time.Duration
	endDrain     func() // no further key is taken
	release      func() // the contexts of reconciles end
}

// end waits for the workers.
func (c *Controller[K]) end(workers *sync.WaitGroup, e ending) {
	done := make(chan struct{})
	go func() {
		workers.Wait()
		close(done)
	}()
	if e.drain > 0 && elapsed(done, e.drain) {
		c.log.Logger().V(1).Info("drained for as long as it may", "controller", c.name, "drain", e.drain)
	}
	e.endDrain()
	if e.grace > 0 {
		elapsed(done, e.grace)
	}
	e.release()
	c.waitFor(done, func() (h HangError) {
		for of := range c.queueNow().Keys() { // those in progress come first
			if of.Started.IsZero() {
				break
			}
			h.Reconciles = append(h.Reconciles, Hanging{Key: of.Key, Since: of.Started})
		}
		return h
	})
}

// elapsed waits for d, and returns true; if done is closed before, it returns false.
func elapsed(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return false
	case <-timer.C:
		return true
	}
}

// waitFor waits until done is closed, and says at growing intervals what it waits for.
func (c *Controller[K]) waitFor(done <-chan struct{}, hanging func() HangError) {
	began := time.Now()
	for pause := report.Next(0); elapsed(done, pause); pause = report.Next(pause) {
		h := hanging()
		h.Controller, h.After = c.name, time.Since(began)
		if len(h.Reconciles)+len(h.Sources) == 0 {
			continue // it has just returned
		}
		if c.options.OnError != nil {
			c.options.OnError(&h)
		} else {
			c.log.Logger().Error(&h, c.String()+": Run cannot return")
		}
	}
}

// HangError says what keeps the Run of a controller from returning. Options.OnError receives it when the contexts of
// reconciles and sources have ended 5 s before, and again at growing intervals.
type HangError struct {
	// Controller is the name of the controller.
	Controller string
	// After is how long ago the contexts ended.
	After time.Duration
	// Reconciles are those that have not returned, the longest first.
	Reconciles []Hanging
	// Sources are the names of the sources that have not returned, or of the informers that they need.
	Sources []string
}

// Hanging is a reconcile that has not returned.
type Hanging struct {
	// Key is its key; its type is the controller's type of keys.
	Key any
	// Since is when it began.
	Since time.Time
}

// String names the key and the time.
func (h Hanging) String() string {
	return fmt.Sprintf("the reconcile of %q since %s", fmt.Sprint(h.Key), h.Since.Format(time.RFC3339))
}

// Error names up to ten reconciles, and the sources.
func (e *HangError) Error() string {
	const most = 10
	var parts []string
	for _, h := range e.Reconciles[:min(len(e.Reconciles), most)] {
		parts = append(parts, h.String())
	}
	if more := len(e.Reconciles) - most; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more reconciles", more))
	}
	return fmt.Sprintf("stop controller %q: still running %v after the end of their contexts: %s",
		e.Controller, e.After.Round(time.Second), strings.Join(slices.Concat(parts, e.Sources), ", "))
}
