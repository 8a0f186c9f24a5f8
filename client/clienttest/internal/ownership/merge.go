package ownership

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// merged returns live with the values of config; either may be missing. It removes nothing; pruned does that.
func merged(live, config any, s *schema.Shape) any {
	if config == (missing{}) {
		return live
	}
	liveObject, object := objectIn(live, s), objectIn(config, s)
	if isObject(config) && len(liveObject)+len(object) > 0 {
		out := make(jsontree.Object, len(liveObject)+len(object))
		for name := range allKeys(liveObject, object) {
			inner, _ := s.Field(name)
			out[name] = merged(valueOf(liveObject, name), valueOf(object, name), inner)
		}
		return out
	}
	liveList, list := listIn(live, s), listIn(config, s)
	if isList(config) && len(liveList)+len(list) > 0 {
		return mergedList(liveList, list, s)
	}
	return config
}

// mergedList merges two lists whose elements have keys. The elements of config come in its order. An element that only
// live has stays before the next element that both have, or at the end.
func mergedList(live, config []any, s *schema.Shape) any {
	inLive, inConfig := index(s, live), index(s, config)
	var shared []string // the keys in both that are not merged yet, in the order of config
	for _, key := range inConfig.order {
		if inLive.by[key] != nil {
			shared = append(shared, key)
		}
	}
	// If live has several elements with one key, config is merged with null.
	element := func(key string) any {
		switch all := inLive.by[key]; len(all) {
		case 0:
			return missing{}
		case 1:
			return all[0]
		}
		return nil
	}
	var out []any
	done := make(map[string]bool, len(inConfig.order))
	take := func(key string) {
		done[key] = true
		out = append(out, merged(element(key), inConfig.by[key][0], s.Item()))
		if len(shared) > 0 && shared[0] == key {
			shared = shared[1:]
		}
	}
	l, c := 0, 0
	for l < len(inLive.order) || c < len(inConfig.order) {
		if l < len(inLive.order) {
			key := inLive.order[l]
			both := inConfig.by[key] != nil
			switch {
			case c < len(inConfig.order) && key == inConfig.order[c]:
				take(key)
				l, c = l+1, c+1
				continue
			case !both:
				out = append(out, inLive.list[l])
				l++
				continue
			case c < len(inConfig.order) && len(shared) > 0 && shared[0] != key:
				l++ // config has it at another place
				continue
			case done[key]:
				l++
			}
		}
		if c < len(inConfig.order) {
			take(inConfig.order[c])
			c++
		}
	}
	if len(out) == 0 {
		return missing{}
	}
	return out
}

// pruned returns the result of a merge without the fields that the applier applied last time and that are neither in
// the new configuration nor owned by another owner.
func pruned(v any, last, owned *fieldset.Set, s *schema.Shape) any {
	if last.IsEmpty() {
		return v
	}
	all := named(fieldsOf(v, s), s)
	fields := func(v any) *fieldset.Set { return named(fieldsOf(v, s), s) }
	without := fields(remove(v, named(last, s), s))
	// A field that is removed together with another field may still have an owner; it must stay.
	without = fields(remove(v, all.Difference(without.Union(named(owned, s))), s))
	// Fields without an owner stay, unless they are inside a field that was applied.
	return remove(v, all.Difference(without).Intersection(named(last, s)), s)
}
