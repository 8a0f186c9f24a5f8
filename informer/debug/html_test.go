package debug_test

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The elements and attributes that the page has. Anything else has come in through a text.
var (
	elements = strings.Fields(`html head meta title link script body a header nav button span main section h1 h2 h3 p ul li b strong small
		div table caption thead tr th tbody td time dl dt dd form input fieldset legend label pre code`)
	attributes = strings.Fields(`lang charset name content rel href src defer class id tabindex aria-label aria-labelledby aria-current
		aria-pressed aria-live data-live data-label data-last data-most type hidden title datetime scope role method value autocomplete
		spellcheck placeholder checked`)
	empty = strings.Fields("meta link input")
	tag   = regexp.MustCompile(`^<(/?)([a-z0-9]+)((?: [a-z-]+(?:="[^"<>]*")?)*)>`)
	pair  = regexp.MustCompile(` ([a-z-]+)(?:="([^"]*)")?`)
)

// checkHTML fails the test unless a page has only known elements and attributes, properly nested, with each id once, and only links
// to itself.
func checkHTML(t testing.TB, page string) {
	t.Helper()
	rest, ok := strings.CutPrefix(page, "<!doctype html>")
	if !ok {
		t.Fatalf("the page does not begin as HTML: %.200s", page)
	}
	var open []string
	ids := make(map[string]bool)
	for {
		at := strings.IndexAny(rest, "<>")
		if at < 0 {
			break
		}
		found := tag.FindStringSubmatch(rest[at:])
		if found == nil {
			t.Fatalf("this is no element: %.200s", rest[at:])
		}
		rest = rest[at+len(found[0]):]
		end, name := found[1] != "", found[2]
		switch {
		case !slices.Contains(elements, name):
			t.Fatalf("the page has no elements %s: %.200s", name, found[0])
		case end && (len(open) == 0 || open[len(open)-1] != name):
			t.Fatalf("</%s> does not close what is open: %v", name, open)
		case end:
			open = open[:len(open)-1]
		case !slices.Contains(empty, name):
			open = append(open, name)
		}
		for _, a := range pair.FindAllStringSubmatch(found[3], -1) {
			value := html.UnescapeString(a[2])
			switch {
			case !slices.Contains(attributes, a[1]):
				t.Fatalf("the page has no attribute %s: %s", a[1], found[0])
			case (a[1] == "href" || a[1] == "src") && !strings.HasPrefix(value, "?") && value != "#main" && value != "data:,":
				t.Fatalf("the page has no links elsewhere: %s", found[0])
			case a[1] == "id" && ids[value]:
				t.Fatalf("two elements have the id %s", value)
			case a[1] == "id":
				ids[value] = true
			case (a[1] == "aria-labelledby") && !strings.Contains(page, `id="`+value+`"`):
				t.Fatalf("nothing has the id %s, which %s names", value, found[0])
			}
		}
	}
	if len(open) > 0 {
		t.Fatalf("elements are not closed: %v", open)
	}
}
