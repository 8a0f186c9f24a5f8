package remote_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/remote"
)

// raw serves a text as a log.
func raw(text string) *containers.Server {
	return &containers.Server{Logs: func(_ context.Context, _ meta.Key, _ remote.LogOptions, w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}}
}

func TestLines(t *testing.T) {
	const stamp = "2026-05-01T12:00:00.000000001Z "
	first := noon.Add(1)
	huge := strings.Repeat("0123456789", remote.MaxLine/2)
	line := func(t time.Time, text string) remote.Line { return remote.Line{Time: t, Pod: web, Text: text} }
	part := func(t time.Time, text string) remote.Line {
		return remote.Line{Time: t, Pod: web, Text: text, Continues: true}
	}
	for name, tc := range map[string]struct {
		text string
		want []remote.Line
	}{
		"nothing":           {"", nil},
		"lines":             {stamp + "a\n" + stamp + "b b\n", []remote.Line{line(first, "a"), line(first, "b b")}},
		"another zone":      {"2026-05-01T14:00:00.000000001+02:00 a\n", []remote.Line{line(first, "a")}},
		"fewer digits":      {"2026-05-01T12:00:00Z a\n", []remote.Line{line(noon, "a")}},
		"empty lines":       {stamp + "\n" + stamp + "\n", []remote.Line{line(first, ""), line(first, "")}},
		"no end":            {stamp + "a\n" + stamp + "b", []remote.Line{line(first, "a"), line(first, "b")}},
		"carriage returns":  {stamp + "a\r\n" + stamp + "\r\n", []remote.Line{line(first, "a\r"), line(first, "\r")}},
		"NUL and bad UTF-8": {stamp + "\x00\xff\xc3\n", []remote.Line{line(first, "\x00\xff\xc3")}},
		"spaces":            {stamp + "  a \n", []remote.Line{line(first, "  a ")}},
		"no timestamp":      {stamp + "a\nunable to retrieve container logs", []remote.Line{line(first, "a"), line(time.Time{}, "unable to retrieve container logs")}},
		"only a timestamp":  {stamp[:30] + "\n", []remote.Line{line(time.Time{}, stamp[:30])}},
		"a wrong timestamp": {"2026-13-01T12:00:00Z a\n", []remote.Line{line(time.Time{}, "2026-13-01T12:00:00Z a")}},
		"a line without a timestamp between others": {
			stamp + "a\nb\n\n" + stamp + "c\n", []remote.Line{line(first, "a"), line(time.Time{}, "b"), line(time.Time{}, ""), line(first, "c")},
		},
		"a line of 5 MiB": {stamp + huge + "\n" + stamp + "b\n", []remote.Line{
			part(first, huge[:remote.MaxLine]), part(first, huge[remote.MaxLine:2*remote.MaxLine]), part(first, huge[2*remote.MaxLine:3*remote.MaxLine]),
			part(first, huge[3*remote.MaxLine:4*remote.MaxLine]), line(first, huge[4*remote.MaxLine:]), line(first, "b"),
		}},
		"the longest line":  {stamp + huge[:remote.MaxLine] + "\n", []remote.Line{line(first, huge[:remote.MaxLine])}},
		"a byte too long":   {stamp + huge[:remote.MaxLine+1] + "\n", []remote.Line{part(first, huge[:remote.MaxLine]), line(first, huge[remote.MaxLine:][:1])}},
		"long, without end": {stamp + huge[:remote.MaxLine+1], []remote.Line{part(first, huge[:remote.MaxLine]), line(first, huge[remote.MaxLine:][:1])}},
		"long, no timestamp": {huge[:remote.MaxLine+1] + "\n" + stamp + "b\n", []remote.Line{
			part(time.Time{}, huge[:remote.MaxLine]), line(time.Time{}, huge[remote.MaxLine:][:1]), line(first, "b"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, raw(tc.text), clienttest.Options{})
			var got []remote.Line
			for l, err := range remote.Lines(t.Context(), r.pods, web, remote.LogOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				l.Time = l.Time.UTC()
				got = append(got, l)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %s\nwant %s", short(got), short(tc.want))
			}
		})
	}
}

// short describes lines, which may be long.
func short(lines []remote.Line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%v %.60q of %d bytes, continues: %v; ", l.Time, l.Text, len(l.Text), l.Continues)
	}
	return b.String()
}

func TestLinesBeginAtTheExactTimeOfSince(t *testing.T) {
	logs := new(containers.Logs)
	r := newRig(t, &containers.Server{Logs: logs.Serve}, clienttest.Options{})
	logs.Of(many, "sidecar").Add(entry(1.25, "a"), entry(1.5, "b"), entry(1.75, "c"))
	var got []string
	for l, err := range remote.Lines(t.Context(), r.pods, many, remote.LogOptions{Container: "sidecar", Since: at(1.5)}) {
		if err != nil || l.Pod != many || l.Container != "sidecar" {
			t.Errorf("got %+v, %v", l, err)
		}
		got = append(got, l.Text)
	}
	if want := []string{"b", "c"}; !slices.Equal(got, want) {
		t.Errorf("since 1.5 s: got %q, want %q: the server knows whole seconds only", got, want)
	}
}
