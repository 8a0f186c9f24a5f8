// Package report prints figures: tables in Markdown, medians, sizes.
package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table is a table in Markdown. The first Left columns are text, the others numbers, which are aligned on the right.
type Table struct {
	Header []string
	Rows   [][]string
	Left   int // 0 means 1
}

// Print writes the table.
func (t Table) Print(out io.Writer) {
	widths := make([]int, len(t.Header))
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 3)
		}
	}
	left := max(t.Left, 1)
	line := func(row []string) {
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < left {
				fmt.Fprintf(out, "| %s%s ", cell, space)
			} else {
				fmt.Fprintf(out, "| %s%s ", space, cell)
			}
		}
		fmt.Fprintln(out, "|")
	}
	line(t.Header)
	rule := make([]string, len(t.Header))
	for i, width := range widths {
		if rule[i] = strings.Repeat("-", width); i >= left {
			rule[i] = rule[i][1:] + ":"
		}
	}
	line(rule)
	for _, row := range t.Rows {
		line(row)
	}
}

// Ratio returns text, followed by value divided by base. If they are equal, or base is 0, it returns only text.
func Ratio(text string, value, base float64) string {
	switch {
	case value == base || base == 0:
		return text
	case value/base >= 10:
		return fmt.Sprintf("%s (%.0f×)", text, value/base)
	}
	return fmt.Sprintf("%s (%.1f×)", text, value/base)
}

// Megabytes prints a size in units of 1,000,000 bytes.
func Megabytes[V Number](bytes V) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// Number is a type that has a median.
type Number interface{ ~int64 | ~uint64 | ~float64 }

// Median returns the middle value, or the lower of the two middle values. There must be at least one value.
func Median[V Number](values []V) V {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

// MedianOf returns the median of one figure of the samples.
func MedianOf[S any, V Number](samples []S, of func(S) V) V {
	values := make([]V, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	return Median(values)
}
