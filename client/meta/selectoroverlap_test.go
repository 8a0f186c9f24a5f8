package meta_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

func TestSelectorsThatCanAndCannotMatch(t *testing.T) {
	excluded := make([]string, 0, 63)
	for zeros := range 63 {
		excluded = append(excluded, strings.Repeat("0", zeros)+"7")
	}
	allSevens := strings.Join(excluded, ",")
	for text, want := range map[string]bool{
		"": true, "a": true, "!a": true, "a,!a": false, "a=1,a=2": false, "a=1,b=2": true, "a in (1,2),a in (2,3)": true,
		"a in (1,2),a notin (1,2)": false, "a in (1,2),a!=1": true, "a!=1,!a": true, "a=,a": true, "a=,!a": false, "a=1,!a": false,
		"a>5,a<7": true, "a>5,a<6": false, "a<0": false, "a<1": true, "a>9223372036854775807": false, "a>9223372036854775806": true,
		"a>5,a=5": false, "a>5,a=x": false, "a>5,a in (x,06)": true, "a>5,!a": false, "a>5,a<7,a!=6": true, // 06
		"a>6,a<8,a notin (" + allSevens + ")":                                       false,
		"a>6,a<8,a notin (" + strings.TrimSuffix(allSevens, ","+excluded[62]) + ")": true,
		"a>6,a<9,a notin (" + allSevens + ")":                                       true,
		"a notin (1,2,3)":                                                           true, "a,a notin (1)": true, "b=1,a,!a": false, "a=1,b=1,c!=2,c=2": false,
	} {
		s, err := meta.ParseSelector(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.CanMatch(); got != want {
			t.Errorf("CanMatch(%.60s) = %v", text, got)
		}
		if got := s.Overlaps(s); got != want {
			t.Errorf("%.60s overlaps itself: %v", text, got)
		}
		if got := s.Overlaps(meta.Selector{}); got != want {
			t.Errorf("%.60s overlaps everything: %v", text, got)
		}
	}
	none, err := (*meta.LabelSelector)(nil).Selector()
	if err != nil || none.CanMatch() || none.Overlaps(meta.Selector{}) {
		t.Errorf("the selector of nothing can match: %v", err)
	}
}

// The answers are those of a search through all labels of a small world, which has a witness if there is one at all.
func TestOverlapsIsExact(t *testing.T) {
	values := []string{"", "x", "y", "z", "w"}
	for n := range 7 {
		for zeros := range 4 {
			values = append(values, strings.Repeat("0", zeros)+fmt.Sprint(n))
		}
	}
	found, refuted := 0, 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 1))
		a, b := randomSelector(t, r, values[:20]), randomSelector(t, r, values[:20])
		want, matches := false, false
		each := func(labels map[string]string) {
			matches = matches || a.Matches(labels)
			want = want || a.Matches(labels) && b.Matches(labels)
		}
		worlds(values, each)
		if got := a.Overlaps(b); got != want || b.Overlaps(a) != want {
			t.Fatalf("seed %d: %v and %v overlap: %v, want %v", seed, a, b, got, want)
		}
		if got := a.CanMatch(); got != matches {
			t.Fatalf("seed %d: %v can match: %v, want %v", seed, a, got, matches)
		}
		if want {
			found++
		} else {
			refuted++
		}
	}
	if found < 500 || refuted < 500 {
		t.Errorf("%d pairs overlap, and %d do not", found, refuted)
	}
}

// worlds calls each with all labels of two keys.
func worlds(values []string, each func(map[string]string)) {
	for i := -1; i < len(values); i++ {
		for j := -1; j < len(values); j++ {
			labels := map[string]string{}
			if i >= 0 {
				labels["a"] = values[i]
			}
			if j >= 0 {
				labels["b"] = values[j]
			}
			each(labels)
		}
	}
}

func randomSelector(t *testing.T, r *rand.Rand, values []string) meta.Selector {
	t.Helper()
	var l meta.LabelSelector
	if r.IntN(4) == 0 {
		l.MatchLabels = map[string]string{[]string{"a", "b"}[r.IntN(2)]: values[r.IntN(len(values))]}
	}
	var texts []string
	for range r.IntN(3) {
		key := []string{"a", "a", "b"}[r.IntN(3)]
		some := make([]string, 1+r.IntN(3))
		for i := range some {
			some[i] = values[r.IntN(len(values))]
		}
		switch op := []meta.Operator{meta.OpIn, meta.OpNotIn, meta.OpExists, meta.OpDoesNotExist, meta.OpGreaterThan, meta.OpLessThan}[r.IntN(6)]; op {
		case meta.OpIn, meta.OpNotIn:
			l.MatchExpressions = append(l.MatchExpressions, meta.Requirement{Key: key, Operator: op, Values: some})
		case meta.OpGreaterThan, meta.OpLessThan:
			texts = append(texts, fmt.Sprint(key, map[meta.Operator]string{meta.OpGreaterThan: ">", meta.OpLessThan: "<"}[op], r.IntN(5)))
		default:
			l.MatchExpressions = append(l.MatchExpressions, meta.Requirement{Key: key, Operator: op})
		}
	}
	s, err := l.Selector()
	if err != nil {
		t.Fatal(err)
	}
	if s.String() != "" {
		texts = append(texts, s.String())
	}
	if s, err = meta.ParseSelector(strings.Join(texts, ",")); err != nil {
		t.Fatal(err)
	}
	return s
}

// If an object matches both, the selectors overlap.
func FuzzOverlaps(f *testing.F) {
	f.Add("a>5,b", "a<7,b!=x", "06", "y")
	f.Add("a in (1,2)", "!b", "1", "")
	f.Fuzz(func(t *testing.T, x, y, a, b string) {
		s, err := meta.ParseSelector(x)
		if err != nil {
			return
		}
		o, err := meta.ParseSelector(y)
		if err != nil || meta.ValidLabelValue(a) != nil || meta.ValidLabelValue(b) != nil {
			return
		}
		labels := map[string]string{"a": a, "b": b}
		if s.Matches(labels) && o.Matches(labels) && !(s.Overlaps(o) && o.Overlaps(s) && s.CanMatch()) {
			t.Fatalf("%v and %v match %v, and do not overlap", s, o, labels)
		}
		if s.Overlaps(o) != o.Overlaps(s) || s.Overlaps(o) && !(s.CanMatch() && o.CanMatch()) {
			t.Fatalf("%v and %v", s, o)
		}
	})
}
