// The end of a run: workers drain ready keys, reconciles in progress have their grace, and hanging ones are named.

package controller

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/internal/report"
)

// ending says how workers end.
type ending struct {
	drain, grace time.Duration
	endDrain     func() // makes the workers take no further key
	release      func() // ends the contexts of reconciles
}

// end waits for the workers.
func (c *Controller[K]) end(workers *sync.WaitGroup, e ending) {
	done := make(chan struct{})
	go func() {
		workers.Wait()
		close(done)
	}()
	if e.drain > 0 && elapsed(done, e.drain) {
		c.log.Logger().V(1).Info("Options.Drain has passed, no further key is taken",
			"controller", c.name, "drain", e.drain)
	}
	e.endDrain()
	if e.grace > 0 {
		elapsed(done, e.grace)
	}
	e.release()
	c.waitFor(done, func() (hanging []string) {
		const most = 10
		more := 0
		for of := range c.queueNow().Keys() { // keys in progress come first, the longest first
			if of.Started.IsZero() {
				break
			}
			if len(hanging) == most {
				more++
				continue
			}
			hanging = append(hanging, fmt.Sprintf("the reconcile of %q since %s", fmt.Sprint(of.Key), of.Started.Format(time.RFC3339)))
		}
		if more > 0 {
			hanging = append(hanging, fmt.Sprintf("%d more reconciles", more))
		}
		return hanging
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

// waitFor waits until done is closed, and reports at growing intervals what it waits for.
func (c *Controller[K]) waitFor(done <-chan struct{}, hanging func() []string) {
	began := time.Now()
	for pause := report.Next(0); elapsed(done, pause); pause = report.Next(pause) {
		names := hanging()
		if len(names) == 0 {
			continue // all of it has just returned
		}
		err := fmt.Errorf("stop controller %q: still running %v after the end of their contexts: %s",
			c.name, time.Since(began).Round(time.Second), strings.Join(names, ", "))
		if c.options.OnError != nil {
			c.options.OnError(err)
		} else {
			c.log.Logger().Error(err, c.String()+": Run cannot return")
		}
	}
}
