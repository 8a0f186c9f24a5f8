package patch

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/fieldset"
	"github.com/bowline-go/bowline/internal/proof/hostile"
)

// hostileManaged returns an object with a list, and with managedFields by which the manager "m" has applied what fields says.
func hostileManaged(list, fields string) json.RawMessage {
	return json.RawMessage(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","managedFields":[{"manager":"m","operation":"Apply",` +
		`"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":` + fields + `}]},"l":[` + list + `]}`)
}

// hostileLists are lists with managedFields, of n of whatever makes them slow.
var hostileLists = map[string]func(n int) json.RawMessage{
	"elements by names": func(n int) json.RawMessage {
		return hostileManaged(hostile.Joined(8*n, func(int) string { return `{}` }),
			`{"f:l":{`+hostile.Joined(n, func(i int) string { return fmt.Sprintf(`"k:{\"n%05d\":1}":{}`, i) })+`}}`)
	},
	"elements by names that they have": func(n int) json.RawMessage {
		element := `{` + hostile.Joined(20, func(i int) string { return fmt.Sprintf(`"n%d":1`, i) }) + `}`
		return hostileManaged(hostile.Joined(n, func(int) string { return element }),
			`{"f:l":{`+hostile.Joined(n, func(i int) string { return fmt.Sprintf(`"k:{\"n%d\":1,\"x%d\":2}":{}`, i, i) })+`}}`)
	},
	"elements of one key by what is in it": func(n int) json.RawMessage {
		return hostileManaged(hostile.Joined(n, func(int) string { return `{"n":1,"l":[{}]}` }),
			`{"f:l":{"k:{\"n\":1}":{"f:l":{`+hostile.Joined(n, func(i int) string { return fmt.Sprintf(`"k:{\"n%05d\":1}":{}`, i) })+`}}}}`)
	},
	"elements of one key by its length": func(n int) json.RawMessage {
		return hostileManaged(hostile.Joined(n, func(int) string { return `{"n":1}` }),
			`{"f:l":{"k:{\"n\":1,\"d\":\"`+strings.Repeat("d", 24*n)+`\"}":{".":{},"f:n":{}}}}`)
	},
}

// Security: whoever may write an object may write its managedFields, and so could hold a controller that extracts from it, for a
// minute with an object of 869 KB.
func TestHostileManagedFieldsCostNoMoreThanTheirLength(t *testing.T) {
	for name, hostile := range hostileLists {
		t.Run(name, func(t *testing.T) {
			looks := func(n int) (looked int, bytes uint64) {
				object := hostile(n)
				root, entries, err := readManaged(object)
				if err != nil {
					t.Fatal(err)
				}
				own, err := fieldset.Of(&entries[0])
				if err != nil {
					t.Fatal(err)
				}
				k := &namings{}
				k.owned(root, own, &fieldset.Set{})
				return k.looks, allocated(func() {
					if _, err := Extract(object, FieldManager{Name: "m"}); err != nil {
						t.Fatal(err)
					}
				})
			}
			few, fewBytes := looks(100)
			many, manyBytes := looks(800)
			if few == 0 || many > 9*few {
				t.Errorf("%d lookups became %d for 8 times as much", few, many)
			}
			if manyBytes > 16*fewBytes {
				t.Errorf("%d bytes became %d for 8 times as much", fewBytes, manyBytes)
			}
		})
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAKeyWithTooManyMembersIsRefused(t *testing.T) {
	object := func(n int) json.RawMessage {
		members := hostile.Joined(n, func(i int) string { return fmt.Sprintf(`"n%02d":1`, i) })
		key, err := json.Marshal("k:{" + members + "}")
		if err != nil {
			t.Fatal(err)
		}
		return hostileManaged("{"+members+"}", `{"f:l":{`+string(key)+`:{".":{}}}}`)
	}
	got, err := Extract(object(64), FieldManager{Name: "m"})
	if err != nil || !strings.Contains(string(got), `"n63":1`) {
		t.Errorf("got %s, %v", got, err)
	}
	_, err = Extract(object(65), FieldManager{Name: "m"})
	if err == nil || !strings.Contains(err.Error(), "has 65 members, and 64 are allowed") {
		t.Errorf("got %v", err)
	}
}

// The objects of these sizes took 5 s and 60 s.
func BenchmarkHostileManagedFields(b *testing.B) {
	for _, n := range []int{4_800, 19_500} {
		object := hostileLists["elements by names"](n)
		m := FieldManager{Name: "m"}
		b.Run(fmt.Sprintf("Extract/%dKB", len(object)/1000), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Extract(object, m); err != nil {
					b.Fatal(err)
				}
			}
		})
		config := Apply(json.RawMessage(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"l":[` +
			hostile.Joined(n, func(i int) string { return fmt.Sprintf(`{"n%05d":1}`, i) }) + `]}`))
		b.Run(fmt.Sprintf("IsApplied/%dKB", len(object)/1000), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if config.IsApplied(object, m) {
					b.Fatal("it is not")
				}
			}
		})
	}
}
