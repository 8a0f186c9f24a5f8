package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// lines is a logger that keeps its lines, each with the time since it was made.
type lines struct {
	mu    sync.Mutex
	start time.Time
	all   []string
}

func newLines() *lines { return &lines{start: time.Now()} }

func (l *lines) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, time.Since(l.start).String()+" "+args)
	}, funcr.Options{})
}

// said returns the lines so far.
func (l *lines) said() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

func (l *lines) want(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	ok := len(l.all) == len(want)
	for i := range min(len(l.all), len(want)) {
		ok = ok && strings.HasPrefix(l.all[i], want[i][:strings.IndexByte(want[i]+" ", ' ')]+" ") &&
			strings.Contains(l.all[i], want[i][strings.IndexByte(want[i], ' ')+1:])
	}
	if !ok {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(l.all, "\n\t"), strings.Join(want, "\n\t"))
	}
}

var list = Topic{Key: "list", Fails: "pods in web: list fails", Works: "pods in web: list works again"}

func TestAnErrorIsLoggedAtOnceAndThenAtGrowingIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newLines()
		l := New(got.logger())
		l.Start(t.Context())
		defer l.Stop()
		for n := range 180 {
			l.Failed(list, fmt.Errorf("dial tcp 10.0.0.1:%d: refused", 40000+n), nil, "attempt", n)
			time.Sleep(1100 * time.Millisecond)
		}
		l.Works("list")
		l.Works("list")
		got.want(t,
			`0s "msg"="pods in web: list fails" "error"="dial tcp 10.0.0.1:40000: refused" "attempt"=0`,
			`5s "msg"="pods in web: list fails, 4 times in 5s" "error"="dial tcp 10.0.0.1:40004: refused" "attempt"=4 "since"="2000-01-01`,
			`20s "msg"="pods in web: list fails, 14 times in 15s"`,
			`1m5s "msg"="pods in web: list fails, 41 times in 45s"`,
			`3m18s "level"=0 "msg"="pods in web: list works again after 3m18s, 180 attempts"`)
	})
}

func TestAnotherErrorIsLoggedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newLines()
		l := New(got.logger())
		l.Start(t.Context())
		defer l.Stop()
		l.Failed(list, errors.New("refused"), nil)
		time.Sleep(time.Second)
		l.Failed(list, errors.New("forbidden"), nil)
		l.Failed(Topic{Key: "other", Fails: "other fails"}, errors.New("refused"), nil)
		got.want(t, "0s refused", "1s forbidden", "1s other fails")
	})
}

// What comes and goes is said at growing intervals too, and its recovery only where it has been said.
func TestAFailureThatComesAndGoesMakesFewLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newLines()
		l := New(got.logger())
		l.Start(t.Context())
		defer l.Stop()
		for range 3600 {
			l.Failed(list, errors.New("reset"), nil)
			l.Works("list")
			time.Sleep(time.Second)
		}
		if n := len(got.said()); n < 6 || n > 30 {
			t.Errorf("%d lines in an hour:\n%s", n, strings.Join(got.said(), "\n"))
		}
		time.Sleep(time.Hour)
		before := len(got.said())
		l.Failed(list, errors.New("reset"), nil)
		if len(got.said()) != before+1 || strings.Contains(got.said()[before], "times") {
			t.Errorf("after an hour of health: %q", got.said()[before:])
		}
		time.Sleep(time.Second)
		l.Failed(list, errors.New("reset"), nil)
		time.Sleep(5 * time.Second)
		if len(got.said()) != before+2 || !strings.Contains(got.said()[before+1], "1 time in 5s") {
			t.Errorf("the intervals do not begin anew: %q", got.said()[before:])
		}
	})
}

// A thousand objects with the same fault are two lines, of which the second says how many there are.
func TestManyObjectsWithOneFaultMakeFewLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newLines()
		l := New(got.logger())
		l.Start(t.Context())
		defer l.Stop()
		decode := Topic{Key: "decode", Fails: "pods: object does not decode"}
		for n := range 1000 {
			name := strings.Repeat("x", n%7+1) + "y"
			l.Failed(decode, fmt.Errorf("decode %s (%q): wrong type", name, name), []string{name})
		}
		time.Sleep(time.Hour)
		got.want(t, "0s does not decode", "5s does not decode, 999 times in 5s")
	})
}

func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newLines()
		l := New(got.logger())
		l.Start(t.Context())
		word := func(n int) string { return strings.Repeat("x", n+1) }
		for a := range 50 {
			for b := range 50 {
				l.Failed(Topic{Key: word(a), Fails: word(a)}, errors.New(word(b)), nil)
			}
		}
		if len(l.topics) > maxTopics || len(l.shared) > maxClasses+1 {
			t.Errorf("%d topics and %d shared classes are remembered", len(l.topics), len(l.shared))
		}
		for a := range 50 {
			l.GivenUp(word(a))
		}
		if len(l.others) > 0 {
			t.Errorf("%d topics that do not fail are remembered", len(l.others))
		}
		for _, at := range l.topics {
			if len(at.classes) > maxClasses+1 {
				t.Errorf("%d classes are remembered", len(at.classes))
			}
		}
		if n, most := len(got.said()), (maxTopics+1)*(maxClasses+1); n > most {
			t.Errorf("%d lines, want at most %d", n, most)
		}
		time.Sleep(time.Hour)
		for b := range maxClasses { // there is room again for what is new
			l.Failed(Topic{Key: word(0), Fails: "new"}, errors.New(word(b)), nil)
		}
		if at := l.topics[word(0)]; at.classes["new\nx"] == nil {
			t.Errorf("old classes have not made room: %v", at.classes)
		}
		l.Stop()
		if l.topics != nil || l.others != nil || l.shared != nil {
			t.Error("a Log that was stopped remembers something")
		}
	})
}

func TestALoggerMayCallBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l *Log
		depth, told := 0, 0
		l = New(funcr.New(func(_, _ string) {
			if told++; depth < 3 {
				depth++
				l.Failed(Topic{Key: fmt.Sprint(depth), Fails: "within"}, errors.New("x"), nil)
				l.Works("list")
				l.Logger()
			}
		}, funcr.Options{}))
		l.Start(t.Context())
		l.Failed(list, errors.New("x"), nil)
		l.Failed(list, errors.New("x"), nil)
		time.Sleep(time.Minute)
		l.Stop()
		if told != 6 { // one of list, three within, that it works again, and that it fails again
			t.Errorf("%d lines", told)
		}
	})
}

func TestErrorsGoToTheGivenLoggerOrThatOfTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var none logr.Logger
		given, carried := newLines(), newLines()
		ctx := logr.NewContext(t.Context(), carried.logger())
		var standard bytes.Buffer
		before := slog.Default()
		defer slog.SetDefault(before)

		say := func(logger logr.Logger, ctx context.Context) {
			l := New(logger)
			l.Start(ctx)
			// The default is looked up when there is something to say.
			slog.SetDefault(slog.New(slog.NewTextHandler(&standard, nil)))
			l.Failed(list, errors.New("refused"), nil)
			l.Stop()
			slog.SetDefault(before)
		}
		say(given.logger(), ctx)
		given.want(t, "0s refused")
		carried.want(t)
		say(none, ctx)
		carried.want(t, "0s refused")
		if standard.Len() > 0 {
			t.Errorf("slog has %q", &standard)
		}
		say(none, logr.NewContext(t.Context(), logr.Discard()))
		if standard.Len() > 0 {
			t.Errorf("slog has %q, although the context's logger discards", &standard)
		}
		say(logr.Discard(), t.Context()) // which is the zero Logger
		if text := standard.String(); !strings.Contains(text, `level=ERROR msg="pods in web: list fails" err=refused`) {
			t.Errorf("slog has %q", text)
		}
		given.want(t, "0s refused")
	})
}

// Nothing of a Log goes on after Stop, and a line that is being said is waited for.
func TestStopWaitsForTheLineThatIsBeingLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := 0
		l := New(funcr.New(func(_, args string) {
			if strings.Contains(args, "times") {
				time.Sleep(time.Minute)
			}
			said++
		}, funcr.Options{}))
		l.Start(t.Context())
		l.Failed(list, errors.New("x"), nil)
		l.Failed(list, errors.New("x"), nil)
		time.Sleep(10 * time.Second)
		l.Stop()
		if said != 2 {
			t.Errorf("%d lines", said)
		}
		l.Start(t.Context())
		l.Failed(list, errors.New("x"), nil)
		l.Failed(list, errors.New("x"), nil)
		l.Stop()
		time.Sleep(time.Hour)
		if said != 3 {
			t.Errorf("%d lines, of which one was said after Stop", said)
		}
	})
}

// A class that is due soon is not held up by one that is due late.
func TestEachClassIsLoggedWhenItIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newLines()
		l := New(got.logger())
		l.Start(t.Context())
		defer l.Stop()
		old := Topic{Key: "old", Fails: "old"}
		for range 100 {
			l.Failed(old, errors.New("x"), nil)
			time.Sleep(time.Second)
		}
		l.Failed(list, errors.New("y"), nil)
		l.Failed(list, errors.New("y"), nil)
		time.Sleep(6 * time.Second)
		if n := len(got.said()); !strings.HasPrefix(got.said()[n-1], "1m45s ") || !strings.Contains(got.said()[n-1], "1 time in") {
			t.Errorf("the last line is %q", got.said()[n-1])
		}
		time.Sleep(5 * time.Minute) // and the late one is not forgotten
		if n := len(got.said()); !strings.Contains(got.said()[n-1], `"msg"="old, `) {
			t.Errorf("the last line is %q", got.said()[n-1])
		}
	})
}

func TestAlikeErrorsHaveOneClass(t *testing.T) {
	for _, test := range []struct {
		one, other string
		hide       []string
		alike      bool
	}{
		{"read 10.0.0.1:34->1.2.3.4:443: reset", "read 10.0.0.1:35->1.2.3.4:443: reset", nil, true},
		{`pod "a" is bad`, `pod "bcd" is bad`, nil, true},
		{`pod "a" is bad`, `pod "a" is good`, nil, false},
		{"pod web/a is bad", "pod # is bad", []string{"web/a"}, true},
		{`no end "abc`, `no end "abc`, nil, true},
		{"Forbidden (403)", "NotFound (404)", nil, false},
		{"", "", nil, true},
	} {
		a, b := classOf(test.one, test.hide), classOf(test.other, nil)
		if (a == b) != test.alike {
			t.Errorf("%q is %q, %q is %q; want them alike: %v", test.one, a, test.other, b, test.alike)
		}
	}
	for _, long := range []string{strings.Repeat("word ", 10000), strings.Repeat("word", 10000), strings.Repeat(`""`, 10000)} {
		if n := len(classOf(long, nil)); n > 200 {
			t.Errorf("the class of %s... has a name of %d bytes", long[:10], n)
		}
	}
}

func TestIntervals(t *testing.T) {
	var got []time.Duration
	for d := Next(0); len(got) < 7; d = Next(d) {
		got = append(got, d)
	}
	want := []time.Duration{5, 15, 45, 135, 405, 900, 900}
	for i := range want {
		want[i] *= time.Second
	}
	if !slices.Equal(got, want) {
		t.Errorf("intervals are %v, want %v", got, want)
	}
}

// Topics that had failed once kept their places for ever, so that further ones shared one, whose recovery is never said.
func TestATopicThatWorksForLongGivesUpItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newLines()
		l := New(got.logger())
		l.Start(t.Context())
		defer l.Stop()
		for n := range 3 * maxTopics {
			key := fmt.Sprint("list ", n)
			l.Failed(Topic{Key: key, Fails: key + " fails", Works: key + " works again"}, errors.New("refused"), nil)
			time.Sleep(time.Second)
			l.Works(key)
			time.Sleep(time.Hour)
		}
		if n := len(got.said()); n != 2*3*maxTopics || !strings.Contains(got.said()[n-1], fmt.Sprintf("list %d works again", 3*maxTopics-1)) {
			t.Errorf("%d lines, want a failure and a recovery of each of %d:\n%s", n, 3*maxTopics, strings.Join(got.said(), "\n"))
		}
	})
}

// Topics beyond the bound were one to a Log: the recovery of none of them was said, and where the last one that a line named
// worked again, the failure of all others was over too.
func TestTheRecoveryOfEachLoggedTopicIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newLines()
		l := New(got.logger())
		l.Start(t.Context())
		defer l.Stop()
		about := func(n int) Topic {
			key := fmt.Sprint("list ", n)
			return Topic{Key: key, Fails: key + " fails", Works: key + " works again"}
		}
		const last = 2 * maxTopics
		for n := range last + 1 {
			l.Failed(about(n), errors.New("refused"), nil)
		}
		time.Sleep(6 * time.Second)
		got.want(t, "0s list 0 fails", "0s list 1 fails", "0s list 2 fails", "0s list 3 fails", "0s list 4 fails", "0s list 5 fails",
			"0s list 6 fails", "0s list 7 fails", "0s list 8 fails", "5s list 16 fails, 8 times in 5s")
		l.Failed(about(last), errors.New("refused"), nil)
		l.Failed(about(9), errors.New("refused"), nil)
		before := len(got.said())
		for n := range last {
			l.Works(about(n).Key)
		}
		want := []string{}
		for n := range maxTopics + 1 { // of number 9 and the following no line has said that they fail
			want = append(want, fmt.Sprintf("6s list %d works again after 6s, 1 attempt", n))
		}
		got.all = got.all[before:]
		got.want(t, want...)
		l.Failed(about(last), errors.New("refused"), nil)
		time.Sleep(time.Hour)
		l.Works(about(last).Key)
		got.want(t, append(want, "20s list 16 fails, 1 time in 15s", "1h0m6s list 16 works again after 1h0m6s, 3 attempts")...)
	})
}
