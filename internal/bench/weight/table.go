package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// A table is one of Markdown: the first column is on the left, the others are numbers.
type table struct {
	header []string
	rows   [][]string
}

func (t table) print(out io.Writer) {
	widths := make([]int, len(t.header))
	for _, row := range append([][]string{t.header}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 3)
		}
	}
	line := func(row []string) {
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				fmt.Fprintf(out, "| %s%s ", cell, space)
			} else {
				fmt.Fprintf(out, "| %s%s ", space, cell)
			}
		}
		fmt.Fprintln(out, "|")
	}
	line(t.header)
	rule := make([]string, len(t.header))
	for i, width := range widths {
		if rule[i] = strings.Repeat("-", width); i > 0 {
			rule[i] = rule[i][1:] + ":"
		}
	}
	line(rule)
	for _, row := range t.rows {
		line(row)
	}
}

// ratio returns text, and how many times base it is; a side that is as large as the base gets no ratio.
func ratio(text string, value, base float64) string {
	switch {
	case value == base || base == 0:
		return text
	case value/base >= 10:
		return fmt.Sprintf("%s (%.0f×)", text, value/base)
	}
	return fmt.Sprintf("%s (%.1f×)", text, value/base)
}

// megabytes prints a size in units of 1,000,000 bytes.
func megabytes(bytes uint64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

type number interface{ ~int64 | ~uint64 }

// median returns the middle of the values, the lower one of two.
func median[V number](values []V) V {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
