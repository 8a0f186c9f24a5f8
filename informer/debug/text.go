package debug

import (
	"fmt"
	"time"
)

// Numbers and times in a form for people.

// short returns a duration with two figures: "350 ms", "12 s", "3 min 20 s", "5 h 10 min", "3 d 4 h".
func short(d time.Duration) string {
	if d < 0 {
		return "-" + short(-d)
	}
	two := func(a, b time.Duration, big, small string) string {
		if rest := d % a / b; rest > 0 {
			return fmt.Sprintf("%d %s %d %s", d/a, big, rest, small)
		}
		return fmt.Sprintf("%d %s", d/a, big)
	}
	switch {
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d)
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d/time.Microsecond)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d/time.Millisecond)
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return two(time.Minute, time.Second, "min", "s")
	case d < 24*time.Hour:
		return two(time.Hour, time.Minute, "h", "min")
	}
	return two(24*time.Hour, time.Hour, "d", "h")
}

// size returns a number of bytes: "512 B", "12.3 kB", "4.1 MB".
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, units := float64(n), "kMGTPE"
	for i := range len(units) {
		if v /= 1000; v < 999.95 {
			return fmt.Sprintf("%.1f %cB", v, units[i])
		}
	}
	return fmt.Sprintf("%.1f EB", v)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(n) + " " + noun + "s"
}

func areKeys(n int) string {
	if n == 1 {
		return "1 key is"
	}
	return grouped(n) + " keys are"
}
