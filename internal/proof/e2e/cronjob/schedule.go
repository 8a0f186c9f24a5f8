package cronjob

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// mostMissed is how many missed times due looks at. If there are more, the controller was away for long, or a
// clock is wrong.
const mostMissed = 1000

// due returns two times of the schedule: missed, the newest one after last and not after now, or zero if there is
// none; and next, the first one after now.
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
