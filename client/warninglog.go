package client

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/internal/conn"
)

// A server's warnings, and credentials that are not renewed, are logged unless a hook takes them. A program that makes
// ten thousand objects of a deprecated version gets as many warnings. So similar warnings share one line, which is
// repeated at growing intervals.

const (
	// maxWarningLines is how many warnings a client logs in a minute; one more line says that others are left out.
	maxWarningLines = 10
	// A warning that comes again is logged again after firstWarningPause, and then after pauses that are three times as
	// long, up to lastWarningPause.
	firstWarningPause = time.Minute
	lastWarningPause  = 24 * time.Hour
)

// warningClass has the parts that similar warnings share.
type warningClass struct{ verb, resource, text string }

// warningState is what a client remembers of the warnings of a class.
type warningState struct {
	said  time.Time     // when the last line was logged
	pause time.Duration // the pause after that line
	more  int           // how many warnings came after that line
}

// warningLog decides which warnings are logged. Its mutex guards all fields. The zero warningLog is ready for use.
type warningLog struct {
	mu      sync.Mutex
	classes map[warningClass]*warningState // has at most maxWarnings entries
	minute  time.Time                      // when the present minute began
	lines   int                            // the lines in the present minute
	left    int                            // warnings that got no line since the last line, because there were too many
}

// warningLine has the facts that a line adds to the warning. The zero warningLine means that there is no line.
type warningLine struct {
	said bool          // the warning gets a line
	last bool          // the first warning without a line in this minute; the log says that there will be no more
	more int           // how many similar warnings came since their last line
	in   time.Duration // the time since that line
	left int           // how many other warnings were left out
}

// add notes a warning, and says what to log.
func (l *warningLog) add(class warningClass) (line warningLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	state := l.classes[class]
	if state != nil && now.Sub(state.said) < state.pause {
		state.more++
		return line
	}
	if now.Sub(l.minute) >= time.Minute {
		l.minute, l.lines = now, 0
	}
	if l.lines++; l.lines > maxWarningLines {
		l.left++
		return warningLine{last: l.lines == maxWarningLines+1}
	}
	line.said, line.left, l.left = true, l.left, 0
	if state == nil {
		if len(l.classes) >= maxWarnings || l.classes == nil {
			l.classes = make(map[warningClass]*warningState)
		}
		l.classes[class] = &warningState{said: now, pause: firstWarningPause}
		return line
	}
	if state.more > 0 {
		line.more, line.in = state.more, now.Sub(state.said)
	}
	state.said, state.pause, state.more = now, min(3*state.pause, lastWarningPause), 0
	return line
}

// logWarning logs a warning of the answer to r, unless it has logged a similar one recently, or too many in this
// minute.
func (c *Client) logWarning(ctx context.Context, r outgoing, said conn.Warning) {
	info := r.info()
	where := info.Resource.String()
	if raw, ok := r.(rawRequest); ok {
		where = raw.Path
	}
	details := []any{"warning", said.Text, "verb", info.Verb, "resource", where}
	if info.Subresource != "" {
		details = append(details, "subresource", info.Subresource)
	}
	if info.Key.Name != "" || info.Key.Namespace != "" {
		details = append(details, "object", info.Key.String())
	}
	class := warningClass{info.Verb, where + "/" + info.Subresource, folded(said.Text, info.Key.Namespace, info.Key.Name)}
	c.logOne(ctx, class, "the server warns", details)
}

// logOne logs a warning of a class, unless it has logged one of that class recently, or too many in this minute.
func (c *Client) logOne(ctx context.Context, class warningClass, message string, details []any) {
	line := c.logged.add(class)
	switch {
	case line.last:
		c.warningLogger(ctx)("more warnings are not logged in this minute", "server", c.server.Redacted())
	case line.said:
		if line.more > 0 {
			details = append(details, "repeated", line.more, "in", line.in.Round(time.Second))
		}
		if line.left > 0 {
			details = append(details, "leftOut", line.left)
		}
		c.warningLogger(ctx)(message, details...)
	}
}

// logStale logs that a credential or an authority could not be renewed, or has expired by this machine's clock, unless
// it has logged a similar error.
func (c *Client) logStale(ctx context.Context, err error) {
	details := []any{"error", err.Error(), "server", c.server.Redacted()}
	c.logOne(ctx, warningClass{text: folded(err.Error())}, "a credential or a CA certificate is out of date and stays in use", details)
}

// warningLogger returns where warnings go: Config.Logger, or else the logger of ctx, or else slog.Default.
func (c *Client) warningLogger(ctx context.Context) func(message string, details ...any) {
	if !c.log.IsZero() {
		return c.log.Info
	}
	if logger, err := logr.FromContext(ctx); err == nil {
		return logger.Info // even a logger that discards: the program has put it into the context
	}
	return slog.Default().Warn
}

// folded returns the text of a warning without the given names, without numbers, and without the words that have a
// digit and a hyphen in them, which are the names of other objects, such as the pods of a Deployment. It cuts a
// longer result to 500 bytes.
func folded(text string, names ...string) string {
	const most = 500
	var b strings.Builder
	for len(text) > 0 && b.Len() < most {
		end := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) })
		switch {
		case end < 0:
			end = len(text)
		case end == 0:
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		word := text[:end]
		text = text[end:]
		bare := strings.TrimSuffix(strings.TrimRight(word, "."), "Z") // a time ends in Z
		if isNumbered(bare) || bare != "" && slices.Contains(names, bare) {
			word = "#"
		}
		b.WriteString(word)
	}
	return b.String()
}

// isWord reports whether r is a part of a name.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '.' }

// isNumbered reports whether a word is a number, or a name with one.
func isNumbered(word string) bool {
	return strings.ContainsFunc(word, unicode.IsDigit) && (strings.Contains(word, "-") || !strings.ContainsFunc(word, unicode.IsLetter))
}
