package explore

import (
	"fmt"
	"slices"
	"strings"
)

// report describes what is wrong, what happened, and how to play the schedule again.
func (s *search) report(o *outcome, failures, played int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "explore: the program breaks under %s, in %d of %s\n\nWhat is wrong:\n",
		orNothing(o.schedule), failures, amount(played, "replay"))
	for _, wrong := range o.wrong {
		text := strings.TrimRight(o.described(wrong), "\n") + o.missed(wrong)
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
	}
	fmt.Fprintf(&b, "\nWhat happened:\n%s", o.tale())
	if len(o.schedule) > 0 {
		fmt.Fprintf(&b, "\nTo play it again: go test -run '%s' -explore.schedule='%s'", pattern(s.t.Name()), o.schedule)
	}
	return b.String()
}

// pattern returns the value of -run for one test alone.
func pattern(test string) string { return "^" + strings.ReplaceAll(test, "/", "$/^") + "$" }

func orNothing(s schedule) string {
	if len(s) == 0 {
		return "no disturbance"
	}
	return s.String()
}

// missed looks for the last successful write to a differing object in the run with which this run is compared. It
// returns a line about that request if this run has no such request, and "" otherwise.
func (o *outcome) missed(wrong string) string {
	if o.unlike == nil {
		return ""
	}
	lines := slices.Clone(o.unlike.story.lines)
	slices.Reverse(lines)
	for _, l := range lines {
		name, _, _ := strings.Cut(wrong, ":")
		if l.object == "" || l.failed || !strings.HasPrefix(name+" ", l.object+" ") {
			continue
		}
		if slices.ContainsFunc(o.story.lines, func(other line) bool { return other.request() == l.request() }) {
			return ""
		}
		return "\n  without the disturbance there was " + l.request()
	}
	return ""
}

// request returns the line's text about a request, without the replica and the version.
func (l line) request() string {
	_, text, _ := strings.Cut(l.text, ": ")
	text, _, _ = strings.Cut(text, " (version")
	return text
}
