package meta_test

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

func TestSelectorMatchesLikeTheServer(t *testing.T) {
	web := map[string]string{"app": "web", "tier": "front", "empty": "", "size": "10", "example.com/x": "y"}
	tests := []struct {
		selector string
		labels   map[string]string
		want     bool
	}{
		{"", web, true},
		{"", nil, true},
		{"app", web, true},
		{"app", nil, false},
		{"empty", web, true},
		{"!app", web, false},
		{"!app", nil, true},
		{"app=web", web, true},
		{"app==web", web, true},
		{"app=db", web, false},
		{"app=web", nil, false},
		{"app=", web, false},
		{"empty=", web, true},
		{"missing=", web, false},
		{"app!=web", web, false},
		{"app!=db", web, true},
		{"missing!=db", web, true},
		{"app in (web,db)", web, true},
		{"app in (db,cache)", web, false},
		{"app in (web)", nil, false},
		{"empty in (,x)", web, true},
		{"app notin (web,db)", web, false},
		{"app notin (db,cache)", web, true},
		{"missing notin (db)", web, true},
		{"size>9", web, true},
		{"size>10", web, false},
		{"size<11", web, true},
		{"size<10", web, false},
		{"size>9", map[string]string{"size": "9"}, false},
		{"size<9", map[string]string{"size": "large"}, false},
		{"size<9", map[string]string{"size": "-1"}, true},
		{"size<9", nil, false},
		{"size>9", map[string]string{"size": "99999999999999999999"}, false},
		{"app=web,tier=front", web, true},
		{"app=web,tier=back", web, false},
		{"app=web,app!=web", web, false},
		{"example.com/x in (y)", web, true},
	}
	for _, tt := range tests {
		t.Run(tt.selector, func(t *testing.T) {
			s, err := meta.ParseSelector(tt.selector)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Matches(tt.labels); got != tt.want {
				t.Errorf("%q matches %v = %v, want %v", tt.selector, tt.labels, got, tt.want)
			}
		})
	}
}

func TestParseSelectorPrintsCanonically(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"white space alone", " \t\r\n", ""},
		{"the three equalities", "a=1,b==2,c!=3", "a=1,b=2,c!=3"},
		{"white space around everything", " a = 1 ,\tb\nin ( x , y ) , ! c ", "a=1,b in (x,y),!c"},
		{"no white space before a set", "a in(x,y),b notin(z,w)", "a in (x,y),b notin (w,z)"},
		{"requirements are sorted by key", "z,a,m=1", "a,m=1,z"},
		{"requirements of one key have an order", "a<9,a>1,a!=5,a=4,!a,a", "a,!a,a=4,a!=5,a>1,a<9"},
		{"values are sorted", "a in (z,y,x)", "a in (x,y,z)"},
		{"a value twice is one", "a in (x,x,y)", "a in (x,y)"},
		{"a set of one value is an equality", "a in (x),b notin (y)", "a=x,b!=y"},
		{"an empty set is the empty value", "a in ()", "a="},
		{"empty values in a set", "a in (,x)", "a in (,x)"},
		{"an empty value at the end of a set", "a in (x,)", "a in (,x)"},
		{"nothing but a comma in a set", "a notin (,)", "a!="},
		{"an empty value at the end", "a=", "a="},
		{"an empty value before a comma", "a=,b!=,c", "a=,b!=,c"},
		{"a requirement twice is one", "a=1,b,a=1", "a=1,b"},
		{"a number loses its leading zeros", "a>007", "a>7"},
		{"words of the syntax as keys and values", "in in (in,notin),notin=in", "in in (in,notin),notin=in"},
		{"a prefixed key", "app.kubernetes.io/name=x", "app.kubernetes.io/name=x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := meta.ParseSelector(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if s.String() != tt.want {
				t.Fatalf("%q prints %q, want %q", tt.text, s, tt.want)
			}
			again, err := meta.ParseSelector(s.String())
			if err != nil || !reflect.DeepEqual(again, s) {
				t.Errorf("parsing %q again gives %#v, %v; want %#v", s, again, err, s)
			}
		})
	}
}

func TestParseSelectorNamesThePlaceAndWhatIsAllowed(t *testing.T) {
	tests := []struct {
		text   string
		offset int
		want   string
	}{
		{"a b", 2, `found "b", want a comma, the end, or one of`},
		{"a,", 2, `found the end, want a key or "!"`},
		{",a", 0, `found ",", want a key or "!"`},
		{"a,,b", 2, `found ",", want a key or "!"`},
		{"!", 1, `found the end, want a key`},
		{"!!a", 1, `found "!", want a key`},
		{"!a=b", 2, `found "=", want a comma or the end`},
		{"!a in (b)", 3, `found "in", want a comma or the end`},
		{"a!b", 1, `found "!", want a comma, the end, or one of`},
		{"a! =b", 1, `found "!", want a comma`},
		{"a=b c", 4, `found "c", want a comma or the end`},
		{"a=(b)", 2, `found "(", want a value`},
		{"a==!b", 3, `found "!", want a value`},
		{"a= =b", 3, `found "=", want a value`},
		{"a>=5", 2, `found "=", want a value`},
		{"a in b", 5, `found "b", want "("`},
		{"a in", 4, `found the end, want "("`},
		{"a in (b", 7, `found the end, want a comma or ")"`},
		{"a in (b c)", 8, `found "c", want a comma or ")"`},
		{"a in (b=c)", 7, `found "=", want a comma or ")"`},
		{"a in (b)c", 8, `found "c", want a comma or the end`},
		{"a in (x,-)", 8, `must be empty or at most 63 letters`},
		{"a=b/c", 2, `must be empty or at most 63 letters`},
		{"x,-a=b", 2, `the name must be 1 to 63 letters`},
		{"A.B/c=d", 0, `must be a DNS subdomain`},
		{"a/b/c", 0, `at most one slash`},
		{"a>b", 2, `must have an integer`},
		{"a>", 2, `must have an integer`},
		{"a<-1", 2, `must be empty or at most 63 letters`},
		{"a>99999999999999999999", 2, `must have an integer from 0 to 9223372036854775807`},
		{"\x00", 0, `the name must be 1 to 63 letters`},
		{"a=\x1b[31m", 2, `"\x1b[31m"`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			s, err := meta.ParseSelector(tt.text)
			want := fmt.Sprintf("parse label selector %q: at byte %d: ", tt.text, tt.offset)
			if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error()[len(want):], tt.want) {
				t.Errorf("ParseSelector = %q, %v\nwant %s...%s", s, err, want, tt.want)
			}
		})
	}
}

func label(key string, op meta.Operator, values ...string) meta.Requirement {
	return meta.Requirement{Key: key, Operator: op, Values: values}
}

func TestNewSelector(t *testing.T) {
	s, err := meta.NewSelector(
		label("tier", meta.OpNotIn, "b", "a"), label("app", meta.OpIn, "web"), label("x", meta.OpExists),
		label("y", meta.OpDoesNotExist), label("z", meta.OpNotIn, "1"), label("w", meta.OpIn, "q", "p"),
		label("n", meta.OpGreaterThan, "1"), label("n", meta.OpLessThan, "9"),
	)
	if err != nil {
		t.Fatal(err)
	}
	if want := "app=web,n>1,n<9,tier notin (a,b),w in (p,q),x,!y,z!=1"; s.String() != want {
		t.Errorf("selector %q, want %q", s, want)
	}
	again, err := meta.NewSelector(s.Requirements()...)
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("the selector of its own requirements is %q, %v; want %q", again, err, s)
	}
}

func TestNewSelectorRefusesWhatTheServerRefuses(t *testing.T) {
	tests := []struct {
		name string
		r    meta.Requirement
		want string
	}{
		{"no operator", meta.Requirement{Key: "a"}, "operator must be In, NotIn"},
		{"an unknown operator", meta.Requirement{Key: "a", Operator: "in"}, "operator must be In, NotIn"},
		{"a bad key", label("a b", meta.OpExists), "label key"},
		{"a bad value", label("a", meta.OpIn, "b c"), `label "a": label value "b c"`},
		{"a set without values", label("a", meta.OpIn), "at least one value"},
		{"an exclusion without values", label("a", meta.OpNotIn), "at least one value"},
		{"existence with a value", label("a", meta.OpExists, "b"), "no value"},
		{"an inequality with two values", label("a", meta.OpLessThan, "1", "2"), "one value"},
		{"a negative bound", label("a", meta.OpGreaterThan, "-1"), "label value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := meta.NewSelector(label("fine", meta.OpExists), tt.r)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("NewSelector = %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestSelectorIsAValue(t *testing.T) {
	values := []string{"b", "a"}
	s, err := meta.NewSelector(label("k", meta.OpIn, values...))
	if err != nil {
		t.Fatal(err)
	}
	values[0] = "z"
	s.Requirements()[0].Values[0] = "z"
	if s.String() != "k in (a,b)" {
		t.Errorf("the selector changed to %q", s)
	}
	var zero meta.Selector
	if !zero.Everything() || zero.String() != "" || !zero.Matches(nil) || s.Everything() {
		t.Error("the zero selector must select everything, and no other")
	}
}

func TestTheTextOfASelectorOfNothingSelectsNothing(t *testing.T) {
	nothing, err := (*meta.LabelSelector)(nil).Selector()
	if err != nil {
		t.Fatal(err)
	}
	s, err := meta.ParseSelector(nothing.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, labels := range []map[string]string{nil, {"a": "b"}, {"bowline.dev/nothing": ""}} {
		if s.Matches(labels) || nothing.Matches(labels) {
			t.Errorf("%q matches %v", s, labels)
		}
	}
}

func TestLabelSelector(t *testing.T) {
	tests := []struct {
		name string
		l    *meta.LabelSelector
		want string
		err  string
	}{
		{"null selects nothing", nil, "bowline.dev/nothing,!bowline.dev/nothing", ""},
		{"an empty one selects everything", &meta.LabelSelector{}, "", ""},
		{
			"labels and expressions hold together",
			&meta.LabelSelector{
				MatchLabels: map[string]string{"b": "1", "a": "2"},
				MatchExpressions: []meta.Requirement{
					{Key: "c", Operator: meta.OpIn, Values: []string{"y", "x"}},
					{Key: "d", Operator: meta.OpDoesNotExist},
				},
			},
			"a=2,b=1,c in (x,y),!d", "",
		},
		{
			"an inequality is not part of it",
			&meta.LabelSelector{MatchExpressions: []meta.Requirement{label("a", meta.OpGreaterThan, "1")}},
			"", `must be In, NotIn, Exists or DoesNotExist in matchExpressions, got "Gt"`,
		},
		{"a bad label is named", &meta.LabelSelector{MatchLabels: map[string]string{"a b": "c"}}, "", `"a b"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := tt.l.Selector()
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("Selector() = %v, want an error with %q", err, tt.err)
				}
				return
			}
			if err != nil || s.String() != tt.want {
				t.Errorf("Selector() = %q, %v; want %q", s, err, tt.want)
			}
		})
	}
}

// offset returns the position that an error of a parser names, -1 if it names none.
func offset(err error) int {
	at := regexp.MustCompile(`": at byte ([0-9]+): `).FindAllStringSubmatch(err.Error(), -1)
	if at == nil {
		return -1
	}
	n, _ := strconv.Atoi(at[0][1])
	return n
}

func FuzzParseSelector(f *testing.F) {
	for _, seed := range []string{
		"", "a", "!a", "a=b,c==d,e!=f", "a in (b,c),d notin ()", "a>1,b<2", " x in (foo,,baz),y,z notin () ",
		"a=\x00", "(", "in in (in)",
		"example.com/a.b_c-d in (x, y ,)", "a!=,b=",
	} {
		f.Add(seed, "a", "b")
	}
	f.Fuzz(func(t *testing.T, text, key, value string) {
		s, err := meta.ParseSelector(text)
		if err != nil {
			if at := offset(err); at < 0 || at > len(text) || len(err.Error()) > 2000 {
				t.Fatalf("ParseSelector(%q): error %v", text, err)
			}
			return
		}
		again, err := meta.ParseSelector(s.String())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%q prints %q, which parses to %q, %v", text, s, again, err)
		}
		labels := map[string]string{key: value}
		if again.Matches(labels) != s.Matches(labels) {
			t.Fatalf("%q and %q disagree about %v", s, again, labels)
		}
		all := true
		for _, r := range s.Requirements() {
			one, err := meta.NewSelector(r)
			if err != nil {
				t.Fatalf("%q has a requirement %v that is refused: %v", s, r, err)
			}
			all = all && one.Matches(labels)
		}
		if s.Matches(labels) != all {
			t.Fatalf("%q matches %v = %v, its requirements one by one %v", s, labels, s.Matches(labels), all)
		}
	})
}

func BenchmarkSelectorMatches(b *testing.B) {
	s, err := meta.ParseSelector("app=web,tier in (front,back),!legacy")
	if err != nil {
		b.Fatal(err)
	}
	labels := map[string]string{"app": "web", "tier": "front", "pod-template-hash": "5d4f8c7b9"}
	b.ReportAllocs()
	for b.Loop() {
		if !s.Matches(labels) {
			b.Fatal("no match")
		}
	}
}
