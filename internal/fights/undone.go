package fights

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/fieldset"
	"github.com/bowline-go/bowline/internal/follow"
)

// maxFields is how many fields a fight names.
const maxFields = 16

// undone returns our fields that were different before our writes, with the other writer and what it did.
func undone(before, after evidence, managers []string, a acts) (fields []Field) {
	ours := after.fields(managers, false)
	within := after.fields(managers, true).Union(before.fields(managers, true))
	was := make(map[string]any)
	walk(ours, within, before.object, nil, func(path []string, value any) bool {
		was[fieldset.Path(path)] = value
		return true
	})
	walk(ours, within, after.object, nil, func(path []string, value any) bool {
		if len(fields) == maxFields {
			return false
		}
		name := fieldset.Path(path)
		old, there := was[name]
		if there && reflect.DeepEqual(old, value) {
			return true
		}
		f := Field{Path: name, OtherRemoves: !there}
		if owners := after.who(path); len(owners) > 0 {
			f.Ours = first(owners, func(m string) bool { return slices.Contains(managers, m) })
		}
		if there {
			owners := before.who(path)
			f.Other = first(owners, func(m string) bool { return !slices.Contains(managers, m) })
			if f.Other == "" && len(owners) > 0 {
				f.Other = owners[0] // another writer with our name
			}
		}
		if (f.Other == "" || f.Other == f.Ours) && !a.set(path) {
			return there // another writer with our name may have made both changes
		}
		fields = append(fields, f)
		return there
	})
	return fields
}

// first returns the first of all for which ok holds, or an empty text.
func first(all []string, ok func(string) bool) string {
	if i := slices.IndexFunc(all, ok); i >= 0 {
		return all[i]
	}
	return ""
}

// removed returns the fields of others that our writes have removed.
func removed(before, after evidence, managers []string, a acts) (fields []Field) {
	ours := a.writes[len(a.writes)-1].Manager
	for _, o := range before.owners {
		if slices.Contains(managers, o.manager) {
			continue
		}
		left := make(map[string]bool)
		walk(o.set, nil, after.object, nil, func(path []string, _ any) bool {
			left[fieldset.Path(path)] = true
			return true
		})
		walk(o.set, nil, before.object, nil, func(path []string, _ any) bool {
			if len(fields) == maxFields {
				return false
			}
			name := fieldset.Path(path)
			if !left[name] && a.tookAway(path) {
				fields = append(fields, Field{Path: name, Ours: ours, Other: o.manager, OursRemoves: true})
			}
			return left[name]
		})
	}
	return fields
}

// acts are the writes of a reconcile to an object that was read before. The read and the answer to the last write do
// not show who made which change in between: another writer may have written too, for example one that holds a lock
// for a moment.
type acts struct {
	writes []follow.Write
	// alone says that no other writer wrote in between: each write was based on the version of the previous one, and
	// had an effect.
	alone bool
}

// actsOf returns the acts of a reconcile on an object whose version was before.
func actsOf(writes []follow.Write, before string) acts {
	a := acts{writes, true}
	for _, w := range writes {
		a.alone = a.alone && versionOf(w.Sent) == before && w.ResourceVersion != before
		before = w.ResourceVersion
	}
	return a
}

// versionOf returns the resource version that an update or a patch is for, if any.
func versionOf(sent []byte) string {
	var head struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(sent, &head) // a JSON patch is a list
	return head.Metadata.ResourceVersion
}

// set reports whether the writes have set a field that we own now.
func (a acts) set(path []string) bool {
	return a.alone || slices.ContainsFunc(a.writes, func(w follow.Write) bool { return mentions(w.Sent, path) })
}

// tookAway reports whether the writes have removed another writer's field, which existed before and does not now.
func (a acts) tookAway(path []string) bool {
	return a.alone || slices.ContainsFunc(a.writes, func(w follow.Write) bool {
		switch {
		case w.Verb == "apply", versionOf(w.Sent) != "":
			return false // an apply removes only fields that the same manager has applied
		case w.Verb == "patch":
			return mentions(w.Sent, path)
		}
		return true
	})
}

// mentions reports whether a patch contains the name of the last member of path, as a name or in a pointer (RFC 6901).
func mentions(body []byte, path []string) bool {
	for _, key := range slices.Backward(path) {
		if name, ok := strings.CutPrefix(key, "f:"); ok {
			quoted, _ := json.Marshal(name) // a string can be encoded
			pointer := "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
			return slices.ContainsFunc([]string{string(quoted), pointer + "/", pointer + `"`}, func(text string) bool {
				return bytes.Contains(body, []byte(text))
			})
		}
	}
	return false
}
