package cronjob

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// mostMissed is how many missed times are looked through. A schedule with more of them was away for long, or its clock
// is wrong.
const mostMissed = 1000

// due returns the newest time of the schedule that is not after now and after last, zero if there is none, and the next
// one after now.
func due(schedule string, last, now time.Time) (missed, next time.Time, err error) {
	times, err := cron.ParseStandard(schedule)
	if err != nil {
		return missed, next, fmt.Errorf("spec.schedule %q: %w", schedule, err)
	}
	for t, n := times.Next(last), 0; !t.IsZero() && !t.After(now); t, n = times.Next(t), n+1 {
		if n == mostMissed {
			return missed, next, fmt.Errorf("spec.schedule %q: more than %d times were missed since %s; set startingDeadlineSeconds", schedule, mostMissed, last.Format(time.RFC3339))
		}
		missed = t
	}
	return missed, times.Next(now), nil
}
