package strategy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// checkFailurePolicy checks the rules by which a job fails. spec is that of the job.
func checkFailurePolicy(spec, rules value) {
	if rules.len() > 20 {
		rules.tooMany(20)
	}
	names := map[string]bool{}
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.at("template", "spec", list).items() {
			names[c.at("name").text()] = true
		}
	}
	for _, rule := range rules.items() {
		action, codes, conditions := rule.at("action"), rule.at("onExitCodes"), rule.at("onPodConditions")
		action.oneOf("Count", "FailIndex", "FailJob", "Ignore")
		if action.text() == "FailIndex" && !spec.at("backoffLimitPerIndex").exists() {
			action.invalid("requires the backoffLimitPerIndex to be set")
		}
		if codes.exists() == (conditions.len() > 0) {
			rule.invalid("specifying one of onExitCodes and onPodConditions is required")
		}
		if codes.exists() {
			checkExitCodes(codes, names)
		}
		if conditions.len() > 20 {
			conditions.tooMany(20)
		}
		for _, c := range conditions.items() {
			c.at("type").fits(qualified(c.at("type").text()))
			c.at("status").oneOf("False", "True", "Unknown")
		}
	}
}

// checkExitCodes checks the exit codes in a rule. names are those of the containers.
func checkExitCodes(v value, names map[string]bool) {
	v.at("operator").oneOf("In", "NotIn")
	if name := v.at("containerName"); name.exists() && !names[name.text()] {
		name.invalid("must be one of the container or initContainer names in the pod template")
	}
	codes := v.at("values")
	switch {
	case codes.len() == 0:
		codes.invalid("at least one value is required")
	case codes.len() > 255:
		codes.tooMany(255)
	}
	ordered, seen := true, map[int64]bool{}
	for i, code := range codes.items() {
		n := code.number()
		if n == 0 && v.at("operator").text() == "In" {
			code.invalid("must not be 0 for the In operator")
		}
		if seen[n] {
			code.duplicate()
		}
		seen[n] = true
		ordered = ordered && (i == 0 || codes.items()[i-1].number() <= n)
	}
	if !ordered {
		codes.invalid("must be ordered")
	}
}

// checkSuccessPolicy checks the rules by which a job succeeds. spec is that of the job.
func checkSuccessPolicy(spec, rules value) {
	switch {
	case rules.len() == 0:
		rules.required("at least one rules must be specified when the successPolicy is specified")
	case rules.len() > 20:
		rules.tooMany(20)
	}
	completions := spec.at("completions").number()
	for _, rule := range rules.items() {
		count, indexes := rule.at("succeededCount"), rule.at("succeededIndexes")
		if !count.exists() && !indexes.exists() {
			rule.required("at least one of succeededCount or succeededIndexes must be specified")
		}
		if indexes.len() > 64<<10 {
			indexes.tooLong(64 << 10)
		}
		all, err := parseIndexes(indexes.text(), completions)
		if err != nil {
			indexes.invalid("error parsing succeededIndexes: %v", err)
		}
		if !count.exists() {
			continue
		}
		count.natural()
		if count.number() > completions || indexes.exists() && count.number() > countIndexes(all) {
			count.invalid("must be less than or equal to the number of indexes")
		}
	}
}

// interval is a range of indexes, including both ends.
type interval struct{ from, to int64 }

// parseIndexes returns the indexes that a text such as "0,3-5" lists in ascending order. It returns none if there is an
// error.
func parseIndexes(text string, completions int64) ([]interval, error) {
	if text == "" {
		return nil, nil
	}
	var all []interval
	last := int64(-1)
	for part := range strings.SplitSeq(text, ",") {
		i, err := parseInterval(part, completions)
		switch {
		case err != nil:
			return nil, err
		case len(all) > 0 && i.from <= last:
			return nil, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, i.from)
		}
		all, last = append(all, i), i.to
	}
	return all, nil
}

func parseInterval(text string, completions int64) (interval, error) {
	var ends []int64
	for part := range strings.SplitSeq(text, "-") {
		n, err := strconv.Atoi(part)
		switch {
		case err != nil:
			return interval{}, fmt.Errorf("cannot convert string to integer for index: %q", part)
		case int64(n) >= completions:
			return interval{}, fmt.Errorf("too large index: %q", part)
		}
		ends = append(ends, int64(n))
	}
	switch {
	case len(ends) == 1:
		return interval{ends[0], ends[0]}, nil
	case len(ends) > 2:
		return interval{}, fmt.Errorf("the fragment %q has more than two parts", text)
	case ends[0] >= ends[1]:
		return interval{}, errors.New("non-increasing order")
	}
	return interval{ends[0], ends[1]}, nil
}

func countIndexes(all []interval) (n int64) {
	for _, i := range all {
		n += i.to - i.from + 1
	}
	return n
}
