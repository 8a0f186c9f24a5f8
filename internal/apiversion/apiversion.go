// Package apiversion orders the versions of API groups.
package apiversion

import (
	"cmp"
	"regexp"
	"strconv"
	"sync"
)

var form = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v([1-9][0-9]{0,8})(?:(alpha|beta)([1-9][0-9]{0,8}))?$`)
})

// Compare orders versions as Kubernetes does, the most stable first: v10, v2, v1, v11beta2, v3beta1, v12alpha1, and
// then all other texts by their letters.
func Compare(a, b string) int {
	rank := func(s string) (stage, major, minor int) {
		m := form().FindStringSubmatch(s)
		if m == nil {
			return 0, 0, 0
		}
		major, _ = strconv.Atoi(m[1])
		minor, _ = strconv.Atoi(m[3])
		return map[string]int{"alpha": 1, "beta": 2, "": 3}[m[2]], major, minor
	}
	as, am, an := rank(a)
	bs, bm, bn := rank(b)
	return cmp.Or(cmp.Compare(bs, as), cmp.Compare(bm, am), cmp.Compare(bn, an), cmp.Compare(a, b))
}
