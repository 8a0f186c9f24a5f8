package explore

import (
	"testing"
	"testing/synctest"
)

// outcome is the result of a run after its end. wrong are the findings.
type outcome struct {
	*result
	wrong []string
}

// play plays a schedule in a new bubble. reference, if set, returns the run with which this run is compared. play calls
// it outside of the bubble.
func (s *search) play(which schedule, reference func(schedule) *outcome) *outcome {
	announce(which)
	// These channels are made outside of the bubble, so the bubble's time stands still while it waits for them.
	done, never := make(chan *outcome, 1), make(chan struct{})
	asked, told := make(chan schedule), make(chan *outcome)
	go func() {
		var o *outcome
		synctest.Test(s.t, func(*testing.T) {
			var ask func(schedule) *outcome
			if reference != nil {
				ask = func(compared schedule) *outcome {
					asked <- compared
					return <-told
				}
			}
			r := play(s.plan, which, s.paces, ask)
			o = &outcome{result: r}
			r.end()
			o.wrong = append(o.wrong, r.findings...)
			if r.stuck {
				done <- o
				<-never // a bubble with a goroutine left over cannot end, so this one never does
			}
		})
		done <- o
	}()
	for {
		select {
		case compared := <-asked:
			told <- reference(compared)
		case o := <-done:
			s.played(o)
			return o
		}
	}
}

// played counts a run, and releases everything that only the run itself needs.
func (s *search) played(o *outcome) {
	o.end = nil
	points := make([]*point, len(o.points))
	for i, p := range o.points {
		bare := *p
		bare.life, bare.granted, bare.client, bare.content = &life{replica: &replica{name: p.life.name}}, nil, nil, nil
		points[i] = &bare
	}
	o.points = points
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.runs++
	s.virtual += o.took
}

// referenceOf returns the run of a schedule with which another run is compared.
func (s *search) referenceOf(compared schedule) *outcome {
	if len(compared) == 0 {
		return s.want
	}
	return s.rests.of(compared)
}
