// Package report says to people, through a logger, the errors that no hook takes.
//
// An error is said when it first comes. While it repeats it is said again at growing intervals, from [first] to [last],
// with how often it has come and since when; and once what failed works again, that is said too. So a server that is
// away for a night is some lines and not thousands, and neither a thousand objects with the same fault nor a failure
// that comes and goes makes many.
//
// Errors are told apart by topic, and within a topic by their text, where numbers, quoted text and the name of the
// object do not count: see classOf. Only a few topics have classes of their own; further ones share theirs, so that the
// errors of a thousand namespaces make few lines too. A recovery is said of each topic that a line has named.
package report

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

const (
	// first is how long an error that has been said is not said again; each further time takes three times as long, up
	// to last.
	first = 5 * time.Second
	last  = 15 * time.Minute
	// maxTopics and maxClasses bound what a Log remembers: topics with classes of their own, and classes of errors of
	// each. It also remembers each further topic while that fails; there are no more than its user has.
	maxTopics  = 8
	maxClasses = 16
)

// Topic is what an error is about.
type Topic struct {
	// Key tells topics apart.
	Key string
	// Fails says that there is an error, as in "pods in web: list fails".
	Fails string
	// Works says that there is none any more, as in "pods in web: list works again". It may be empty.
	Works string
}

// Next returns the interval after d, or the first one.
func Next(d time.Duration) time.Duration {
	if d == 0 {
		return first
	}
	return min(3*d, last)
}

// Log says errors. Its methods are safe for use by several goroutines at once. They call the logger with no lock held,
// so a logger may call back whatever it likes.
type Log struct {
	given logr.Logger

	mu      sync.Mutex // guards the rest
	found   *logr.Logger
	running bool
	topics  map[string]*topic
	others  map[string]*topic // which fail and have come when topics was full; their classes are shared
	shared  map[string]*class
	timer   *time.Timer // fires at next, when something is due that has not been said; nil if nothing is
	next    time.Time
	firing  sync.WaitGroup // of calls of the timer
}

// topic is the state of one Topic.
type topic struct {
	failing bool
	since   time.Time         // when it began to fail
	count   int               // of failures since
	said    string            // Topic.Works of what has been said since; empty if nothing has
	classes map[string]*class // its own, or those that it shares
}

// class is the state of errors that are alike.
type class struct {
	interval time.Duration // after the last line
	due      time.Time     // not said again before
	said     time.Time     // when the last line was
	count    int           // of errors since that line
	line     line          // of the latest of them
}

// line is what there is to say.
type line struct {
	message string
	err     error
	details []any
	works   string // Topic.Works
	of      *topic
}

// New returns a Log that uses the logger that is given. Where that is the zero Logger it uses the one of the context of
// Start, and where that has none, slog.Default as it is when something is said.
func New(given logr.Logger) *Log { return &Log{given: given} }

// Start is the beginning of a Run. Only between Start and Stop are repetitions said by themselves.
func (l *Log) Start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = true
	if logger, err := logr.FromContext(ctx); err == nil {
		l.found = &logger // also one that discards: somebody has put it there
	}
}

// Stop is the end of a Run. Nothing that began in it goes on when Stop has returned, and all is forgotten.
func (l *Log) Stop() {
	l.mu.Lock()
	l.running, l.found, l.topics, l.others, l.shared = false, nil, nil, nil, nil
	if l.timer != nil && l.timer.Stop() {
		l.firing.Done()
	}
	l.timer = nil
	l.mu.Unlock()
	l.firing.Wait()
}

// Logger returns where lines go at present.
func (l *Log) Logger() logr.Logger {
	if !l.given.IsZero() {
		return l.given
	}
	l.mu.Lock()
	found := l.found
	l.mu.Unlock()
	if found != nil {
		return *found
	}
	return logr.FromSlogHandler(slog.Default().Handler())
}

// Failed says err, now or later, or counts it. Names that stand in its text and differ from error to error may be
// hidden from the comparison. The details are keys and values.
func (l *Log) Failed(t Topic, err error, hide []string, details ...any) {
	l.mu.Lock()
	now := time.Now() // under mu: after next, if the timer has fired
	at := l.topic(t.Key, now)
	if !at.failing {
		at.failing, at.since, at.count, at.said = true, now, 0, ""
	}
	at.count++
	c := at.class(classOf(t.Fails+"\n"+err.Error(), hide), now)
	c.count++
	c.line = line{t.Fails, err, details, t.Works, at}
	if now.Before(c.due) {
		l.arm(now, c.due)
		l.mu.Unlock()
		return
	}
	said := c.say(now)
	l.mu.Unlock()
	said.to(l.Logger())
}

// Works says that what a topic is about works again, if it has been said that it does not.
func (l *Log) Works(key string) { l.end(key, true) }

// GivenUp ends the failure of a topic without a line: nothing tries any more, and nothing works.
func (l *Log) GivenUp(key string) { l.end(key, false) }

func (l *Log) end(key string, works bool) {
	now := time.Now()
	l.mu.Lock()
	at := l.find(key)
	if at == nil || !at.failing {
		l.mu.Unlock()
		return
	}
	at.failing = false
	delete(l.others, key)
	for _, c := range at.classes {
		if c.line.of == at {
			c.count, c.line = 0, line{} // the line that follows counts them
		}
	}
	message := ""
	if works && at.said != "" {
		message = fmt.Sprintf("%s after %v, %s", at.said, roughly(now.Sub(at.since)), plural(at.count, "attempt"))
	}
	l.mu.Unlock()
	if message != "" {
		l.Logger().Info(message)
	}
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// roughly returns a duration without digits that nobody reads.
func roughly(d time.Duration) time.Duration {
	if d >= time.Second {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}

// say notes that the latest error of a class is said now, and returns how.
func (c *class) say(now time.Time) line {
	said, quiet := c.line, now.Sub(c.due) > c.interval // for long; also before the first line
	if c.count > 1 || !quiet {
		said.message = fmt.Sprintf("%s, %s in %v", said.message, plural(c.count, "time"), roughly(now.Sub(c.said)))
		said.details = append(slices.Clip(said.details), "since", said.of.since)
	}
	if quiet {
		c.interval = 0
	}
	c.interval = Next(c.interval)
	c.said, c.due = now, now.Add(c.interval)
	c.count, c.line = 0, line{}
	said.of.said = said.works
	return said
}

// to writes the line.
func (l line) to(logger logr.Logger) { logger.Error(l.err, l.message, l.details...) }

// find returns the topic of a key, or nil.
func (l *Log) find(key string) *topic {
	if t := l.topics[key]; t != nil {
		return t
	}
	return l.others[key]
}

// topic finds or makes a topic, in the place of those that have worked for long if there is no other. The caller holds
// mu.
func (l *Log) topic(key string, now time.Time) *topic {
	if t := l.find(key); t != nil {
		return t
	}
	if l.topics == nil {
		l.topics, l.others, l.shared = make(map[string]*topic), make(map[string]*topic), make(map[string]*class)
	}
	if len(l.topics) >= maxTopics {
		maps.DeleteFunc(l.topics, func(_ string, t *topic) bool { return !t.failing && t.isQuiet(now) })
	}
	t := &topic{classes: l.shared}
	if len(l.topics) >= maxTopics {
		l.others[key] = t
		return t
	}
	t.classes = make(map[string]*class)
	l.topics[key] = t
	return t
}

// isQuiet reports whether none of the errors of t has come for long.
func (t *topic) isQuiet(now time.Time) bool {
	for _, c := range t.classes {
		if !c.isQuiet(now) {
			return false
		}
	}
	return true
}

// isQuiet reports whether the error has not come for long, so that nothing is lost by forgetting it.
func (c *class) isQuiet(now time.Time) bool { return c.count == 0 && now.Sub(c.due) > c.interval }

// class finds or makes a class of errors, in the place of one that has been quiet for long if there is no other.
func (t *topic) class(name string, now time.Time) *class {
	if c := t.classes[name]; c != nil {
		return c
	}
	if len(t.classes) >= maxClasses {
		maps.DeleteFunc(t.classes, func(_ string, c *class) bool { return c.isQuiet(now) })
	}
	if len(t.classes) >= maxClasses {
		name = ""
		if c := t.classes[name]; c != nil {
			return c
		}
	}
	c := &class{}
	t.classes[name] = c
	return c
}

// arm makes the timer fire at a time, unless it does earlier. The caller holds mu.
func (l *Log) arm(now, at time.Time) {
	if !l.running || l.timer != nil && !at.Before(l.next) {
		return
	}
	if l.timer != nil && l.timer.Stop() {
		l.firing.Done()
	}
	l.next = at
	l.firing.Add(1)
	l.timer = time.AfterFunc(at.Sub(now), func() {
		defer l.firing.Done()
		l.fire()
	})
}

// fire says what is due.
func (l *Log) fire() {
	now := time.Now()
	var due []line
	l.mu.Lock()
	if l.timer = nil; !l.running {
		l.mu.Unlock()
		return
	}
	look := func(classes map[string]*class) {
		for _, c := range classes {
			switch {
			case c.count == 0:
			case now.Before(c.due):
				l.arm(now, c.due)
			default:
				due = append(due, c.say(now))
			}
		}
	}
	for _, t := range l.topics {
		look(t.classes)
	}
	look(l.shared)
	l.mu.Unlock()
	logger := l.Logger()
	for _, d := range due {
		d.to(logger)
	}
}

// classOf reduces the text of an error to what is the same in errors that are alike: words with a digit and quoted text
// are left out, and so is what is hidden.
func classOf(text string, hide []string) string {
	const most = 200
	for _, h := range hide {
		if h != "" {
			text = strings.ReplaceAll(text, h, "#")
		}
	}
	var b strings.Builder
	for len(text) > 0 && b.Len() < most {
		if text[0] == '"' {
			if end := strings.IndexByte(text[1:], '"'); end >= 0 {
				b.WriteByte('#')
				text = text[end+2:]
				continue
			}
		}
		if isSpace(text[0]) || text[0] == '"' {
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		end := 0
		digits := false
		for end < len(text) && !isSpace(text[end]) && text[end] != '"' {
			digits = digits || '0' <= text[end] && text[end] <= '9'
			end++
		}
		if digits {
			b.WriteByte('#')
		} else {
			b.WriteString(text[:min(end, most-b.Len())])
		}
		text = text[end:]
	}
	return b.String()
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }
