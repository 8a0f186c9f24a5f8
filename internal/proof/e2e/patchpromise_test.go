package e2e

import (
	"fmt"
	"reflect"
	"slices"
)

// What a three-way merge promises, told without a schema and without a patch.

// idOf tells the items of a merged list apart, also those that have one merge key.
func idOf(name string, v any) string {
	if o, ok := v.(map[string]any); ok {
		return fmt.Sprint(o[keysOf[name]], o["protocol"], o["whenUnsatisfiable"])
	}
	return fmt.Sprint(v)
}

func isMerged(name string) bool { return keysOf[name] != "" || name == "finalizers" }

func itemOf(name string, list []any, id string) any {
	i := slices.IndexFunc(list, func(v any) bool { return idOf(name, v) == id })
	if i < 0 {
		return nil
	}
	return list[i]
}

// missing says what want has and got has not.
func missing(at, name string, want, got any) (broken []string) {
	at += "/" + name
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			return []string{at + " is missing"}
		}
		for _, member := range sortedNames(want) {
			broken = append(broken, missing(at, member, want[member], got[member])...)
		}
		return broken
	case []any:
		if isMerged(name) {
			for _, v := range want {
				broken = append(broken, missing(at, idOf(name, v), v, itemOf(name, asList(got), idOf(name, v)))...)
			}
			return broken
		}
	}
	if !reflect.DeepEqual(want, got) {
		return []string{fmt.Sprintf("%s is %v, want %v", at, got, want)}
	}
	return nil
}

// left says what was has and want no longer has, and got still has.
func left(at, name string, was, want, got any) (broken []string) {
	at += "/" + name
	switch was := was.(type) {
	case map[string]any:
		want, ok1 := want.(map[string]any)
		got, ok2 := got.(map[string]any)
		for _, member := range sortedNames(was) {
			if !ok1 || !ok2 {
				break
			}
			if _, ok := want[member]; ok {
				broken = append(broken, left(at, member, was[member], want[member], got[member])...)
			} else if got[member] != nil {
				broken = append(broken, at+"/"+member+" is left")
			}
		}
	case []any:
		want, ok1 := want.([]any)
		got, ok2 := got.([]any)
		for _, v := range was {
			if !ok1 || !ok2 || !isMerged(name) {
				break
			}
			id := idOf(name, v)
			item, still := itemOf(name, want, id), itemOf(name, got, id)
			if item != nil {
				broken = append(broken, left(at, id, v, item, still)...)
			} else if still != nil {
				broken = append(broken, at+"/"+id+" is left")
			}
		}
	}
	return broken
}

// lost says what live has, and neither was nor want, and got has not: what others have set. Where only one of several members
// may be set the others go, and where two items have one merge key the list is replaced.
func lost(at, name string, live, was, want, got any) (broken []string) {
	at += "/" + name
	switch live := live.(type) {
	case map[string]any:
		if want, ok := want.(map[string]any); ok {
			for _, member := range sortedNames(live) {
				asked, ok1 := want[member]
				before, ok2 := asObject(was)[member]
				now := asObject(got)[member]
				if ok1 && member != "strategy" {
					broken = append(broken, lost(at, member, live[member], before, asked, now)...)
				} else if !ok1 && !ok2 && !reflect.DeepEqual(now, live[member]) {
					broken = append(broken, fmt.Sprintf("%s/%s is %v, and was %v", at, member, now, live[member]))
				}
			}
		}
	case []any:
		want, ok := want.([]any)
		if !ok || !isMerged(name) || isAmbiguous(name, slices.Concat(live, want, asList(was))) {
			return nil
		}
		for _, v := range live {
			id := idOf(name, v)
			asked, before, now := itemOf(name, want, id), itemOf(name, asList(was), id), itemOf(name, asList(got), id)
			switch {
			case asked != nil && name != "volumes":
				broken = append(broken, lost(at, id, v, before, asked, now)...)
			case asked == nil && before == nil && !reflect.DeepEqual(now, v):
				broken = append(broken, fmt.Sprintf("%s/%s is %v, and was %v", at, id, now, v))
			}
		}
	}
	return broken
}

// isAmbiguous tells whether two items that are not the same have one merge key.
func isAmbiguous(name string, items []any) bool {
	ids := map[string]string{}
	for _, v := range items {
		if o, ok := v.(map[string]any); ok {
			key, id := fmt.Sprint(o[keysOf[name]]), idOf(name, v)
			if other, ok := ids[key]; ok && other != id {
				return true
			}
			ids[key] = id
		}
	}
	return false
}

// together returns the value with the items of each merge key beside one another, as a server puts them.
func together(name string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for member, value := range v {
			v[member] = together(member, value)
		}
	case []any:
		key := keysOf[name]
		first := map[string]int{}
		for i, item := range v {
			v[i] = together("", item)
			if _, ok := first[fmt.Sprint(asObject(item)[key])]; !ok {
				first[fmt.Sprint(asObject(item)[key])] = i
			}
		}
		if key != "" {
			slices.SortStableFunc(v, func(a, b any) int {
				return first[fmt.Sprint(asObject(a)[key])] - first[fmt.Sprint(asObject(b)[key])]
			})
		}
	}
	return v
}
