package jsonpath_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsonpath"
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

func parse(t *testing.T, text string) any {
	t.Helper()
	v, err := jsontree.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The answers are those of k8s.io/client-go/util/jsonpath v0.37.2.
func TestFind(t *testing.T) {
	tree := parse(t, `{"a":{"b":"x","d.e":1,"n":null},"s":"hi","l":[1,2,3,4],"f":2.5,"e":[],"q":[[1],[2,3]],
		"c":[{"t":"Ready","n":2,"ok":true},{"t":"Old","n":1,"ok":false},{"t":"New","n":3.5}]}`)
	for _, test := range []struct{ path, want string }{
		{`.a.b`, `"x"`},
		{`$.a.b`, `"x"`},
		{`.a['b']`, `"x"`},
		{`.a.d.e`, ``},
		{`.a.d\.e`, `1`},
		{`.a['d\.e']`, `1`},
		{`.a['d.e']`, ``},
		{`.a.n`, `null`},
		{`.a.n.x`, ``},
		{`.a.x`, ``},
		{`.s.x`, ``},
		{`.`, ``},
		{`.l`, `[1,2,3,4]`},
		{`.l[0]`, `1`},
		{`.l[-1]`, `4`},
		{`.l[4]`, `error: array index out of bounds: index 4, length 4`},
		{`.l[-5]`, `error: array index out of bounds: index -1, length 4`},
		{`.l[1:3]`, `2 3`},
		{`.l[:2]`, `1 2`},
		{`.l[-2:]`, `3 4`},
		{`.l[::2]`, `1 3`},
		{`.l[::0]`, `error: step must be > 0`},
		{`.l[3:1]`, `error: starting index 3 is greater than ending index 1`},
		{`.l[1:1]`, ``},
		{`.l[0,2]`, `1 3`},
		{`.l[0, 5]`, `error: array index out of bounds: index 5, length 4`},
		{`.l[*]`, `1 2 3 4`},
		{`.e[*]`, ``},
		{`.e[0]`, `error: array index out of bounds: index 0, length 0`},
		{`.s[0]`, `error: string is not array or slice`},
		{`.a.n[0]`, ``},
		{`.a['b','n']`, `"x" null`},
		{`.a.*`, `"x" 1 null`},
		{`.s.*`, `104 105`},
		{`.q[*][0]`, `1 2`},
		{`.q[*][*]`, `1 2 3`},
		{`.q[:][0:0]`, ``},
		{`.q..`, `[[1],[2,3]] [1] [2,3]`},
		{`..t`, `"Ready" "Old" "New"`},
		{`.a..`, `{"b":"x","d.e":1,"n":null} "x"`},
		{`.c[?(@.t=="Ready")].n`, `2`},
		{`.c[?(@.t=='Old')].n`, `1`},
		{`.c[?(@.n>1)].t`, `error: incompatible types for comparison`},
		{`.c[?(@.n==3.5)].t`, `error: incompatible types for comparison`},
		{`.c[?(@.ok)].t`, `"Ready" "Old"`},
		{`.c[?(@.ok==true)].t`, `"Ready"`},
		{`.c[?(@.ok>true)].t`, `error: invalid type for comparison`},
		{`.c[?(@.ok!=@.ok)].t`, ``},
		{`.c[?(@.t<"Ready")].t`, `"Old" "New"`},
		{`.c[?(@.t>="Old")].t`, `"Ready" "Old"`},
		{`.c[?(@.t<="New")].t`, `"New"`},
		{`.c[?(@.t="New")].t`, `error: unrecognized filter operator =`},
		{`.c[?(@.t==@)].t`, `error: invalid type for comparison`},
		{`.c[?(@.*=="Ready")].t`, `error: can only compare one element at a time`},
		{`.c[?(@.t!="Ready)]")].t`, `"Ready" "Old" "New"`},
		{`.l[?(@>2)]`, `3 4`},
		{`.l[?(@!=2)]`, `1 3 4`},
		{`.l[?(x)]`, `1 2 3 4`},
		{`.l[?(end)]`, ``},
		{`.l[?(@[0])]`, `1 2 3 4`},
		{`.c[?(@.it's[?(@.x)].y')]`, ``},
		{`.q[?(@[1])]`, `[1] [2,3]`},
		{`.l[?(@==2.0)]`, `error: incompatible types for comparison`},
		{`.l[?("a"=="a")]`, `1 2 3 4`},
		{`.a[?(@.b)]`, `error: map[b:x d.e:1 n:<nil>] is not array or slice and cannot be filtered`},
		{`.s "tail"`, `"tail"`},
		{`.l 5`, `5`},
		{`.l[0] true`, `true`},
		{`.l[*] 1.5`, `1.5 1.5 1.5 1.5`},
		{`"a\u0062\""`, `"ab\""`},
		{`'it\'s'`, `"it's"`},
		{`.s}{.l[9]}`, `error: array index out of bounds: index 9, length 4`},
		{`.s} and {.a.b`, `"hi"`},
		{`.a end`, `error: not in range, nothing to end`},
		{`.a foo`, `error: unrecognized identifier foo`},
		{`.a...b`, `"x"`},
		{`....`, `error: invalid multiple recursive descent`},
		{`.l[x]`, `error: invalid array index x`},
		{`.l[1:2:3:4]`, `error: invalid array index 1:2:3:4`},
		{`.l[-]`, `error: array index - is not a number`},
		{`.l[99999999999999999999]`, `error: array index 99999999999999999999 is not a number`},
		{`.l[0`, `error: unterminated array`},
		{`.c[?(@.t`, `error: unterminated filter`},
		{`.c[?(@.t)`, `error: unclosed array expect ]`},
		{`"abc`, `error: unterminated quoted string`},
		{`"\q"`, `error: unquote string "\q" error invalid syntax`},
		{`.a.b{`, `error: unrecognized character in action: U+007B '{'`},
		{`.a,`, `error: unrecognized character in action: U+002C ','`},
		{`1.2.3`, `error: cannot parse number 1.2.3`},
	} {
		var got []string
		p, err := jsonpath.Parse(test.path)
		if err == nil {
			var values []any
			values, err = p.Find(tree)
			for _, v := range values {
				got = append(got, string(jsontree.Append(nil, jsontree.Of(v))))
			}
		}
		if err != nil {
			got = []string{"error: " + err.Error()}
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: got %s, want %s", test.path, got, test.want)
		}
	}
}

func TestASearchEndsWhenItFindsTooMuch(t *testing.T) {
	deep := parse(t, strings.Repeat(`{"a":`, 100)+"1"+strings.Repeat("}", 100))
	for _, test := range []struct {
		path string
		tree any
	}{
		{strings.Repeat("..a", 50), deep},
		{strings.Repeat("[:,:]", 50), parse(t, strings.Repeat("[", 100)+strings.Repeat("]", 100))},
		{"[?(@" + strings.Repeat("..a", 50) + ")]", []any{deep}},
	} {
		p, err := jsonpath.Parse(test.path)
		if err != nil {
			t.Fatal(err)
		}
		if values, err := p.Find(test.tree); err == nil || err.Error() != "the path finds too many values" {
			t.Errorf("%s: %d values, %v", test.path, len(values), err)
		}
	}
}

// No path and no tree lead to a panic or to endless work; a search has one result and leaves the tree as it was.
func FuzzFind(f *testing.F) {
	for _, path := range []string{
		".a['b'][0,-1][::2]", "..a..", `..[?(@.a=="x")].b`, "[?(@.a)]", `.a "x\n" 1 2.5 true end}{$.*`, "[?(@.it's[?(@.x)].y')]",
		strings.Repeat("..a", 20), strings.Repeat("[*,*]", 20), strings.Repeat("[?(", 20),
	} {
		f.Add(path, `{"a":{"a":{"a":{}}},"it's":[{"x":1}]}`)
		f.Add(path, `[[[[1,2]]],{"a":"x","b":1.5},null]`)
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		tree, err := jsontree.Parse([]byte(text))
		if err != nil {
			return
		}
		p, err := jsonpath.Parse(path)
		if err != nil {
			return
		}
		before := jsontree.Clone(tree)
		values, err := p.Find(tree)
		again, errAgain := p.Find(tree)
		if !slices.EqualFunc(values, again, jsontree.Equal) || (err == nil) != (errAgain == nil) {
			t.Errorf("%s in %s: %v, %v, then %v, %v", path, text, values, err, again, errAgain)
		}
		if !jsontree.Equal(tree, before) {
			t.Errorf("%s changes %s to %v", path, text, tree)
		}
	})
}
