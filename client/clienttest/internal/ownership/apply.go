package ownership

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// Apply returns what a configuration makes of a live object, and who owns what then. bare is an object of its kind without anything.
// If others own with other values what the configuration has, and force is not set, Apply returns only what each of them would lose.
func (w Write) Apply(bare, live, config jsontree.Object, all Owners, manager string, force bool) (wanted any, now, lost Owners) {
	if len(all) == 0 {
		all = w.Updated(bare, live, nil, ownedBefore)
	}
	wanted, now, lost = w.applied(live, config, all, manager)
	if len(lost) > 0 && !force {
		if lost = w.disputed(live, lost, manager); len(lost) > 0 {
			slices.SortFunc(lost, func(a, b Owner) int { return cmp.Compare(a.identity(), b.identity()) })
			return nil, nil, lost
		}
	}
	if manager == kubectl {
		noteLastApplied(wanted, config)
	}
	return wanted, now, nil
}

// applied returns what a configuration makes of a live object, who owns what then, and what others lose by that.
func (w Write) applied(live any, config jsontree.Object, all Owners, manager string) (wanted any, now, lost Owners) {
	who := w.owner(manager, operationApply)
	all = w.Known(all)
	last := all.of(who)
	who.Set, who.Time = w.Part(fieldsOf(config, w.Shape)), last.Time
	now = all.with(who)
	wanted = pruned(merged(live, config, w.Shape), last.Set, now.union(), w.Shape)
	now, lost = now.lose(who, w.changes(live, wanted))
	if !sameValue(live, wanted) {
		who.Time = &w.Now
	}
	who.Set = who.Set.Difference(unowned())
	return wanted, now.with(who), lost
}

// KindOf returns the kind that an object says it is. What cannot be one is none.
func KindOf(m jsontree.Object) meta.GVK {
	apiVersion, _ := m["apiVersion"].(string)
	kind, _ := m["kind"].(string)
	if strings.Count(apiVersion, "/") > 1 {
		return meta.GVK{}
	}
	group, version := meta.SplitAPIVersion(apiVersion)
	return meta.GVK{Group: group, Version: version, Kind: kind}
}
