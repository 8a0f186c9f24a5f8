package controllers

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// indexes is a set of completion indexes of a job.
type indexes map[int]bool

// parseIndexes reads a set as a job's status has it, such as "0,2-5,9". It leaves out the indexes that are not below
// the number of completions.
func parseIndexes(text string, completions int) indexes {
	set := indexes{}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			continue // the text is empty, or no controller has written it
		}
		to := from
		if isRange {
			if to, err = strconv.Atoi(last); err != nil {
				continue
			}
		}
		for i := from; i <= min(to, completions-1); i++ {
			set[i] = true
		}
	}
	return set
}

// String returns the set in the form of a job's status: three or more in a row are a range.
func (s indexes) String() string {
	var parts []string
	sorted := slices.Sorted(maps.Keys(s))
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		switch j - i {
		case 0:
			parts = append(parts, strconv.Itoa(sorted[i]))
		case 1:
			parts = append(parts, strconv.Itoa(sorted[i]), strconv.Itoa(sorted[j]))
		default:
			parts = append(parts, strconv.Itoa(sorted[i])+"-"+strconv.Itoa(sorted[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// with returns the set with further indexes.
func (s indexes) with(others indexes) indexes {
	all := maps.Clone(s)
	maps.Copy(all, others)
	return all
}
