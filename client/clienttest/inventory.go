package clienttest

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/client/meta"
)

// inventory is every group and version that has a resource, as GVRs without one, and the resources of each: the core group first,
// then the groups that are built in, in the order of a real server, then the others by name; within a group, the version that a
// real server prefers first.
type inventory struct {
	versions []meta.GVR
	of       map[meta.GVR][]*resource
}

func (g *registry) inventory() inventory {
	var vs []meta.GVR
	of := map[meta.GVR][]*resource{}
	builtin := map[string]int{"": -1 << 30}
	for _, r := range g.registered() {
		v := meta.GVR{Group: r.Group, Version: r.Version}
		if of[v] == nil {
			vs = append(vs, v)
		}
		of[v] = append(of[v], r)
		if r.Builtin {
			builtin[r.Group] = min(builtin[r.Group], r.order-1<<20)
		}
	}
	slices.SortFunc(vs, func(a, b meta.GVR) int {
		return cmp.Or(
			cmp.Compare(builtin[a.Group], builtin[b.Group]), cmp.Compare(a.Group, b.Group), compareVersions(a.Version, b.Version),
		)
	})
	return inventory{vs, of}
}

var versionForm = regexp.MustCompile(`^v([1-9][0-9]{0,8})(?:(alpha|beta)([1-9][0-9]{0,8}))?$`)

// compareVersions orders versions as Kubernetes does: v2, v1, v1beta1, v1alpha2, and then all other forms, by name.
func compareVersions(a, b string) int {
	rank := func(s string) (stage, major, minor int) {
		m := versionForm.FindStringSubmatch(s)
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
