package protostream_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/protobuf"
	"github.com/bowline-go/bowline/internal/protostream"
)

// fields is a message under construction.
type fields []byte

func (f fields) bytes(number int, content []byte) fields {
	return protobuf.AppendBytes(f, number, content)
}
func (f fields) text(number int, s string) fields { return f.bytes(number, []byte(s)) }
func (f fields) int(number int, v uint64) fields  { return protobuf.AppendVarint(f, number, v) }

// metadata is an ObjectMeta as servers write it: with managedFields at its end.
func metadata(name, uid, version string, managed ...string) fields {
	m := fields(nil).text(1, name).text(2, "").text(3, "ns").text(4, "").text(5, uid).text(6, version).int(7, 3)
	m = m.bytes(12, fields(nil).text(1, "a").text(2, "b"))
	for _, f := range managed {
		m = m.bytes(17, fields(nil).text(1, f))
	}
	return m
}

func object(name string, managed ...string) fields {
	return fields(nil).bytes(1, metadata(name, "u-"+name, "7", managed...)).bytes(2, fields(nil).text(1, "spec of "+name))
}

func list(version, token string, items ...fields) []byte {
	m := fields(nil).bytes(1, fields(nil).text(1, "").text(2, version).text(3, token).int(4, 9))
	for _, i := range items {
		m = m.bytes(2, i)
	}
	return protobuf.Envelope{APIVersion: "v1", Kind: "PodList", Raw: m}.Append(nil)
}

func event(typ, kind string, object fields) []byte {
	e := protobuf.Envelope{APIVersion: "v1", Kind: kind, Raw: object}.Append(nil)
	f := fields(nil).text(1, typ).bytes(2, fields(nil).bytes(1, e))
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(f))), f...)
}

// read tells what a loop over steps sees, in words, until it is left at the step of a number.
func read(all iter.Seq[*jsonstream.Step], body io.Reader, leave int) (seen []string, err error) {
	n := 0
	for s := range all {
		if n++; n == leave {
			return seen, nil
		}
		switch s.Kind {
		case jsonstream.Starved:
			s.Fill(body.Read(s.Into))
		case jsonstream.Headed:
			remaining := int64(-1)
			if s.Header.RemainingItemCount != nil {
				remaining = *s.Header.RemainingItemCount
			}
			line := fmt.Sprintf("header %s %s %s %s %d", s.Header.APIVersion, s.Header.Kind, s.Header.ResourceVersion, s.Header.Continue, remaining)
			if s.Header.ShardInfo.Selector != "" {
				line += " of " + s.Header.ShardInfo.Selector
			}
			seen = append(seen, line)
		case jsonstream.Framed:
			i := s.Frame.Item
			line := fmt.Sprintf("%s %s/%s %s %s %q", s.Frame.Type, i.Namespace, i.Name, i.UID, i.ResourceVersion, i.Raw)
			if i.InitialEventsEnd {
				line += " end"
			}
			if i.Limit != nil {
				line += " " + i.Limit.Error()
			}
			if !i.Protobuf {
				line += " as JSON"
			}
			seen = append(seen, line)
		case jsonstream.Failed:
			err = s.Err
		}
	}
	return seen, err
}

func readList(body io.Reader, o jsonstream.Options) ([]string, error) {
	return read(protostream.NewList(o).Steps(), body, 0)
}

func readWatch(body io.Reader, o jsonstream.Options) ([]string, error) {
	return read(protostream.NewWatch(o).Steps(), body, 0)
}

func TestListIsFramed(t *testing.T) {
	body := list("70", "next", object("a", "kubectl", "kubelet"), object("b"))
	want := []string{
		"header v1 PodList 70 next 9",
		fmt.Sprintf(" ns/a u-a 7 %q", object("a")),
		fmt.Sprintf(" ns/b u-b 7 %q", object("b")),
	}
	for name, reader := range map[string]io.Reader{
		"at once": bytes.NewReader(body), "byte by byte": iotest.OneByteReader(bytes.NewReader(body)),
		"with the end": iotest.DataErrReader(bytes.NewReader(body)),
	} {
		if got, err := readList(reader, jsonstream.Options{}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	kept, err := readList(bytes.NewReader(body), jsonstream.Options{KeepManagedFields: true})
	if want[1] = fmt.Sprintf(" ns/a u-a 7 %q", object("a", "kubectl", "kubelet")); err != nil || !slices.Equal(kept, want) {
		t.Errorf("with managedFields: got %q, %v", kept, err)
	}
}

func TestAListHasItsShardSelector(t *testing.T) {
	info := fields(nil).int(7, 1).text(1, "the part")
	m := fields(nil).bytes(1, fields(nil).bytes(5, info).text(2, "70")).bytes(2, object("a"))
	body := protobuf.Envelope{APIVersion: "v1", Kind: "PodList", Raw: m}.Append(nil)
	l := protostream.NewList(jsonstream.Options{})
	got, err := read(l.Steps(), bytes.NewReader(body), 0)
	if err != nil || len(got) != 2 || got[0] != "header v1 PodList 70  -1 of the part" {
		t.Errorf("got %q, %v", got, err)
	}
	l.Reset()
	if got, err := read(l.Steps(), bytes.NewReader(list("71", "", object("a"))), 0); err != nil || got[0] != "header v1 PodList 71  9" {
		t.Errorf("the next page: %q, %v", got, err)
	}
}

// The managed fields need not be the last of the metadata, and the metadata need not be the first of the object.
func TestManagedFieldsAreCutAnywhere(t *testing.T) {
	plain := fields(nil).text(2, "before").bytes(1, fields(nil).text(1, "a").text(6, "7").text(20, strings.Repeat("x", 200))).text(3, "after")
	mixed := fields(nil).text(2, "before").bytes(1, fields(nil).text(17, "m").text(1, "a").text(17, "m").text(17, "n").text(6, "7").
		text(20, strings.Repeat("x", 200)).text(17, "o")).text(3, "after")
	got, err := readList(bytes.NewReader(list("1", "", mixed)), jsonstream.Options{})
	if want := fmt.Sprintf(" /a  7 %q", plain); err != nil || len(got) != 2 || got[1] != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestWatchIsFramed(t *testing.T) {
	end := fields(nil).bytes(1, fields(nil).text(6, "9").bytes(12, fields(nil).text(1, "k8s.io/initial-events-end").text(2, "true")))
	status := fields(nil).text(2, "Failure")
	body := slices.Concat(event("ADDED", "Pod", object("a", "kubectl")), event("BOOKMARK", "Pod", end), event("ERROR", "Status", status))
	want := []string{
		fmt.Sprintf("ADDED ns/a u-a 7 %q", object("a")), fmt.Sprintf("BOOKMARK /  9 %q end", end), fmt.Sprintf("ERROR /   %q", status),
	}
	for name, reader := range map[string]io.Reader{
		"at once": bytes.NewReader(body), "byte by byte": iotest.OneByteReader(bytes.NewReader(body)),
	} {
		if got, err := readWatch(reader, jsonstream.Options{}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
}

// An identity is that of the object's JSON: each byte that is not UTF-8 is a replacement character, and the last value counts.
func TestIdentitiesAreThoseOfTheJSON(t *testing.T) {
	m := fields(nil).text(1, "a\xff\xe4\xb8").text(3, "other").text(3, "n\xfe").text(5, "first").text(5, "").text(6, "7\xff")
	body := protobuf.Envelope{APIVersion: "v1", Kind: "PodList", Raw: fields(nil).bytes(2, fields(nil).bytes(1, m))}.Append(nil)
	got, err := readList(bytes.NewReader(body), jsonstream.Options{})
	if want := " n\uFFFD/a\uFFFD\uFFFD\uFFFD  7\uFFFD "; err != nil || !strings.HasPrefix(got[0], want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// A list that is cut anywhere is an error, and no item is there that was not complete.
func TestCutBodiesAreErrors(t *testing.T) {
	body := list("70", "", object("a", "kubectl"), object("b"))
	whole, _ := readList(bytes.NewReader(body), jsonstream.Options{})
	optional := len(fields(nil).text(3, "").text(4, "")) // behind the list; either of them may be missing
	for n := range len(body) - optional {
		got, err := readList(bytes.NewReader(body[:n]), jsonstream.Options{})
		if !errors.Is(err, io.ErrUnexpectedEOF) && !(n < len(protobuf.Magic) && isForeign(err)) {
			t.Fatalf("cut at %d: %q, %v", n, got, err)
		}
		if len(got) > len(whole) || !slices.Equal(got, whole[:len(got)]) {
			t.Fatalf("cut at %d: got %q", n, got)
		}
	}
	stream := slices.Concat(event("ADDED", "Pod", object("a")), event("ADDED", "Pod", object("b")))
	first := len(event("ADDED", "Pod", object("a")))
	for n := range len(stream) {
		got, err := readWatch(bytes.NewReader(stream[:n]), jsonstream.Options{})
		if wantErr := n != 0 && n != first; wantErr != (err != nil) || wantErr && !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != n/first {
			t.Fatalf("cut at %d: %q, %v", n, got, err)
		}
	}
}

func isForeign(err error) bool {
	body := (*jsonstream.BodyError)(nil)
	return errors.As(err, &body)
}

// An object that is too large is skipped, and is known by what its first bytes say.
func TestTooLargeObjectsAreSkipped(t *testing.T) {
	large := func(name string) fields {
		return append(object(name), fields(nil).text(3, strings.Repeat("x", 300_000))...)
	}
	o := jsonstream.Options{MaxObject: 1000}
	got, err := readList(bytes.NewReader(list("1", "", object("a"), large("b"), object("c"))), o)
	if err != nil || len(got) != 4 || !strings.Contains(got[2], `ns/b u-b 7 "" object "ns/b"`) || !strings.Contains(got[2], "MaxObject, 1000") {
		t.Errorf("list: %q, %v", got, err)
	}
	body := slices.Concat(event("ADDED", "Pod", object("a")), event("MODIFIED", "Pod", large("b")), event("ADDED", "Pod", object("c")))
	got, err = readWatch(iotest.HalfReader(bytes.NewReader(body)), o)
	if err != nil || len(got) != 3 || !strings.Contains(got[1], `MODIFIED ns/b u-b 7 "" object "ns/b"`) {
		t.Errorf("watch: %q, %v", got, err)
	}
}

// A length is a claim: memory grows with what arrives.
func TestALengthAllocatesNothing(t *testing.T) {
	claim := protobuf.AppendTag([]byte(protobuf.Magic), 2, protobuf.Bytes)
	claim = binary.AppendUvarint(claim, 1<<30)
	claim = protobuf.AppendTag(claim, 2, protobuf.Bytes)
	claim = binary.AppendUvarint(claim, 30<<20)
	for name, f := range map[string]func(){
		"list":  func() { _, _ = readList(bytes.NewReader(claim), jsonstream.Options{}) },
		"watch": func() { _, _ = readWatch(bytes.NewReader([]byte{1, 0xd0, 0, 0, 1}), jsonstream.Options{}) },
	} {
		f() // what is kept between bodies is made
		const runs = 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			f()
		}
		runtime.ReadMemStats(&after)
		if size := (after.TotalAlloc - before.TotalAlloc) / runs; size > 1<<20 {
			t.Errorf("%s: %d bytes for a body of a few", name, size)
		}
	}
}

func TestForeignBodiesAreRefused(t *testing.T) {
	for _, body := range []string{`{"kind":"Status"}`, "<html>", "k8s", "k8s\x01abcdefgh"} {
		if got, err := readList(strings.NewReader(body), jsonstream.Options{}); !isForeign(err) {
			t.Errorf("list of %q: %q, %v", body, got, err)
		}
	}
	for _, body := range []string{`{"type":"ADDED"}`, "<html></html>", string(list("1", ""))} {
		if got, err := readWatch(strings.NewReader(body), jsonstream.Options{}); !isForeign(err) {
			t.Errorf("watch of %q: %q, %v", body, got, err)
		}
	}
	status := protobuf.Envelope{APIVersion: "v1", Kind: "Status"}.Append(nil)
	if _, err := readList(bytes.NewReader(status), jsonstream.Options{}); !isForeign(err) {
		t.Errorf("list that is a Status: %v", err)
	}
}

func TestMalformedProtobufIsASyntaxError(t *testing.T) {
	raw := func(b ...byte) []byte {
		return protobuf.Envelope{APIVersion: "v1", Kind: "PodList", Raw: b}.Append(nil)
	}
	for name, body := range map[string][]byte{
		"an endless number":                   append([]byte(protobuf.Magic), bytes.Repeat([]byte{0xff}, 30)...),
		"a number whose tenth byte goes on":   append([]byte(protobuf.Magic), bytes.Repeat([]byte{0xff}, 10)...),
		"field 0":                             raw(0, 0),
		"a group":                             raw(3<<3|3, 0),
		"items that are numbers":              raw(2<<3, 1),
		"metadata that is a number":           raw(2<<3|2, 2, 1<<3, 1),
		"an item that is too long":            raw(2<<3|2, 100, 1),
		"an item that is cut within":          raw(2<<3|2, 3, 1<<3|2, 9, 0),
		"a list's metadata that is cut":       raw(1<<3|2, 2, 2<<3|2, 9),
		"a version that is a number":          raw(1<<3|2, 2, 2<<3, 9),
		"a shardInfo that is a number":        raw(1<<3|2, 2, 5<<3, 9),
		"a shardInfo that is cut":             raw(1<<3|2, 3, 5<<3|2, 1, 1<<3|2),
		"a shard selector that is a number":   raw(1<<3|2, 4, 5<<3|2, 2, 1<<3, 9),
		"an object's metadata that is cut":    raw(2<<3|2, 4, 1<<3|2, 2, 7<<3, 0x80),
		"an object's metadata with a cut tag": raw(2<<3|2, 3, 1<<3|2, 1, 0x80),
		"a content of another encoding":       append(raw(), fields(nil).text(3, "gzip")...),
		"a content of another type":           append(raw(), fields(nil).text(4, "application/json")...),
		"an envelope's field of a wrong type": protobuf.AppendVarint([]byte(protobuf.Magic), 2, 1),
	} {
		_, err := readList(bytes.NewReader(body), jsonstream.Options{})
		syntax := (*jsonstream.SyntaxError)(nil)
		if !errors.As(err, &syntax) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, b := range map[string][]byte{
		"no envelope": fields(nil).text(1, "ADDED").bytes(2, fields(nil).text(1, "x")),
		"a cut field": {1<<3 | 2, 9, 1},
	} {
		_, err := readWatch(bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)), jsonstream.Options{})
		syntax := (*jsonstream.SyntaxError)(nil)
		if !errors.As(err, &syntax) {
			t.Errorf("watch with %s: %v", name, err)
		}
	}
}

// A loop may be left at any step, and a list may be used again for the next page.
func TestLoopsCanBeLeft(t *testing.T) {
	body := list("70", "", object("a"), object("b"))
	for leave := 1; leave < 8; leave++ {
		_, _ = read(protostream.NewList(jsonstream.Options{}).Steps(), bytes.NewReader(body), leave)
		_, _ = read(protostream.NewWatch(jsonstream.Options{}).Steps(), bytes.NewReader(event("ADDED", "Pod", object("a"))), leave)
	}
	l := protostream.NewList(jsonstream.Options{})
	for page := range 3 {
		want := []string{fmt.Sprintf("header v1 PodList %d  9", page), fmt.Sprintf(" ns/a u-a 7 %q", object("a"))}
		l.Reset()
		if got, err := read(l.Steps(), bytes.NewReader(list(fmt.Sprint(page), "", object("a"))), 0); err != nil || !slices.Equal(got, want) {
			t.Errorf("page %d: %q, %v, want %q", page, got, err, want)
		}
	}
}

// Framing ends for every body, and yields the same steps however the bytes arrive.
func FuzzFraming(f *testing.F) {
	f.Add(list("70", "next", object("a", "kubectl", "kubelet"), object("b")), 1000)
	f.Add(slices.Concat(event("ADDED", "Pod", object("a", "x")), event("DELETED", "Pod", object("b"))), 40)
	f.Fuzz(func(t *testing.T, body []byte, most int) {
		o := jsonstream.Options{MaxObject: most % 10_000}
		for _, fn := range []func(io.Reader, jsonstream.Options) ([]string, error){readList, readWatch} {
			at, err := fn(bytes.NewReader(body), o)
			one, oneErr := fn(iotest.OneByteReader(bytes.NewReader(body)), o)
			if !slices.Equal(at, one) || (err == nil) != (oneErr == nil) {
				t.Errorf("at once %q, %v; byte by byte %q, %v", at, err, one, oneErr)
			}
		}
	})
}

// A message may have its fields in any order: a list's metadata behind its items, and other fields before those that matter.
func TestTheOrderOfFieldsDoesNotMatter(t *testing.T) {
	meta := fields(nil).text(2, "70").text(3, "next").int(4, 9)
	raw := fields(nil).int(9, math.MaxUint64).bytes(2, object("a")).bytes(2, object("b")).bytes(1, meta)
	body := protobuf.Envelope{APIVersion: "v1", Kind: "PodList", Raw: raw}.Append(nil)
	want := []string{fmt.Sprintf(" ns/a u-a 7 %q", object("a")), fmt.Sprintf(" ns/b u-b 7 %q", object("b")), "header v1 PodList 70 next 9"}
	if got, err := readList(bytes.NewReader(body), jsonstream.Options{}); err != nil || !slices.Equal(got, want) {
		t.Errorf("metadata behind the items: got %q, %v, want %q", got, err, want)
	}
	// The kind behind the list: the header waits for it.
	kind := protobuf.Envelope{APIVersion: "v1", Kind: "PodList"}.Append(nil)[len(protobuf.Magic):]
	late := append(fields(protobuf.Magic).bytes(2, fields(nil).bytes(1, meta).bytes(2, object("a"))), kind[:2+int(kind[1])]...)
	if got, err := readList(bytes.NewReader(late), jsonstream.Options{}); err != nil || !slices.Equal(got, []string{want[0], want[2]}) {
		t.Errorf("the kind behind the items: got %q, %v", got, err)
	}

	e := protobuf.Envelope{APIVersion: "v1", Kind: "Pod", Raw: object("a")}.Append(nil)
	f := fields(nil).int(7, 5).bytes(2, fields(nil).int(3, 1).bytes(1, e)).int(8, 5).text(1, "ADDED")
	got, err := readWatch(bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, uint32(len(f))), f...)), jsonstream.Options{})
	if want := fmt.Sprintf("ADDED ns/a u-a 7 %q", object("a")); err != nil || !slices.Equal(got, []string{want}) {
		t.Errorf("an event with other fields: got %q, %v, want %q", got, err, want)
	}
	for name, f := range map[string][]byte{
		"a tag that is cut": append(fields(nil).text(1, "ADDED"), 0x80), "a number that is cut": append(fields(nil).text(1, "ADDED"), 7<<3, 0x80),
		"field 0": append(fields(nil).text(1, "ADDED"), 0, 1), "a group": append(fields(nil).text(1, "ADDED"), 7<<3|3),
		"a double that is cut": append(fields(nil).text(1, "ADDED"), 7<<3|1, 1, 2), "a length that is cut": append(fields(nil).text(1, "ADDED"), 2<<3|2, 0x80),
	} {
		if got, err := readWatch(bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, uint32(len(f))), f...)), jsonstream.Options{}); len(got) > 0 || err == nil {
			t.Errorf("an event with %s: %q, %v", name, got, err)
		}
	}
}

// An event that is too large is known by what arrives of it first: its type, its kind and its object. Where it ends is where its
// length says, and a body that ends before is cut.
func TestATooLargeEventIsKnownByItsHead(t *testing.T) {
	large := func(name string, n int) fields {
		return append(object(name), fields(nil).text(3, strings.Repeat("x", n))...)
	}
	o := jsonstream.Options{MaxObject: 1000}
	for _, n := range []int{2100, 64 << 10, 300_000} { // below, about, and beyond what is looked at
		first := event("ADDED", "Node", object("a"))
		body := slices.Concat(first, event("DELETED", "Pod", large("b", n)), event("MODIFIED", "Job", object("c")))
		var frames []jsonstream.Frame
		r := bytes.NewReader(body)
		for s := range protostream.NewWatch(o).Steps() {
			switch s.Kind {
			case jsonstream.Starved:
				s.Fill(r.Read(s.Into))
			case jsonstream.Framed:
				frames = append(frames, s.Frame)
			default:
				t.Fatal(s.Err)
			}
		}
		if len(frames) != 3 || frames[2].Kind != "Job" || frames[2].Limit != nil {
			t.Fatalf("%d bytes: %d frames, %+v", n, len(frames), frames)
		}
		f := frames[1]
		if f.Type != "DELETED" || f.Kind != "Pod" || f.APIVersion != "v1" || f.Name != "b" || f.UID != "u-b" || len(f.Raw) != 0 || f.Limit == nil ||
			f.Limit.Max != 1000 || f.Limit.Key != f.Key() || f.Limit.Offset != int64(len(first)+4) {
			t.Errorf("%d bytes: %+v, limit %+v", n, f, f.Limit)
		}
		for _, at := range []int{len(first) + 4, len(first) + 10, len(first) + 500, len(first) + 2000, len(body) - len(event("MODIFIED", "Job", object("c"))) - 1} {
			if got, err := readWatch(bytes.NewReader(body[:at]), o); !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != 1 {
				t.Errorf("%d bytes, cut at %d: %q, %v", n, at, got, err)
			}
		}
		whole := list("1", "", object("a"), large("b", n))
		for at := len(whole) - n; at < len(whole)-len(fields(nil).text(3, "").text(4, "")); at += n/3 + 1 {
			if got, err := readList(bytes.NewReader(whole[:at]), o); !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != 2 {
				t.Errorf("list of %d bytes, cut at %d: %d steps, %v", n, at, len(got), err)
			}
		}
	}
	// An event that is no envelope is skipped all the same: it may be of a newer server.
	odd := fields(nil).text(1, "ADDED").bytes(2, fields(nil).bytes(1, bytes.Repeat([]byte{1}, 5000)))
	got, err := readWatch(bytes.NewReader(slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(odd))), odd, event("ADDED", "Pod", object("c")))), o)
	if err != nil || len(got) != 2 || !strings.Contains(got[0], "MaxObject, 1000") || !strings.Contains(got[1], "ns/c") {
		t.Errorf("an event without an envelope: %q, %v", got, err)
	}
}

// An object is known by its name even if its metadata alone is longer than what is looked at.
func TestAnObjectWithTooLargeMetadataIsKnownByItsHead(t *testing.T) {
	m := append(metadata("b", "u-b", "7"), fields(nil).bytes(12, fields(nil).text(1, "large").text(2, strings.Repeat("x", 300_000)))...)
	large := fields(nil).bytes(1, m).bytes(2, fields(nil).text(1, "spec"))
	o := jsonstream.Options{MaxObject: 1000}
	got, err := readList(bytes.NewReader(list("1", "", large, object("c"))), o)
	if err != nil || len(got) != 3 || !strings.Contains(got[1], `ns/b u-b 7 "" object "ns/b"`) || !strings.Contains(got[2], "ns/c") {
		t.Errorf("list: %q, %v", got, err)
	}
	got, err = readWatch(bytes.NewReader(slices.Concat(event("ADDED", "Pod", large), event("ADDED", "Pod", object("c")))), o)
	if err != nil || len(got) != 2 || !strings.Contains(got[0], `ADDED ns/b u-b 7 "" object "ns/b"`) || !strings.Contains(got[1], "ns/c") {
		t.Errorf("watch: %q, %v", got, err)
	}
}

func TestTheBoundOfAnObjectIsExact(t *testing.T) {
	size := len(object("a"))
	for most, limited := range map[int]bool{size: false, size - 1: true} {
		o := jsonstream.Options{MaxObject: most}
		inList, err1 := readList(bytes.NewReader(list("1", "", object("a"))), o)
		inWatch, err2 := readWatch(bytes.NewReader(event("ADDED", "Pod", object("a"))), o)
		if err1 != nil || err2 != nil || strings.Contains(inList[1], "MaxObject") != limited || strings.Contains(inWatch[0], "MaxObject") != limited {
			t.Errorf("%d of %d bytes: %q, %v, %q, %v", most, size, inList, err1, inWatch, err2)
		}
	}
}

func TestAnObjectMayHave32MiBByDefault(t *testing.T) {
	large := append(object("a"), fields(nil).text(3, strings.Repeat("x", 32<<20))...)
	got, err := readList(bytes.NewReader(list("1", "", large)), jsonstream.Options{})
	if err != nil || len(got) != 2 || !strings.Contains(got[0]+got[1], "MaxObject, 33554432") {
		t.Errorf("got %.300q, %v, want an object that is larger than MaxObject", got, err)
	}
}

// Fields of newer servers are passed over, and those that are known must have their types.
func TestFieldsOfNewerServersArePassedOver(t *testing.T) {
	raw := append(fields{12<<3 | 5, 1, 2, 3, 4, 13<<3 | 1, 1, 2, 3, 4, 5, 6, 7, 8}.int(14, 300).text(15, "x"), fields(nil).bytes(2, object("a"))...)
	body := append([]byte(protobuf.Magic), fields(nil).text(9, "\x12\x00new")...)
	body = append(body, protobuf.Envelope{APIVersion: "v1", Kind: "PodList", Raw: raw}.Append(nil)[len(protobuf.Magic):]...)
	if got, err := readList(bytes.NewReader(body), jsonstream.Options{}); err != nil || len(got) != 2 || !strings.Contains(got[0], "ns/a") {
		t.Errorf("list: %q, %v", got, err)
	}
	e := protobuf.Envelope{APIVersion: "v1", Kind: "Pod", Raw: object("a")}.Append(nil)
	f := fields(nil).text(1, "ADDED").bytes(2, fields(nil).bytes(1, e).text(2, "more"))
	if got, err := readWatch(bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, uint32(len(f))), f...)), jsonstream.Options{}); err != nil || len(got) != 1 || !strings.Contains(got[0], "ns/a") {
		t.Errorf("watch: %q, %v", got, err)
	}
	for name, raw := range map[string][]byte{
		"a list's metadata that is a number": fields(nil).int(1, 1),
		"a name that is a number":            fields(nil).bytes(2, fields(nil).bytes(1, fields(nil).int(1, 0))),
	} {
		body := protobuf.Envelope{APIVersion: "v1", Kind: "PodList", Raw: raw}.Append(nil)
		if got, err := readList(bytes.NewReader(body), jsonstream.Options{}); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Only a bookmark ends the initial events, whatever annotations an object has.
func TestOnlyABookmarkEndsTheInitialEvents(t *testing.T) {
	m := metadata("a", "u", "7").bytes(12, fields(nil).text(1, "k8s.io/initial-events-end").text(2, "true"))
	for typ, ends := range map[string]bool{"BOOKMARK": true, "ADDED": false} {
		got, err := readWatch(bytes.NewReader(event(typ, "Pod", fields(nil).bytes(1, m))), jsonstream.Options{})
		if err != nil || len(got) != 1 || strings.HasSuffix(got[0], " end") != ends {
			t.Errorf("%s: %q, %v", typ, got, err)
		}
	}
}

// A step for bytes that have arrived comes before more are asked for: a watch may be silent for long.
func TestAWatchFramesArrivedBytesBeforeItAsksForMore(t *testing.T) {
	body := slices.Concat(event("ADDED", "Pod", object("a")), event("ADDED", "Pod", object("b")))
	frames := 0
	for s := range protostream.NewWatch(jsonstream.Options{}).Steps() {
		if s.Kind == jsonstream.Starved {
			if len(body) == 0 {
				break
			}
			n := copy(s.Into, body)
			s.Fill(n, nil)
			body = body[n:]
			continue
		}
		frames++
	}
	if frames != 2 {
		t.Errorf("%d events are framed before more is asked for", frames)
	}
}

// stuck is a reader that brings nothing, and no error, after its first bytes.
type stuck struct{ io.Reader }

func (s stuck) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

func TestAReaderThatBringsNothingEndsTheBody(t *testing.T) {
	body, stream := list("70", "", object("a")), event("ADDED", "Pod", object("a"))
	for _, n := range []int{0, 10} {
		if _, err := readList(stuck{bytes.NewReader(body[:n])}, jsonstream.Options{}); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("a list after %d bytes: %v", n, err)
		}
		if _, err := readWatch(stuck{bytes.NewReader(stream[:n])}, jsonstream.Options{}); !errors.Is(err, io.ErrNoProgress) {
			t.Errorf("a watch after %d bytes: %v", n, err)
		}
	}
}

// An event with something behind its object is read to its end.
func TestGarbageBehindTheObjectOfAnEventIsAnError(t *testing.T) {
	good := event("ADDED", "Pod", object("a"))[4:]
	of := func(more ...byte) []byte {
		b := slices.Concat(good, more)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
	}
	for name, more := range map[string][]byte{
		"a tag that is cut": {0x80}, "a number that is cut": {7 << 3, 0x80}, "a field that is cut": {7<<3 | 2, 9, 1}, "a length that is cut": {7<<3 | 2, 0x80},
	} {
		_, err := readWatch(bytes.NewReader(of(more...)), jsonstream.Options{})
		if syntax := (*jsonstream.SyntaxError)(nil); !errors.As(err, &syntax) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := readWatch(bytes.NewReader(of(7<<3, 1, 8<<3|2, 1, 1)), jsonstream.Options{}); err != nil || len(got) != 1 {
		t.Errorf("fields of a newer server: %q, %v", got, err)
	}
}

// An event that is too large, and whose object is no envelope or the start of one, is skipped.
func TestATooLargeEventWithoutAnEnvelopeIsSkipped(t *testing.T) {
	for _, envelope := range []string{"", "k", "k8s", protobuf.Magic, protobuf.Magic + "\x0a", string(fields(nil).bytes(2, object("z")))} {
		f := fields(nil).text(1, "ADDED").bytes(2, fields(nil).text(1, envelope)).text(3, strings.Repeat("x", 5000))
		body := slices.Concat(binary.BigEndian.AppendUint32(nil, uint32(len(f))), f, event("ADDED", "Pod", object("c")))
		got, err := readWatch(bytes.NewReader(body), jsonstream.Options{MaxObject: 1000})
		if err != nil || len(got) != 2 || !strings.HasPrefix(got[0], "ADDED /  ") || !strings.Contains(got[1], "ns/c") {
			t.Errorf("%q: %q, %v", envelope, got, err)
		}
	}
}

// Only a watch has an end of its initial events.
func TestAListHasNoEndOfInitialEvents(t *testing.T) {
	o := fields(nil).bytes(1, fields(nil).text(1, "a").bytes(12, fields(nil).text(1, "k8s.io/initial-events-end").text(2, "true")))
	got, err := readList(bytes.NewReader(list("1", "", o)), jsonstream.Options{})
	if err != nil || len(got) != 2 || strings.HasSuffix(got[1], " end") {
		t.Errorf("got %q, %v", got, err)
	}
}

// A watch waits in a small buffer, and borrows a large one while it reads more than that.
func TestAWatchWaitsInASmallBuffer(t *testing.T) {
	w := protostream.NewWatch(jsonstream.Options{Buffers: new(jsonstream.Buffers)})
	small := event("ADDED", "Pod", object("a"))
	large := event("ADDED", "Pod", object(strings.Repeat("a", 1000)))
	arriving := [][]byte{small, large, small, slices.Concat(large, small)}
	var sizes []int
	framed := 0
	for step := range w.Steps() {
		switch step.Kind {
		case jsonstream.Framed:
			framed++
		case jsonstream.Starved:
			sizes = append(sizes, len(step.Into))
			if len(arriving) == 0 {
				step.Fill(0, io.EOF)
				continue
			}
			n := copy(step.Into, arriving[0])
			if arriving[0] = arriving[0][n:]; len(arriving[0]) == 0 {
				arriving = arriving[1:]
			}
			step.Fill(n, nil)
		case jsonstream.Headed, jsonstream.Failed:
			t.Fatalf("got step %v: %v", step.Kind, step.Err)
		}
	}
	const rest, rested = jsonstream.RestBuffer, jsonstream.WatchBuffer - jsonstream.RestBuffer
	if want := []int{rest, rest, rested + 4, rest, rest, rested + 4, rest}; framed != 5 || !slices.Equal(sizes, want) {
		t.Errorf("the watch has framed %d events, and reads up to %v bytes, want %v", framed, sizes, want)
	}
}

func TestFillRefusesAWrongNumberOfBytes(t *testing.T) {
	for _, wrong := range []func(room int) int{func(int) int { return -1 }, func(room int) int { return room + 1 }} {
		for name, steps := range map[string]iter.Seq[*jsonstream.Step]{
			"a list": protostream.NewList(jsonstream.Options{}).Steps(), "a watch": protostream.NewWatch(jsonstream.Options{}).Steps(),
		} {
			for s := range steps {
				if s.Kind == jsonstream.Starved {
					s.Fill(wrong(len(s.Into)), nil)
				} else if s.Kind != jsonstream.Failed || !strings.Contains(s.Err.Error(), "must return a count from 0 to the size of the buffer") {
					t.Errorf("%s: step %v, %v", name, s.Kind, s.Err)
				}
			}
		}
	}
}
