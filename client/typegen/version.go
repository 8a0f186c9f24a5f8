package main

import (
	"cmp"
	"regexp"
	"strconv"
	"sync"
)

var versionForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v([1-9][0-9]{0,8})(?:(alpha|beta)([1-9][0-9]{0,8}))?$`)
})

// compareVersions orders API versions as Kubernetes does: v10, v2, v1, v11beta2, v10beta3, v3beta1, v12alpha1,
// v11alpha2, and then all others by their letters.
func compareVersions(a, b string) int {
	x, y := versionForm().FindStringSubmatch(a), versionForm().FindStringSubmatch(b)
	switch {
	case x == nil && y == nil:
		return cmp.Compare(a, b)
	case x == nil:
		return 1
	case y == nil:
		return -1
	}
	stability := func(word string) int { return map[string]int{"": 0, "beta": 1, "alpha": 2}[word] }
	return cmp.Or(cmp.Compare(stability(x[2]), stability(y[2])), cmp.Compare(number(y[1]), number(x[1])), cmp.Compare(number(y[3]), number(x[3])))
}

func number(text string) int {
	n, _ := strconv.Atoi(text) // the form has at most 9 digits, or none
	return n
}
