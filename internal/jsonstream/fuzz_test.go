package jsonstream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// The fuzz targets compare with a plain encoding/json decode of the same bytes (guarantee S25). Two things have to hold:
//
//   - What encoding/json accepts, and what has the shape of a list, a watch or an object, is accepted here, with the same
//     items, identities and contents, and without managedFields.
//   - What is accepted here is accepted by encoding/json, once the contents of strings, numbers and literals, which this
//     package does not examine, are replaced by harmless ones.

// noLimits lets every input through: encoding/json has other limits.
var noLimits = jsonstream.Options{MaxObject: math.MaxInt, MaxDepth: math.MaxInt}

// decode returns the value of a JSON text as encoding/json has it: of duplicates the last counts.
func decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	_, err := d.Token()
	if err != io.EOF {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

// harmless replaces the contents of all strings, numbers and literals of a text.
func harmless(raw []byte) []byte {
	var out []byte
	scalar := func(c byte) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("+-.", c) >= 0
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
			i++
			if i > len(raw) {
				return append(out, '"') // a string without an end
			}
			out = append(out, `"s"`...)
		case scalar(c):
			for i < len(raw) && scalar(raw[i]) {
				i++
			}
			out = append(out, '0')
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// wantItem is what must be read from an object.
func wantItem(object map[string]any) jsonstream.Item {
	m, _ := object["metadata"].(map[string]any)
	return jsonstream.Item{
		Identity: meta.Identity{
			Namespace: text(m["namespace"]), Name: text(m["name"]), UID: text(m["uid"]),
			ResourceVersion: text(m["resourceVersion"]),
		},
		APIVersion: text(object["apiVersion"]), Kind: text(object["kind"]),
	}
}

// compareItem compares an item with the object that encoding/json has decoded.
func compareItem(t *testing.T, got jsonstream.Item, object map[string]any) {
	t.Helper()
	raw, err := decode(got.Raw)
	if err != nil {
		t.Fatalf("raw %q: %v", got.Raw, err)
	}
	if m, ok := object["metadata"].(map[string]any); ok {
		delete(m, "managedFields")
	}
	if !reflect.DeepEqual(raw, any(object)) {
		t.Fatalf("raw %q is not %v", got.Raw, object)
	}
	got.Raw = nil
	got.InitialEventsEnd = false
	if want := wantItem(object); !sameItem(got, want) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		"", " {} ", `{"metadata":{"managedFields":[],"name":"a"}}`,
		`{"metadata":{"a":1,"managedFields":[],"managedFields":[]}}`,
		`{"metadata":{"name":"\u0041\ud83d\ude80\ud83d","uid":"` + "\xff" + `"},"metadata":{"\u006eame":"x\\"}}`,
		`{"kind":null,"apiVersion":["\""],"x":[1,-2.5e+3,true,false,null,{},[],{"a":[{}]}]}`, `<html>`, `{"a":1,}`,
		`{"a":[}`, "{\"a\x00\":1}", `{"a":"\`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		item, err := jsonstream.ReadObject(bytes.NewReader(body), noLimits)
		v, stdErr := decode(body)
		object, isObject := v.(map[string]any)
		switch {
		case err != nil && stdErr == nil && isObject:
			t.Fatalf("refused: %v", err)
		case err == nil && !json.Valid(harmless(body)):
			t.Fatalf("accepted %q", body)
		case err == nil && stdErr == nil:
			compareItem(t, item, object)
		}

		// The bytes arrive in other pieces: the same again.
		again, err2 := jsonstream.ReadObject(iotest.OneByteReader(bytes.NewReader(body)), noLimits)
		if (err == nil) != (err2 == nil) || err == nil && !sameItem(item, again) {
			t.Fatalf("byte by byte: got %+v, %v; want %+v, %v", again, err2, item, err)
		}
		// Kept managedFields: nothing changes.
		all := noLimits
		all.KeepManagedFields = true
		whole, err := jsonstream.ReadObject(bytes.NewReader(body), all)
		if err == nil && !bytes.Equal(whole.Raw, bytes.Trim(body, " \r\n\t")) {
			t.Fatalf("kept: raw is %q", whole.Raw)
		}
	})
}

func FuzzList(f *testing.F) {
	for _, seed := range []string{
		"", "{}",
		`{"kind":"L","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"x","remainingItemCount":7},` +
			`"items":[{"metadata":{"name":"a"}},{}]}`,
		` { "items" : [ { "metadata" : { "managedFields" : [ ] , "uid" : "u" } } , { } ] ,` +
			` "metadata" : { "resourceVersion" : "9" } } `,
		`{"items":null}`, `{"items":[]}x`, `{"items":[{}],"items":null}`, `{"kind":"Status"}`,
		`{"items":[{"a":{},{"b":1}]}`, `{"items":[{}}]}`, `{"metadata":{"shardInfo":{"x":[],"selector":"a"},"continue":"x"},"items":[{}]}`, `{"metadata":{"remainingItemCount":1e3},"items":[{}`,
		`{"items":[1]}`, `{"items":{}}`, `[]`, "<html>",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		items, h, known, err := readList(bytes.NewReader(body), noLimits)
		want, ok := listOf(body)
		switch {
		case err != nil && ok:
			t.Fatalf("refused: %v", err)
		case err == nil && !json.Valid(harmless(body)):
			t.Fatalf("accepted %q", body)
		case err == nil && ok:
			if len(items) != len(want.items) {
				t.Fatalf("%d items, want %d", len(items), len(want.items))
			}
			for i, item := range items {
				compareItem(t, item, want.items[i])
			}
			if !sameHeader(h, want.header) || known != want.known {
				t.Fatalf("header is %+v, %v; want %+v, %v", h, known, want.header, want.known)
			}
		}
		again, h2, _, err2 := readList(iotest.OneByteReader(bytes.NewReader(body)), noLimits)
		if (err == nil) != (err2 == nil) || !slices.EqualFunc(items, again, sameItem) || !sameHeader(h, h2) {
			t.Fatalf("byte by byte: got %+v, %+v, %v; want %+v, %+v, %v", again, h2, err2, items, h, err)
		}
		// A List that has read another body, or a part of it, reads this one as a new List does.
		l := jsonstream.NewList(strings.NewReader(`{"kind":"K","apiVersion":"v","metadata":{"continue":"c"},"items":[`+
			`{"kind":"k","metadata":{"name":"n","namespace":"m"}},{]`), noLimits)
		for range len(body) % 4 {
			_, _ = l.Next()
		}
		l.Reset(bytes.NewReader(body))
		third, h3, _, err3 := drain(l)
		if fmt.Sprint(err) != fmt.Sprint(err3) || !slices.EqualFunc(items, third, sameItem) || !sameHeader(h, h3) {
			t.Fatalf("after Reset: got %+v, %+v, %v; want %+v, %+v, %v", third, h3, err3, items, h, err)
		}
	})
}

type list struct {
	header jsonstream.Header
	known  bool
	items  []map[string]any
}

// listOf returns the list that a body is, if encoding/json sees a list in it.
func listOf(body []byte) (list, bool) {
	v, err := decode(body)
	top, ok := v.(map[string]any)
	if err != nil || !ok {
		return list{}, false
	}
	var l list
	switch items := top["items"].(type) {
	case nil:
		if top["kind"] == "Status" {
			return list{}, false
		}
	case []any:
		for _, item := range items {
			object, ok := item.(map[string]any)
			if !ok {
				return list{}, false
			}
			l.items = append(l.items, object)
		}
	default:
		return list{}, false
	}
	if itemsTwice(body) {
		return list{}, false // items that have been handed out cannot be taken back
	}
	m, _ := top["metadata"].(map[string]any)
	_, l.known = top["metadata"]
	l.header = jsonstream.Header{
		APIVersion: text(top["apiVersion"]), Kind: text(top["kind"]),
		ListMeta: meta.ListMeta{ResourceVersion: text(m["resourceVersion"]), Continue: text(m["continue"])},
	}
	shard, _ := m["shardInfo"].(map[string]any)
	l.header.ShardInfo.Selector = text(shard["selector"])
	if n, ok := m["remainingItemCount"].(json.Number); ok {
		if n, err := n.Int64(); err == nil {
			l.header.RemainingItemCount = &n
		}
	}
	return l, true
}

// itemsTwice reports whether anything but null comes for items before the last time that the name comes.
func itemsTwice(body []byte) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	_, _ = d.Token()
	seen := false
	for d.More() {
		name, _ := d.Token()
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return true
		}
		if name == "items" {
			if seen {
				return true
			}
			seen = string(value) != "null"
		}
	}
	return false
}

func FuzzWatch(f *testing.F) {
	for _, seed := range []string{
		"",
		`{"type":"ADDED","object":{"metadata":{"name":"a","managedFields":[1]}}}` + "\n" + `{"object":{},"type":"DELETED"}`,
		`{"type":"ADDED","object":{}}{"type":"X","object":{"kind":"Status"}}`,
		" {\r\n\"type\" : \"BOOKMARK\" , \"object\" : " +
			"{ \"metadata\" : { \"annotations\" : { \"k8s.io/initial-events-end\" : \"true\" } } } } ",
		`{"type":"A","type":"B","object":{"kind":"a"},"object":{"apiVersion":"b"}}`, `{"type":"ADDED"}`, `{"object":{}}`,
		`{"type":1,"object":{}}`, `{"type":"A","object":[]}`, `{"type":"A","object":{}},`, "<",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		frames, err := readWatch(bytes.NewReader(body), noLimits)
		d := json.NewDecoder(bytes.NewReader(body))
		d.UseNumber()
		good := 0
		var stdErr error
		for {
			var v any
			if stdErr = d.Decode(&v); stdErr != nil {
				break
			}
			want, ok := v.(map[string]any)
			kind, isString := want["type"].(string)
			object, isObject := want["object"].(map[string]any)
			if !ok || !isString || !isObject {
				break
			}
			if good == len(frames) {
				t.Fatalf("event %d refused: %v", good, err)
			}
			if frames[good].Type != kind {
				t.Fatalf("event %d has type %q, want %q", good, frames[good].Type, kind)
			}
			m, _ := object["metadata"].(map[string]any)
			a, _ := m["annotations"].(map[string]any)
			if end := kind == "BOOKMARK" && a["k8s.io/initial-events-end"] == "true"; end != frames[good].InitialEventsEnd {
				t.Fatalf("event %d ends the initial events: %v, want %v", good, frames[good].InitialEventsEnd, end)
			}
			compareItem(t, frames[good].Item, object)
			good++
		}
		if stdErr == io.EOF && err != nil {
			t.Fatalf("refused: %v", err)
		}
		if err == nil {
			// A sequence of events is valid if it is valid as an array.
			valid := json.NewDecoder(bytes.NewReader(harmless(body)))
			for {
				var v any
				if e := valid.Decode(&v); e == io.EOF {
					break
				} else if e != nil {
					t.Fatalf("accepted %q: %v", body, e)
				}
			}
		}
		again, err2 := readWatch(iotest.OneByteReader(bytes.NewReader(body)), noLimits)
		if (err == nil) != (err2 == nil) || !slices.EqualFunc(frames, again, sameFrame) {
			t.Fatalf("byte by byte: got %+v, %v; want %+v, %v", again, err2, frames, err)
		}
	})
}
