package ownership

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// Apply returns the result of applying a configuration to a live object, and the owners after it. bare is an object of
// its kind without any fields. If other owners have other values for fields of the configuration, and force is not
// set, Apply returns only the fields that each of them would lose.
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

// applied returns the result of applying a configuration to a live object, the owners after it, and the fields that
// other owners lose.
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

// KindOf returns the kind that an object names, or the zero GVK if its apiVersion is invalid.
func KindOf(m jsontree.Object) meta.GVK {
	apiVersion, _ := m["apiVersion"].(string)
	kind, _ := m["kind"].(string)
	if strings.Count(apiVersion, "/") > 1 {
		return meta.GVK{}
	}
	group, version := meta.SplitAPIVersion(apiVersion)
	return meta.GVK{Group: group, Version: version, Kind: kind}
}
