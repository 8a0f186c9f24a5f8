package strategy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cronField is one of the fields of a schedule of cron: the range of its numbers, and their names.
type cronField struct {
	low, high int
	names     string // of the numbers from low on
}

// parseSchedule returns what is wrong with a schedule of cron.
func parseSchedule(text string) error {
	if strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ=") {
		zone, rest, found := strings.Cut(text, " ")
		_, name, _ := strings.Cut(zone, "=")
		if _, err := time.LoadLocation(name); err != nil || !found {
			return fmt.Errorf("provided bad location %s", name)
		}
		text = strings.TrimSpace(rest)
	}
	if every, found := strings.CutPrefix(text, "@every "); found {
		_, err := time.ParseDuration(every)
		return err
	}
	if strings.HasPrefix(text, "@") {
		if slices.Contains([]string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}, text) {
			return nil
		}
		return fmt.Errorf("unrecognized descriptor: %s", text)
	}
	fields := []cronField{
		{0, 59, ""},
		{0, 23, ""},
		{1, 31, ""},
		{1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
		{0, 6, "sun mon tue wed thu fri sat"},
	}
	parts := strings.Fields(text)
	if len(parts) != len(fields) {
		return fmt.Errorf("expected exactly %d fields, found %d: %v", len(fields), len(parts), parts)
	}
	for i, f := range fields {
		for expression := range strings.SplitSeq(parts[i], ",") {
			if err := f.parse(expression); expression != "" && err != nil {
				return err
			}
		}
	}
	return nil
}

// parse returns what is wrong with an expression such as "*/5" or "mon-fri".
func (f cronField) parse(text string) error {
	of, step, stepped := strings.Cut(text, "/")
	from, to, isRange := strings.Cut(of, "-")
	low, high, err := f.low, f.high, error(nil)
	if from != "*" && from != "?" {
		if low, err = f.number(from); err != nil {
			return err
		}
		switch {
		case isRange:
			if high, err = f.number(to); err != nil {
				return err
			}
		case !stepped:
			high = low
		}
	}
	if stepped {
		n, err := strconv.Atoi(step)
		if err != nil || n <= 0 {
			return fmt.Errorf("step of range should be a positive number: %s", text)
		}
	}
	if low < f.low || high > f.high || low > high {
		return fmt.Errorf("not a range from %d to %d: %s", f.low, f.high, text)
	}
	return nil
}

// number returns the value of an entry of the field, which is a number, or a name such as "mon".
func (f cronField) number(text string) (int, error) {
	if i := slices.Index(strings.Fields(f.names), strings.ToLower(text)); i >= 0 {
		return f.low + i, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("not a number: %s", text)
	}
	return n, nil
}
