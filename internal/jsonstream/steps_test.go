package jsonstream_test

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bowline-go/bowline/internal/jsonstream"
)

const (
	stepList = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"c"},"items":[` +
		`{"metadata":{"name":"a","uid":"1"}},{"metadata":{"name":"b","uid":"2"},"x":[1,2,{"y":"z"}]}]}`
	stepLateList = `{"items":[{"metadata":{"name":"a"}}],"metadata":{"resourceVersion":"7"},"kind":"PodList","apiVersion":"v1"}`
	stepWatch    = `{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"}}}` + "\n" +
		`{"type":"DELETED","object":{"metadata":{"name":"b","resourceVersion":"2"}}}`
)

// steps tells what a loop over steps sees, in words, until it is left at the step of a number.
func steps(all iter.Seq[*jsonstream.Step], body io.Reader, leave int) (seen []string) {
	n := 0
	for s := range all {
		if n++; n == leave {
			return seen
		}
		switch s.Kind {
		case jsonstream.Starved:
			s.Fill(body.Read(s.Into))
		case jsonstream.Headed:
			seen = append(seen, fmt.Sprintf("header %+v", s.Header))
		case jsonstream.Framed:
			seen = append(seen, fmt.Sprintf("%s %s %s", s.Frame.Type, s.Frame.Name, s.Frame.Raw))
		case jsonstream.Failed:
			seen = append(seen, fmt.Sprint("error ", s.Err))
		}
	}
	return seen
}

// Steps finds in a body what Next finds, however it arrives, and asks to be filled only when it has told of all that has arrived.
func TestStepsFindWhatNextFinds(t *testing.T) {
	for _, body := range []string{stepList, stepLateList, stepList[:len(stepList)-1], stepList[:80], `[`, ``, `{"kind":"Status"}`} {
		var want []string
		l := jsonstream.NewList(strings.NewReader(body), jsonstream.Options{})
		head := func() {
			h, _ := l.Header()
			want = append(want, fmt.Sprintf("header %+v", h))
		}
		first := strings.HasPrefix(body, `{"kind":"PodList"`)
		for {
			item, err := l.Next()
			if first && l.Open() == nil {
				first = false
				head()
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				want = append(want, fmt.Sprint("error ", err))
				break
			}
			want = append(want, fmt.Sprintf(" %s %s", item.Name, item.Raw))
		}
		if body == stepLateList {
			head()
		}
		for _, r := range readers {
			if got := steps(jsonstream.NewList(nil, jsonstream.Options{}).Steps(), r.wrap(strings.NewReader(body)), 0); !slices.Equal(got, want) {
				t.Errorf("%s, %s: got %q, want %q", body, r.name, got, want)
			}
		}
	}
	for _, body := range []string{stepWatch, stepWatch[:len(stepWatch)-1], `<html>`, ``} {
		var want []string
		w := jsonstream.NewWatch(strings.NewReader(body), jsonstream.Options{})
		for {
			f, err := w.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				want = append(want, fmt.Sprint("error ", err))
				break
			}
			want = append(want, fmt.Sprintf("%s %s %s", f.Type, f.Name, f.Raw))
		}
		for _, r := range readers {
			if r.name != "all at once" && body == `<html>` {
				continue // the excerpt in the error is what has arrived
			}
			if got := steps(jsonstream.NewWatch(nil, jsonstream.Options{}).Steps(), r.wrap(strings.NewReader(body)), 0); !slices.Equal(got, want) {
				t.Errorf("%s, %s: got %q, want %q", body, r.name, got, want)
			}
		}
	}
}

// A loop may be left at any step, also when it is asked to read: nothing is written into the buffer behind its back.
func TestStepsMayBeLeftAtAnyStep(t *testing.T) {
	for _, all := range []func() iter.Seq[*jsonstream.Step]{
		func() iter.Seq[*jsonstream.Step] { return jsonstream.NewList(nil, jsonstream.Options{}).Steps() },
		func() iter.Seq[*jsonstream.Step] { return jsonstream.NewWatch(nil, jsonstream.Options{}).Steps() },
	} {
		for leave := 1; leave < 60; leave++ {
			steps(all(), iotest.OneByteReader(strings.NewReader(stepList)), leave)
		}
	}
	var into []byte
	for s := range jsonstream.NewList(nil, jsonstream.Options{}).Steps() {
		into = s.Into
		for i := range into {
			into[i] = 'x'
		}
		break
	}
	if len(into) == 0 || strings.Trim(string(into), "x") != "" {
		t.Errorf("%d bytes of the buffer were asked for, and some have changed since", len(into))
	}
}
