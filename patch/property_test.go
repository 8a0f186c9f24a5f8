package patch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/patch/carry"
	"github.com/bowline-go/bowline/patch"
)

// What a three-way merge is for, told without a schema of the package and without a patch: what modified has is there, what
// original had and modified has not is gone, and what neither has is as it was.

// keyOf says what tells the items of a workload's list apart; a list of another name is one value.
func keyOf(list string) string {
	return map[string]string{"owners": "name", "items": "name", "volumes": "name", "ports": "port", "marks": "mark"}[list]
}

// byID returns a list's items by what tells them apart, the order of those of one key included.
func byID(list string, v any) map[string]any {
	out := make(map[string]any)
	items, _ := v.([]any)
	for _, item := range items {
		id := fmt.Sprint(item)
		if object, ok := item.(map[string]any); ok {
			id = fmt.Sprint(object[keyOf(list)])
		}
		for n := 0; ; n++ {
			if _, taken := out[fmt.Sprint(id, " ", n)]; !taken {
				out[fmt.Sprint(id, " ", n)] = item
				break
			}
		}
	}
	return out
}

// isTwice tells whether two items of a list have one key.
func isTwice(list string, v any) bool {
	for id := range byID(list, v) {
		if !strings.HasSuffix(id, " 0") {
			return true
		}
	}
	return false
}

// twinFaults is threeWayFaults for a list with items of one key: there must be an item for each that is wanted, none that had to
// go, and all those that others have put there.
func twinFaults(list string, was, want, live, got any) (faults []string) {
	byKey := func(v any) map[string][]any {
		out := make(map[string][]any)
		items, _ := v.([]any)
		for _, item := range items {
			id := fmt.Sprint(item.(map[string]any)[keyOf(list)])
			out[id] = append(out[id], item)
		}
		return out
	}
	had, wanted, there, made := byKey(was), byKey(want), byKey(live), byKey(got)
	for id := range wanted {
		if len(made[id]) < len(wanted[id]) {
			faults = append(faults, "it lacks one of "+id)
		}
	}
	for id := range made {
		most := len(wanted[id]) + max(0, len(there[id])-min(len(wanted[id]), len(there[id])))
		if len(made[id]) > most {
			faults = append(faults, "it has too many of "+id)
		}
		if len(wanted[id]) == 0 && len(there[id]) <= len(had[id]) {
			faults = append(faults, "it still has "+id)
		}
	}
	for id := range there {
		others := len(there[id]) - len(had[id]) // at least
		if len(wanted[id]) == 0 && len(made[id]) < others {
			faults = append(faults, "it has lost one of "+id)
		}
		if len(wanted[id]) == 0 && len(had[id]) == 0 && !sameDecoded(there[id], made[id]) {
			faults = append(faults, "it has not kept "+id)
		}
	}
	return faults
}

// threeWayFaults returns where a result is not as it has to be. name is of the member that the values are of.
func threeWayFaults(at, name string, was, want, live, got any) (faults []string) {
	fault := func(text string, v any) {
		faults = append(faults, fmt.Sprintf("%s/%s is %v: %s %v", at, name, got, text, v))
	}
	a, okA := want.(map[string]any)
	if okA && name == "whole" || !okA && keyOf(name) == "" {
		if !sameDecoded(want, got) {
			fault("want", want)
		}
		return faults
	}
	b, _ := was.(map[string]any)
	c, isObject := live.(map[string]any)
	d, okD := got.(map[string]any)
	if _, isList := want.([]any); isList && !okA {
		a, b, c = byID(name, want), byID(name, was), byID(name, live)
		_, okD = got.([]any)
		d = byID(name, got)
		_, isObject = live.([]any)
		if okD && (isTwice(name, want) || isTwice(name, live) || isTwice(name, was)) {
			for _, text := range twinFaults(name, was, want, live, got) {
				fault(text, "")
			}
			return faults
		}
	}
	if !okD {
		fault("want", want)
		return faults
	}
	for id, value := range a {
		// An item of its list is the list's; a member says by its name what it is.
		member := id
		if !okA {
			member = "item of " + name
		}
		if value != nil {
			faults = append(faults, threeWayFaults(at+"/"+name, member, b[id], value, c[id], d[id])...)
		}
	}
	for id := range b {
		if _, ok := a[id]; !ok && d[id] != nil {
			fault("it still has", id)
		}
	}
	if name == "plan" || name == "item of volumes" || !isObject {
		return faults // what others have set there goes
	}
	for id, value := range c {
		_, wanted := a[id]
		if _, had := b[id]; !wanted && !had && !sameDecoded(d[id], value) {
			fault("it has lost", id)
		}
	}
	return faults
}

// behaviour 320
func TestAThreeWayMergeKeepsTheChangesOfBothSides(t *testing.T) {
	wrong := 0 // results that the check would refuse: the live object and the configuration, as they are
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 11))
		var docs [3][]byte
		for i := range docs {
			docs[i] = marshal(t, randomWorkload(r, 2))
		}
		p, err := patch.ThreeWay(docs[0], docs[1], docs[2], ofWorkload, patch.ThreeWayOptions{})
		body := strategicBody(t, p, err, patch.StrategicType)
		got, err := patch.ApplyStrategic(docs[2], []byte(body), ofWorkload)
		if err != nil {
			t.Fatalf("seed %d: of %s\nand %s: %v", seed, docs[2], body, err)
		}
		faults := threeWayFaults("", "", decode(t, docs[0]), decode(t, docs[1]), decode(t, docs[2]), decode(t, got))
		if len(faults) > 0 {
			t.Fatalf("seed %d: original %s\nmodified %s\nlive %s\npatch %s\nresult %s: %s", seed, docs[0], docs[1], docs[2], body, got, faults)
		}
		for _, other := range docs[1:] {
			if len(threeWayFaults("", "", decode(t, docs[0]), decode(t, docs[1]), decode(t, docs[2]), decode(t, other))) > 0 {
				wrong++
			}
		}
		// With nobody else at work it is the difference.
		p, err = patch.ThreeWay(docs[0], docs[1], docs[0], ofWorkload, patch.ThreeWayOptions{RefuseConflicts: true})
		got, err = patch.ApplyStrategic(docs[0], []byte(strategicBody(t, p, err, patch.StrategicType)), ofWorkload)
		if err != nil || !sameJSON(t, string(got), string(docs[1])) {
			t.Fatalf("seed %d: alone it makes %s, %v; want %s", seed, got, err, docs[1])
		}
	}
	if wrong < 800 {
		t.Errorf("the check refuses %d of 1000 wrong results only", wrong)
	}
}

// What a schema does not know is merged as plain JSON, whatever its names and numbers are. behaviours 324, 330
func TestApplyingADifferenceOfAnyDocumentsGivesTheOther(t *testing.T) {
	for seed := range uint64(500) {
		r := newChance(seed)
		r.NoNulls = true
		old := r.Object(4)
		changed := r.ChangeObject(old, 4)
		a, b := marshal(t, old), marshal(t, changed)
		for kind, s := range map[string]patch.Schema{patch.MergeType: {}, patch.StrategicType: ofWorkload} {
			p, err := patch.DiffStrategic(a, b, s)
			body := []byte(strategicBody(t, p, err, kind))
			apply := map[string]func(doc, change []byte) ([]byte, error){
				patch.MergeType:     patch.ApplyMerge,
				patch.StrategicType: func(doc, change []byte) ([]byte, error) { return patch.ApplyStrategic(doc, change, s) },
			}[kind]
			if got, err := apply(a, body); err != nil || !sameDecoded(decode(t, got), decode(t, b)) {
				t.Fatalf("seed %d: %s of %s\nand %s\nmakes %s, %v\nand not %s", seed, kind, a, body, got, err, b)
			}
			// Once more it changes nothing.
			p, err = patch.ThreeWay(b, b, b, s, patch.ThreeWayOptions{RefuseConflicts: true})
			if again := strategicBody(t, p, err, kind); again != "{}" {
				t.Fatalf("seed %d: nothing to do is %s", seed, again)
			}
		}
		if got, err := carry.Change(a, a, b); err != nil || !sameDecoded(decode(t, got), decode(t, b)) {
			t.Fatalf("seed %d: carried it is %s, %v; want %s", seed, got, err, b)
		}
	}
}

// parcel is a type with whatever encoding/json treats in a way of its own.
type parcel struct {
	stamp    `json:",inline"`
	Int      int64              `json:"int,omitempty"`
	Float    float64            `json:"float"`
	Number   json.Number        `json:"number,omitempty"`
	Quoted   int                `json:"quoted,string,omitempty"`
	Text     *string            `json:"text"`
	Bytes    []byte             `json:"bytes,omitempty"`
	Time     time.Time          `json:"time,omitzero"`
	Names    map[string]*parcel `json:"<names>"`
	Numbers  map[int]string     `json:"numbers,omitempty"`
	List     []parcel           `json:"list"`
	Array    [2]any             `json:"array"`
	Raw      json.RawMessage    `json:"raw,omitempty"`
	Metadata map[string]any     `json:"metadata,omitempty"`
	Left     string             `json:"-"`
}

type stamp struct {
	UID string `json:"uid,omitempty"`
}

func (r chance) parcel(depth int) (p parcel) {
	text := r.Name()
	for _, set := range []func(){
		func() { p.UID = text },
		func() { p.Int = 1<<53 + int64(r.IntN(3)) },
		func() { p.Float = []float64{0.1, 1e21, -1e-7, 5}[r.IntN(4)] },
		func() { p.Number = json.Number([]string{"1.50", "9007199254740993"}[r.IntN(2)]) },
		func() { p.Quoted = r.IntN(3) },
		func() { p.Text = &text },
		func() { p.Bytes = []byte(text) },
		func() { p.Time = time.Unix(int64(r.IntN(3)), 0).UTC() },
		func() { p.Numbers = map[int]string{r.IntN(3): text, 7: "<&>"} },
		func() { p.Array = [2]any{r.IntN(2), text} },
		func() { p.Raw = json.RawMessage(` {"x" : [1.0, "\u00e9<"] } `) },
		func() {
			p.Metadata = map[string]any{"labels": map[string]string{text: "x"}, "resourceVersion": fmt.Sprint(r.IntN(3))}
		},
		func() { p.Left = text },
	} {
		if r.IntN(3) == 0 {
			set()
		}
	}
	if depth > 0 {
		p.List = make([]parcel, r.IntN(4))
		for i := range p.List {
			p.List[i] = r.parcel(depth - 1)
		}
		if q := r.parcel(depth - 1); r.IntN(2) == 0 {
			p.Names = map[string]*parcel{text: &q, "a": nil}
		}
	}
	return p
}

// behaviour 317: of typed values, too.
func TestADiffOfTypedValuesIsThatOfTheirJSON(t *testing.T) {
	for seed := range uint64(300) {
		r := newChance(seed)
		old, changed := r.parcel(2), r.parcel(2)
		if len(old.List) > 0 { // so that they have something in common
			changed.List = slices.Clone(old.List)
			r.Shuffle(len(changed.List), func(i, j int) { changed.List[i], changed.List[j] = changed.List[j], changed.List[i] })
		}
		a, b := marshal(t, old), marshal(t, changed)
		checkDiffs(t, a, b)
		for name, diff := range map[string]func(old, changed any) patch.Patch{"Diff": patch.Diff, "DiffJSON": patch.DiffJSON, "DiffGuarded": patch.DiffGuarded} {
			typed, err := diff(old, &changed).Body()
			ofJSON, err2 := diff(json.RawMessage(a), json.RawMessage(b)).Body()
			if name == "Diff" && errors.Is(err2, patch.ErrNull) && (err == nil || errors.Is(err, patch.ErrNull)) {
				continue // JSON does not say which nulls are nil fields
			}
			if err != nil || err2 != nil || string(typed) != string(ofJSON) {
				t.Errorf("%s of the values is %s, %v\nand of their JSON %s, %v", name, typed, err, ofJSON, err2)
			}
			if same, err := diff(&old, old).Body(); err != nil || len(same) != 2 {
				t.Errorf("%s of one value is %s, %v", name, same, err)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s and %s", seed, a, b)
		}
	}
}

// A list is the same set of elements in another order: the diff puts each where it belongs, and nothing is lost or doubled.
func TestADiffOfAPermutationMovesElements(t *testing.T) {
	for seed := range uint64(150) {
		r := newChance(seed)
		n := 1 + r.IntN(12)
		items := make([]any, n)
		for i := range items {
			items[i] = map[string]any{"name": fmt.Sprint("n", i), "v": r.Value(2), "marks": []any{"a", fmt.Sprint(i)}}
		}
		old := map[string]any{"items": items, "owners": items, "rules": items, "marks": []any{"x", "y", "z"}}
		moved := slices.Clone(items)
		r.Shuffle(n, func(i, j int) { moved[i], moved[j] = moved[j], moved[i] })
		changed := map[string]any{"items": moved, "owners": moved, "rules": moved, "marks": []any{"z", "x", "y"}}
		a, b := marshal(t, old), marshal(t, changed)
		checkDiffs(t, a, b)
		p, err := patch.DiffStrategic(a, b, ofWorkload)
		got, err := patch.ApplyStrategic(a, []byte(strategicBody(t, p, err, patch.StrategicType)), ofWorkload)
		if err != nil || !reflect.DeepEqual(decode(t, got), decode(t, b)) {
			t.Fatalf("seed %d: got %s, %v; want %s", seed, got, err, b)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
