package kubectl

import (
	"fmt"
	"time"
)

// Age prints a duration as kubectl does: exactly if it is short, coarsely if it is long.
func Age(then, now time.Time) string {
	if then.IsZero() {
		return "<unknown>"
	}
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	d := now.Sub(then)
	if d <= -2*time.Second {
		return "<invalid>"
	}
	d = max(0, d)
	two := func(unit, rest time.Duration, name, restName string) string {
		if d%unit < rest {
			return fmt.Sprintf("%d%s", d/unit, name)
		}
		return fmt.Sprintf("%d%s%d%s", d/unit, name, d%unit/rest, restName)
	}
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 10*time.Minute:
		return two(time.Minute, time.Second, "m", "s")
	case d < 3*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 8*time.Hour:
		return two(time.Hour, time.Minute, "h", "m")
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 8*day:
		return two(day, time.Hour, "d", "h")
	case d < 2*year:
		return fmt.Sprintf("%dd", d/day)
	case d < 8*year:
		return two(year, day, "y", "d")
	}
	return fmt.Sprintf("%dy", d/year)
}
