package codec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
)

// Objects share memory with those that the same decoder makes later, but nothing that changes.
func TestObjectsStayAsTheyAre(t *testing.T) {
	type object struct {
		Labels  map[string]string `json:"labels"`
		Strings []string          `json:"strings"`
		Structs []port            `json:"structs"`
		Any     any               `json:"any"`
		Ports   map[string]port   `json:"ports"`
		Time    *meta.Time        `json:"time"`
	}
	document := func(i int) []byte {
		return fmt.Appendf(nil, `{"labels":{"a":"%[1]d","b":"same"},"strings":["%[1]d","same",""],"structs":[{"name":"%[1]d"},`+
			`{"port":%[1]d}],"any":[{"x":"%[1]d"},%[1]d],"ports":{"p%[1]d":{"port":%[1]d}},"time":"2026-09-14T08:21:%02[1]dZ"}`, i)
	}
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			var objects []*object
			for i := range 50 {
				raw := document(i)
				v, err := codec.Unmarshal[*object](raw)
				if err != nil {
					t.Error(err)
					return
				}
				clear(raw)
				objects = append(objects, v)
				if i%7 == g { // one that fails in the middle of everything
					broken := append(document(i), 'x')
					if _, err := codec.Unmarshal[*object](broken); err == nil {
						t.Error("accepted what is not JSON")
					}
				}
			}
			for i, got := range objects {
				want := new(object)
				if err := json.Unmarshal(document(i), want); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v, want %+v", got, want)
				}
				if len(got.Structs) != cap(got.Structs) && cap(got.Structs) > 4 {
					t.Errorf("the slice has room for %d", cap(got.Structs))
				}
			}
		})
	}
	wait.Wait()
}

// nested decodes what is inside of it with this package; broken panics.
type (
	nested struct{ in *podView }
	broken struct{}
)

func (n *nested) UnmarshalJSON(b []byte) (err error) {
	n.in, err = codec.Unmarshal[*podView](b)
	return err
}

func (*broken) UnmarshalJSON([]byte) error { panic("on purpose") }

func TestMethodsMayDecodeAndPanic(t *testing.T) {
	type object struct {
		Before []string             `json:"before"`
		Nested []nested             `json:"nested"`
		Broken []map[string]*broken `json:"broken"`
		After  string               `json:"after"`
	}
	raw := `{"before":["x"],"nested":[{"metadata":{"name":"n"}},{"metadata":{"name":"m"}}],"after":"y"}`
	for range 3 {
		v, err := codec.Unmarshal[*object]([]byte(raw))
		if err != nil || v.Nested[0].in.Name != "n" || v.Nested[1].in.Name != "m" || v.Before[0] != "x" || v.After != "y" {
			t.Errorf("got %+v, %v", v, err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is gone")
				}
			}()
			_, _ = codec.Unmarshal[*object]([]byte(`{"before":["x"],"broken":[{},{"a":{}}]}`))
		}()
	}
}

// counted is a time that counts how often it is decoded.
type counted struct{ at time.Time }

var countedCalls int

func (c *counted) UnmarshalJSON(b []byte) error {
	countedCalls++
	if string(b) == "null" {
		return errors.New("null")
	}
	return (*moment)(c).UnmarshalJSON(b)
}

// The same text of a type that holds only a time is decoded once, as long as it is remembered.
func TestTimesAreRemembered(t *testing.T) {
	type object struct {
		Times []counted `json:"times"`
	}
	one := `"2026-09-14T08:21:30.123456789Z"`
	for _, test := range []struct {
		name, times string
		calls       int
		fails       bool
	}{
		{"the same text", strings.Repeat(one+",", 9) + one, 1, false},
		{"other texts", `"2026-09-14T08:21:31Z",` + one + `,"2026-09-14T08:21:31Z"`, 2, false},
		{"an error", `"2026-09-14T08:21:32Z","x"`, 2, true},
		{"null", `null`, 1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			countedCalls = 0
			v, err := codec.Unmarshal[*object]([]byte(`{"times":[` + test.times + `]}`))
			if (err != nil) != test.fails || countedCalls > test.calls {
				t.Errorf("got %v, %v after %d calls", v, err, countedCalls)
			}
			if err != nil {
				return
			}
			var want []time.Time
			if err := json.Unmarshal([]byte(`[`+test.times+`]`), &want); err != nil {
				t.Fatal(err)
			}
			for i, c := range v.Times {
				if !c.at.Equal(want[i]) || c.at.String() != want[i].String() {
					t.Errorf("got %v, want %v", c.at, want[i])
				}
			}
		})
	}
}

func TestTimesAreInTheLocalZoneOfNow(t *testing.T) {
	before := time.Local
	defer func() { time.Local = before }()
	for i := range 3 {
		time.Local = time.FixedZone("", i*3600)
		v, err := codec.Unmarshal[*times]([]byte(`{"meta":"2026-09-14T08:21:30Z"}`))
		if err != nil || v.Meta.Hour() != 8+i {
			t.Errorf("got %+v, %v", v, err)
		}
	}
}

// A document that is large once does not make the decoder large for ever, and one may nest as deep as for encoding/json.
func TestLargeAndDeepDocumentsDecode(t *testing.T) {
	many := `{"a":[` + strings.Repeat(`"é\n",`, 20000) + `""],"b":[` + strings.Repeat(`{"x":1},`, 20000) + `null]}`
	for range 2 {
		v, err := codec.Unmarshal[map[string]any]([]byte(many))
		if err != nil || len(v["a"].([]any)) != 20001 || len(v["b"].([]any)) != 20001 {
			t.Error("a large document does not decode", err)
		}
	}
	for _, shape := range []struct {
		open, leaf, shut string
		levels, inLeaf   int // of what is repeated, and of the leaf around its innermost value
	}{
		{`{"next":`, `{}`, `}`, 1, 0},
		{`{"map":{"a":`, `{}`, `}}`, 2, 0},
		{`{"x":[`, `{}`, `]}`, 2, 0},
		{`{"nodes":[`, `{}`, `]}`, 2, 0},
		{`{"x":`, `{}`, `}`, 1, 0},
		{`{"x":`, `[]`, `}`, 1, 0},
		{`{"next":`, `{"tags":[]}`, `}`, 1, 1},
	} {
		for _, depth := range []int{300, 9998, 10000} {
			n := (depth - shape.inLeaf) / shape.levels
			raw := []byte(strings.Repeat(shape.open, n) + shape.leaf + strings.Repeat(shape.shut, n))
			v, err := codec.Unmarshal[*recursive](raw)
			if fits := depth < 10000; (err == nil) != fits || (v != nil) != fits {
				t.Errorf("%s, %d levels: got %.80v", shape.open, depth, err)
			} else if !fits && !strings.Contains(err.Error(), "JSON that nests deeper than 10000 levels") {
				t.Errorf("got %.200s", err.Error())
			}
			if wantErr := json.Unmarshal(raw, new(recursive)); (err == nil) != (wantErr == nil) {
				t.Errorf("%s, %d levels: got %.80v; encoding/json has %v", shape.open, depth, err, wantErr)
			}
		}
	}
}

// The levels of a text that is kept as it is count like those around it, so that it is as deep as encoding/json lets it
// be, and no document exhausts the stack.
func TestTheLevelsOfAKeptTextCount(t *testing.T) {
	type kept struct {
		Next *kept           `json:"next"`
		Raw  json.RawMessage `json:"raw"`
	}
	for _, text := range []struct{ open, leaf, shut string }{{`[`, `[]`, `]`}, {`{"a":`, `{}`, `}`}} {
		for _, around := range []int{1, 5000} {
			for _, depth := range []int{10000, 10001} {
				inside := depth - around - 1
				raw := []byte(strings.Repeat(`{"next":`, around-1) + `{"raw":` + strings.Repeat(text.open, inside) + text.leaf +
					strings.Repeat(text.shut, inside) + strings.Repeat("}", around))
				_, err := codec.Unmarshal[*kept](raw)
				if wantErr := json.Unmarshal(raw, new(kept)); (err == nil) != (wantErr == nil) || (err == nil) != (depth == 10000) {
					t.Errorf("%s, %d of %d levels around it: got %.80v; encoding/json has %v", text.leaf, around, depth, err, wantErr)
				}
			}
		}
	}
}
