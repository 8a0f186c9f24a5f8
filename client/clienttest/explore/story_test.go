package explore

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestQuietStretchesOfALongStoryAreLeftOut(t *testing.T) {
	o := &outcome{result: &result{}, wrong: []string{"configmaps default/7 differs (- should be, + is):\n  - data.text: \"a\""}}
	for i := range 5000 {
		l := line{at: time.Duration(i) * time.Second, text: fmt.Sprint("request ", i), ordinary: true}
		switch i {
		case 2000:
			l = line{at: l.at, text: "replica A dies"}
		case 3000:
			l.object = "configmaps default/7"
		}
		o.story.add(l)
	}
	tale := o.tale()
	for _, want := range []string{
		"       ... 1998 lines left out\n1999  1998.000s  request 1998\n", "2001  2000.000s  replica A dies\n", "request 2002\n",
		"       ... 997 lines left out\n3001  3000.000s  request 3000\n       ... ", "5000  4999.000s  request 4999\n",
	} {
		if !strings.Contains(tale, want) {
			t.Errorf("the story lacks %q:\n%s", want, tale)
		}
	}
	if n := strings.Count(tale, "\n"); n > 20 {
		t.Errorf("the story has %d lines", n)
	}
}

func TestAProgramThatStartsAgainForEverMakesAShortStory(t *testing.T) {
	o := &outcome{result: &result{}}
	for i := range longest + 1000 {
		o.story.add(line{at: time.Duration(i) * time.Second, text: "replica A starts", ordinary: i%2 == 0})
	}
	tale := o.tale()
	if n := strings.Count(tale, "\n"); n > 40 {
		t.Errorf("the story has %d lines", n)
	}
	if o.story.further != 500 {
		t.Errorf("%d requests were not kept, want 500", o.story.further)
	}
}

func TestOneOrTwoLinesAreToldAndNotLeftOut(t *testing.T) {
	o := &outcome{result: &result{}}
	for i := range 8 {
		o.story.add(line{text: fmt.Sprint("request ", i), ordinary: i != 0})
	}
	for i := range ending {
		o.story.add(line{text: fmt.Sprint("end ", i), ordinary: true})
	}
	if tale := o.tale(); !strings.Contains(tale, "request 2\n       ... 5 lines left out\n   9 ") {
		t.Errorf("want five lines left out:\n%s", tale)
	}
	o.story.lines = append(o.story.lines[:3:3], o.story.lines[6:]...) // two in between
	if tale := o.tale(); strings.Contains(tale, "left out") {
		t.Errorf("want all lines:\n%s", tale)
	}
}

func TestADifferenceHasALineForEachField(t *testing.T) {
	want := state{"pods a": map[string]any{"spec": map[string]any{"list": []any{"x", "y"}, "same": true, "gone": map[string]any{"deep": 1.0}}}}
	got := state{"pods a": map[string]any{"spec": map[string]any{"list": []any{"x", "z"}, "same": true, "empty": map[string]any{}}}, "pods b": map[string]any{"n": 2.0}}
	texts := differences(want, got)
	if len(texts) != 2 {
		t.Fatalf("got %q", texts)
	}
	first := "pods a differs (- should be, + is):\n  + spec.empty: {}\n  - spec.gone.deep: 1\n  - spec.list[1]: \"y\"\n  + spec.list[1]: \"z\""
	if texts[0] != first {
		t.Errorf("got %q, want %q", texts[0], first)
	}
	if text := described(texts[1], want, got); text != "pods b is there, and should not be:\n  + n: 2\n" {
		t.Errorf("got %q", text)
	}
	if len(differences(want, want)) > 0 {
		t.Error("a state differs from itself")
	}
}
