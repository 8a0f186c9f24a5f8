package jsonlex_test

import (
	"os"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// BenchmarkStrings goes through strings of the lengths that the API's have, with both scans, and through long ones of lines.
func BenchmarkStrings(b *testing.B) {
	for _, body := range []struct{ name, inner string }{
		{"Short", "metadata"},
		{"Name", "web-7d4b9c6f5d-x2lqz"},
		{"Image", "registry.example.com/team/web@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
		{"Lines", strings.Repeat(`a line of the file\n`, 1000)},
		{"Words", strings.Repeat("日本語 ", 1000)},
	} {
		text := []byte(`"` + body.inner + `":"behind it"`)
		want := len(body.inner) + len(`""`)
		b.Run("StringEnd/"+body.name, func(b *testing.B) {
			b.SetBytes(int64(want))
			for b.Loop() {
				if end, _ := jsonlex.StringEnd(text, 0); end != want {
					b.Fatal(end)
				}
			}
		})
		b.Run("ClosingQuote/"+body.name, func(b *testing.B) {
			b.SetBytes(int64(want))
			for b.Loop() {
				if at := jsonlex.ClosingQuote(text, 1); at != want-1 {
					b.Fatal(at)
				}
			}
		})
		b.Run("AppendUnquoted/"+body.name, func(b *testing.B) {
			b.SetBytes(int64(want))
			var read []byte
			for b.Loop() {
				read = jsonlex.AppendUnquoted(read[:0], text[1:want-1])
			}
		})
		b.Run("AppendQuoted/"+body.name, func(b *testing.B) {
			read := jsonlex.Unquote(text[1 : want-1])
			b.SetBytes(int64(want))
			var quoted []byte
			for b.Loop() {
				quoted = jsonlex.AppendQuoted(quoted[:0], read)
			}
		})
	}
}

// BenchmarkPod passes over a pod of 7 KB, written with white space and without.
func BenchmarkPod(b *testing.B) {
	pod, err := os.ReadFile("../jsonstream/testdata/pod.json")
	if err != nil {
		b.Fatal(err)
	}
	compact := jsonlex.AppendCompact(nil, pod)
	for name, text := range map[string][]byte{"Spaced": pod, "Compact": compact} {
		b.Run("Skip/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				s := jsonlex.Skipper{Text: text, Levels: levels}
				if end := s.Skip(0); end < 0 {
					b.Fatal(end)
				}
			}
		})
		b.Run("AppendCompact/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = jsonlex.AppendCompact(dst[:0], text)
			}
		})
	}
}
