package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/bowline-go/bowline/client"
)

// warned returns what the hook gets for the header lines of one answer each.
func warned(t testing.TB, answers ...[]string) (out []client.Warning) {
	t.Helper()
	n := 0
	c := dial(t, client.Config{
		Server: "http://127.0.0.1:1",
		Wrap: func(http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				h := http.Header{"Warning": answers[n]}
				n++
				return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader(object("a", "1")))}, nil
			})
		},
		Hooks: client.Hooks{Warning: func(_ context.Context, w client.Warning) { out = append(out, w) }},
	})
	for range answers {
		must[*Slim](t)(client.For(c, slims).Get(t.Context(), web))
	}
	return out
}

// behaviours 138 and 139: what is malformed is reported, and loses none of the good ones before it or in other lines.
func TestWarningHeadersAreParsed(t *testing.T) {
	plain := func(texts ...string) (out []client.Warning) {
		for _, text := range texts {
			out = append(out, client.Warning{Agent: "-", Text: text})
		}
		return out
	}
	bad := func(texts ...string) (out []client.Warning) {
		for _, text := range texts {
			out = append(out, client.Warning{Text: text})
		}
		return out
	}
	long := strings.Repeat("x", 5000)
	for _, test := range []struct {
		name   string
		header []string
		want   []client.Warning
	}{
		{"none", nil, nil},
		{"one", []string{`299 - "a is deprecated"`}, plain("a is deprecated")},
		{"another agent", []string{`299 webhook/v1 "a"`}, []client.Warning{{Agent: "webhook/v1", Text: "a"}}},
		{"one with a date", []string{`299 - "a" "Sun, 06 Nov 1994 08:49:37 GMT"`}, plain("a")},
		{"several lines", []string{`299 - "a"`, `299 - "b"`}, plain("a", "b")},
		{"several in one line", []string{`299 - "a", 299 - "b" "date, with comma",299 - "c"`}, plain("a", "b", "c")},
		{"escapes", []string{`299 - "say \"hi\" \\ and \go"`}, plain(`say "hi" \ and go`)},
		{"commas and quotes within", []string{`299 - "a, 299 - \"b\""`, `299 - "c"`}, plain(`a, 299 - "b"`, "c")},
		{"an encoded word", []string{`299 - "=?utf-8?q?d=C3=A9pr=C3=A9ci=C3=A9?="`}, plain("déprécié")},
		{"an encoded word in base64", []string{`299 - "=?UTF-8?B?44OG44K544OI?= x"`}, plain("テスト x")},
		{"an encoded word that is none", []string{`299 - "=?nocharset?q?a?="`}, plain("=?nocharset?q?a?=")},
		{"UTF-8 as it is", []string{`299 - "déprécié"`}, plain("déprécié")},
		{"other codes", []string{`199 - "a", 299 - "b", 110 - "c"`}, plain("b")},
		{"an empty text", []string{`299 - ""`, `299 - "b"`}, plain("b")},
		{
			"control characters and escape sequences",
			[]string{"299 - \"\x1b[31mred\x1b[0m\ta\x7f\u009b\u202eb\""},
			plain("red ab"),
		},
		{"only control characters", []string{"299 - \"\x01\""}, nil},
		{"control characters in an encoded word", []string{`299 - "=?utf-8?q?a=1B=0Ab?="`}, plain("a b")},
		{"text that is not UTF-8", []string{"299 - \"a\xff\xfeb\""}, plain("a\ufffdb")},
		{"a very long one", []string{`299 - "` + long + `"`}, plain(long[:4093] + "...")},

		{"a good one before a malformed one", []string{`299 - "a", 299 - b, 299 - "c"`}, append(plain("a"), bad(`299 - b, 299 - "c"`)...)},
		{"a good line after malformed ones", []string{
			`299`, `299 -`, `299 - `, `299 - "`, `299 - "a\`, `- "a"`, `29 - "a"`, `2999 - "a"`, ``, `,`, `299  "a"`, `299 - a`, `"299 - a"`,
			`299 - "z"`,
		}, append(bad(
			`299`, `299 -`, `299 - "`, `299 - "a\`, `- "a"`, `29 - "a"`, `2999 - "a"`, `299 "a"`, `299 - a`, `"299 - a"`,
		), plain("z")...)},
		{
			"something after the text",
			[]string{`299 - "a" b, 299 - "c"`, `299 - "d" "e" f`, `299 - "g" "h`},
			slices.Concat(plain("a"), bad(`b, 299 - "c"`), plain("d"), bad("f"), plain("g"), bad(`"h`)),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := warned(t, test.header); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// behaviour 140
func TestAWarningIsHeardOncePerText(t *testing.T) {
	got := warned(t, []string{`299 - "a"`, `299 - "a"`}, []string{`299 - "a"`, `299 - "b"`}, []string{`299 other "a"`}, []string{`299 - "c"`})
	if want := []client.Warning{{Agent: "-", Text: "a"}, {Agent: "-", Text: "b"}, {Agent: "-", Text: "c"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAServerThatMakesUpWarningsFillsNoMemory(t *testing.T) {
	var answers [][]string
	for i := range 1001 {
		if i%100 == 0 {
			answers = append(answers, nil)
		}
		answers[i/100] = append(answers[i/100], fmt.Sprintf(`299 - "%d"`, i))
	}
	got := warned(t, append(answers, []string{`299 - "1000"`, `299 - "0"`})...)
	if len(got) != 1002 || got[1001].Text != "0" {
		t.Errorf("got %d warnings, the last %v; want the first text again after 1000 others", len(got), got[len(got)-1])
	}
}

// One header of 9 MB made 596,769 calls of the hook.
func TestAnAnswerWithManyWarningsIsCutShort(t *testing.T) {
	var line strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&line, `299 - "%d",`, i)
	}
	got := warned(t, []string{line.String(), `299 - "50000"`}, []string{`299 - "0"`, `299 - "new"`, `299 - "50000"`})
	if len(got) != 103 || got[99].Text != "99" {
		t.Fatalf("%d warnings", len(got))
	}
	last := client.Warning{Agent: "-", Text: "49901 further warnings of the same answer are left out"}
	if got[100] != last || got[101].Text != "new" || got[102].Text != "50000" {
		t.Errorf("the last of the answer is %+v, and those of the next %+v", got[100], got[101:])
	}
}

// Warnings that had been reported before, or were there twice, counted among those that were left out.
func TestOmittedWarningsAreCountedWithoutRepetitions(t *testing.T) {
	var line strings.Builder
	for i := range 100 {
		fmt.Fprintf(&line, `299 - "%d",`, i)
	}
	got := warned(t, []string{`299 - "before"`},
		[]string{line.String() + `299 - "before", 299 - "0", 299 - "99", 299 - "left", 299 - "left", 299 - "another"`})
	if len(got) != 102 || !strings.HasPrefix(got[101].Text, "2 further warnings ") {
		t.Fatalf("%d warnings, of which the last is %+v", len(got), got[len(got)-1])
	}
	got = warned(t, []string{line.String() + `299 - "0"`})
	if len(got) != 100 || strings.Contains(got[99].Text, "left out") {
		t.Errorf("%d warnings, of which the last is %+v, although none is left out", len(got), got[len(got)-1])
	}
}

// An answer whose headers have no end was read up to 10 MB.
func TestHeadersThatAreTooLargeAreAnError(t *testing.T) {
	ca := newAuthority(t)
	for _, test := range []struct {
		http2 bool
		lines int
	}{{false, 1}, {false, 100}, {true, 1}, {true, 100}} {
		calls, http2, lines := 0, test.http2, test.lines
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if calls++; (r.ProtoMajor == 2) != http2 {
				t.Errorf("it came by %s", r.Proto)
			}
			for i := range lines {
				w.Header().Set(fmt.Sprintf("X-Long-%d", i), strings.Repeat("x", 1100<<10/lines))
			}
			answer{body: object("a", "1")}.write(w)
		})
		cfg := serve(t, h)
		if http2 {
			cfg = client.Config{Server: startTLS(t, ca, h, nil).URL, TLS: client.TLS{CAData: client.Secret(ca.pem)}, Proxy: noProxy}
		}
		_, err := client.For(dial(t, cfg), slims).Get(t.Context(), web)
		wantErr(t, err, "the headers of the answer are larger than 1 MiB")
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
		if http2 { // where nothing tells it from what breaks the protocol
			continue
		}
		answered(t, err, client.HeadersTooLarge)
		wantErr(t, err, "the headers of the answer are larger than 1 MiB")
	}
}

func TestWarningsOfFailedRequestsAreHeardToo(t *testing.T) {
	var got []client.Warning
	type key struct{}
	cfg := serve(t, answers(answer{code: 422, header: http.Header{"Warning": {`299 - "unknown field"`}}, body: status(422, "Invalid", "no")}))
	cfg.Hooks.Warning = func(ctx context.Context, w client.Warning) {
		if ctx.Value(key{}) != "here" {
			t.Error("the hook has another context than the call")
		}
		got = append(got, w)
	}
	r := client.For(dial(t, cfg), slims)
	if _, err := r.Get(context.WithValue(t.Context(), key{}, "here"), web); err == nil {
		t.Error("no error")
	}
	if len(got) != 1 || got[0].Text != "unknown field" {
		t.Errorf("got %v", got)
	}
}

func FuzzWarning(f *testing.F) {
	for _, line := range []string{`299 - "a", 299 - "b" "date"`, `299 - "\"`, `299 - "=?utf-8?q?=1B?="`, "299 \x00 \"\xff\"", `299 - "a" "`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, w := range warned(t, []string{line, `299 - "the good one"`}) {
			for _, s := range []string{w.Agent, w.Text} {
				if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || len(s) > 4100 {
					t.Errorf("%q is not clean", s)
				}
			}
			if w.Text == "" {
				t.Error("a warning has no text")
			}
			if w.Text == "the good one" {
				return
			}
		}
		t.Error("the good line was not heard")
	})
}
