// Package report logs the errors that no hook takes.
//
// An error is logged when it first occurs. While it repeats, it is logged again at growing intervals, from [first] to
// [last], with the number of its occurrences and the time since the first of them. The recovery is logged too. So a
// server that is unreachable for a night causes a few lines and not thousands. A thousand objects with the same fault,
// or a failure that comes and goes, cause few lines too.
//
// Errors are distinguished by topic, and within a topic by their text without numbers, quoted text and the name of the
// object; see classOf. Only a few topics have classes of their own. Further topics share one set of classes, so that
// the errors of a thousand namespaces cause few lines too. The recovery is logged for each topic that a line has
// named.
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
	// first is the interval before a logged error is logged again. Each further interval is three times as long, up to
	// last.
	first = 5 * time.Second
	last  = 15 * time.Minute
	// maxTopics and maxClasses bound the memory of a Log: the topics with classes of their own, and the classes of
	// each. A Log also remembers each further topic while that fails; the user of the Log determines their number.
	maxTopics  = 8
	maxClasses = 16
)

// Topic is what an error is about.
type Topic struct {
	// Key distinguishes topics.
	Key string
	// Fails is the message while the topic fails, as in "pods in web: list fails".
	Fails string
	// Works is the message when the topic works again, as in "pods in web: list works again". It may be empty.
	Works string
}

// Next returns the interval after d, or the first one.
func Next(d time.Duration) time.Duration {
	if d == 0 {
		return first
	}
	return min(3*d, last)
}

// Log logs errors. Its methods are safe for use by several goroutines at once. They call the logger with no lock held,
// so a logger may call the Log.
type Log struct {
	given logr.Logger

	mu      sync.Mutex // guards the fields below
	found   *logr.Logger
	running bool
	topics  map[string]*topic
	others  map[string]*topic // failing topics that began when topics was full; their classes are shared
	shared  map[string]*class
	timer   *time.Timer // fires at next, when a line is due; nil if none is
	next    time.Time
	firing  sync.WaitGroup // counts the calls of the timer's function
}

// topic is the state of one Topic.
type topic struct {
	failing bool
	since   time.Time         // when it began to fail
	count   int               // of failures since
	said    string            // Topic.Works, if a line since then has named the topic; otherwise empty
	classes map[string]*class // its own, or the shared ones
}

// class is the state of errors that are alike.
type class struct {
	interval time.Duration // after the last line
	due      time.Time     // not logged again before
	said     time.Time     // when the last line was logged
	count    int           // of errors since that line
	line     line          // of the latest of them
}

// line is a line to log.
type line struct {
	message string
	err     error
	details []any
	works   string // Topic.Works
	of      *topic
}

// New returns a Log that uses the given logger. If that is the zero Logger, the Log uses the logger of the context of
// Start. If the context has none, it uses slog.Default, as it is at the time of each line.
func New(given logr.Logger) *Log { return &Log{given: given} }

// Start is called at the beginning of a Run. Only between Start and Stop does a timer log repetitions.
func (l *Log) Start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = true
	if logger, err := logr.FromContext(ctx); err == nil {
		l.found = &logger // also one that discards: the program has put it there
	}
}

// Stop is called at the end of a Run. When it returns, no goroutine of the Log runs, and the Log has forgotten all
// errors.
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

// Logger returns the logger that is in use at present.
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

// Failed logs err, now or later, or only counts it. hide are names in its text that differ from error to error, which
// the comparison ignores. details are keys and values.
func (l *Log) Failed(t Topic, err error, hide []string, details ...any) {
	l.mu.Lock()
	now := time.Now() // read under mu, so that it is after next if the timer has fired
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

// Works logs that a topic works again, if its failure has been logged.
func (l *Log) Works(key string) { l.end(key, true) }

// GivenUp ends the failure of a topic without a line: nothing tries again, so the topic does not work either.
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

// roughly rounds a duration for people.
func roughly(d time.Duration) time.Duration {
	if d >= time.Second {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}

// say notes that the latest error of a class is logged now, and returns the line.
func (c *class) say(now time.Time) line {
	said, quiet := c.line, now.Sub(c.due) > c.interval // quiet for a long time; also true before the first line
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

// topic finds or makes a topic. If there is no room, it first forgets the topics that have worked for a long time. The
// caller holds mu.
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

// isQuiet reports whether no error of t has occurred for a long time.
func (t *topic) isQuiet(now time.Time) bool {
	for _, c := range t.classes {
		if !c.isQuiet(now) {
			return false
		}
	}
	return true
}

// isQuiet reports whether the error has not occurred for a long time, so that nothing is lost by forgetting it.
func (c *class) isQuiet(now time.Time) bool { return c.count == 0 && now.Sub(c.due) > c.interval }

// class finds or makes a class of errors. If there is no room, it first forgets the classes that have been quiet for a
// long time.
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

// arm makes the timer fire at a time, unless it fires earlier. The caller holds mu.
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

// fire logs the lines that are due.
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

// classOf reduces the text of an error to the part that similar errors share. It leaves out words with a digit, quoted
// text, and the names in hide.
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
