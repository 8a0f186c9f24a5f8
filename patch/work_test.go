package patch

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/patch/carry"
	"github.com/bowline-go/bowline/internal/patch/tree"
	"github.com/bowline-go/bowline/internal/proof/hostile"
)

// These tests count steps, not time: work on hostile documents grows as they do.

func rootOf(t *testing.T, text string) *tree.Node {
	t.Helper()
	s, err := tree.Read("it", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	root := s.Root()
	return &root
}

// Diff and DiffJSON compared the text of each object and list around a change with that of the other document: the depth times the
// length.
func TestTheDifferenceOfHostileDocumentsCostsNoMoreThanTheirLength(t *testing.T) {
	for name, documents := range hostile.Changes() {
		if strings.HasPrefix(name, "one name") {
			continue // elements are told apart by it, however long they are
		}
		t.Run(name, func(t *testing.T) {
			hostile.Grows(t, func(n int) int {
				before, after := documents(n)
				var d mergeDiffer
				d.append(nil, rootOf(t, before).Open(), rootOf(t, after).Open())
				return d.run.Compared
			})
			hostile.Grows(t, func(n int) int {
				before, after := documents(n)
				d := scripter{}
				d.members(rootOf(t, before).Open(), rootOf(t, after).Open())
				return d.run.Compared
			})
		})
	}
}

// DiffJSON wrote the whole path for each change at each level of nested lists, 476 MiB for a document of 90 KB, and took most of it
// back.
func TestThePathsOfDeepListsAreNotWrittenAtEachLevel(t *testing.T) {
	before, after := hostile.Changes()["deep lists of two"](9000)
	d := scripter{}
	d.members(rootOf(t, before).Open(), rootOf(t, after).Open())
	if most := 2000 * (len(before) + 4*longPath); d.written > most {
		t.Errorf("%d bytes are written for a document of %d, want %d at most", d.written, len(before), most)
	}
	p := DiffJSON(json.RawMessage(before), json.RawMessage(after))
	if got, err := ApplyJSON([]byte(before), p.body); err != nil || string(got) != after {
		t.Errorf("the patch makes %.100s, %v", got, err)
	}
}

// ThreeWay went through an object from end to end for each member of another, and did not return in a minute.
func TestThreeWayOfALargeMapTakesTimeInProportionToIt(t *testing.T) {
	for name, value := range map[string]string{"text": `"a"`, "objects": `{"a":1}`} {
		members := hostile.Joined(150_000, func(i int) string { return fmt.Sprintf(`"key-%07d":%s`, i, value) })
		document := func(last string) []byte { return []byte(`{"m":{` + members + `,"z":` + last + `}}`) }
		start := time.Now()
		p, err := ThreeWay(document("1"), document("2"), document("1"), Schema{}, ThreeWayOptions{})
		if err != nil || string(p.body) != `{"m":{"z":2}}` {
			t.Errorf("%s: the patch is %.100s, %v", name, p.body, err)
		}
		if took := time.Since(start); took > 20*time.Second { // it takes 0.2 s; it took 70 s and more
			t.Errorf("%s: it took %v", name, took)
		}
	}
}

// Diff looked for the end of a text anew at each escape in it, and took minutes for this one.
func TestATextOfManyEscapesTakesTimeInProportionToIt(t *testing.T) {
	document := func(last string) json.RawMessage {
		return json.RawMessage(`{"text":"` + strings.Repeat(`\n`, 4<<20) + `","z":` + last + `}`)
	}
	start := time.Now()
	if p := Diff(document("1"), document("2")); string(p.body) != `{"z":2}` {
		t.Errorf("the patch is %.100s", p.body)
	}
	if took := time.Since(start); took > 20*time.Second { // it takes 0.2 s
		t.Errorf("it took %v", took)
	}
}

// A document of 63 MiB took 13 times its size, and a list of numbers 74 times, as each value of it had a token. Carry took 30
// times that of a list of pods, as it opened each of them three times.
func TestALargeDocumentTakesLittleMoreThanItsSize(t *testing.T) {
	const pod = `{"metadata":{"name":"web-%d","labels":{"app":"web","tier":"front"}},"spec":{"containers":[{"name":"web",` +
		`"image":"registry.example.com/web:1","ports":[{"containerPort":80}]}],"nodeName":"node-1"},"status":{"phase":"Running"}}`
	for _, test := range []struct {
		name                     string
		document                 func(last string) string
		diff, json, apply, carry float64 // the documents' size at most; of ApplyMerge and Carry, that of one
	}{
		{"objects", func(last string) string {
			return `{"a":1,"items":[` + hostile.Joined(20_000, func(i int) string { return fmt.Sprintf(pod, i) }) + `,` + last + `]}`
		}, 1.5, 3, 2, 5},
		{"numbers", func(last string) string {
			return `{"a":1,"l":[` + hostile.Joined(1<<20, func(int) string { return "1" }) + `,` + last + `]}`
		}, 1.5, 18, 2, 0}, // each element that is opened takes 24 bytes, and a pair 16
		{"empty lists", func(last string) string {
			return `{"a":1,"l":[` + hostile.Joined(1<<20, func(int) string { return "[]" }) + `,` + last + `]}`
		}, 1.5, 12, 2, 0},
		{"members", func(last string) string {
			return `{"a":1,"m":{` + hostile.Joined(100_000, func(i int) string { return fmt.Sprintf(`"key-%07d":"value of a key"`, i) }) + `,"z":` + last + `}}`
		}, 3, 3, 4, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			old, changed := []byte(test.document("1")), []byte(test.document("2"))
			took := allocated(func() {
				if p := Diff(json.RawMessage(old), json.RawMessage(changed)); p.err != nil || p.IsEmpty() {
					t.Error("there is no difference")
				}
			})
			if got := float64(took) / float64(2*len(old)); got > test.diff {
				t.Errorf("Diff takes %.1f times the size of both documents, want %.1f", got, test.diff)
			}
			took = allocated(func() {
				if p := DiffJSON(json.RawMessage(old), json.RawMessage(changed)); p.err != nil || p.IsEmpty() {
					t.Error("there is no difference")
				}
			})
			if got := float64(took) / float64(2*len(old)); got > test.json {
				t.Errorf("DiffJSON takes %.1f times the size of both documents, want %.1f", got, test.json)
			}
			took = allocated(func() {
				if _, err := ApplyMerge(old, []byte(`{"a":2,"m":{"z":3}}`)); err != nil {
					t.Error(err)
				}
			})
			if got := float64(took) / float64(len(old)); got > test.apply {
				t.Errorf("ApplyMerge takes %.1f times the size of the document, want %.1f", got, test.apply)
			}
			if test.carry == 0 {
				return // each element of a list takes more than these are written with
			}
			took = allocated(func() {
				if _, err := carry.Change(old, old, changed); err != nil {
					t.Error(err)
				}
			})
			if got := float64(took) / float64(len(old)); got > test.carry {
				t.Errorf("Carry takes %.1f times the size of the document, want %.1f", got, test.carry)
			}
		})
	}
}
