package recorder

import "fmt"

// Cause says why records are dropped.
type Cause string

const (
	// Invalid: the record has no reason, or names no object. It is a mistake of the program.
	Invalid Cause = "Invalid"
	// Spam: the object has had as many new records as Options.Burst and Options.Refill allow.
	Spam Cause = "Spam"
	// QueueFull: as many new records as Options.QueueLength wait for the server.
	QueueFull Cause = "QueueFull"
	// Refused: the server does not take the record, and would not later. Its namespace is gone or ends, or the program may not
	// create records there.
	Refused Cause = "Refused"
	// TooOld: the record could not be sent within Options.MaxAge.
	TooOld Cause = "TooOld"
	// Stopped: Run has ended before the record was sent, or before it was made.
	Stopped Cause = "Stopped"
)

// causes are the causes in a fixed order.
func causes() []Cause { return []Cause{Invalid, Spam, QueueFull, Refused, TooOld, Stopped} }

// why says what a cause means.
func (c Cause) why() string {
	switch c {
	case Spam:
		return "too many about one object"
	case QueueFull:
		return "too many waiting for the server"
	case Refused:
		return "refused by the server"
	case TooOld:
		return "not sent in time"
	case Stopped:
		return "the recorder has stopped"
	}
	return "invalid"
}

// DropError says that records have been dropped.
type DropError struct{ DropInfo }

// Error implements error.
func (e *DropError) Error() string {
	text := fmt.Sprintf("dropped %s (%s); the latest is about %v", plural(e.Count), e.Cause.why(), e.Record.Regarding)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the server's error, or what is wrong with the record.
func (e *DropError) Unwrap() error { return e.Err }

// CutError says that records were longer than the server takes, and have been cut.
type CutError struct {
	// Count is how many records have been cut since the last CutError.
	Count int
	// Record is the latest of them, after the cut.
	Record Record
	// Err says what was too long in it.
	Err error
}

// Error implements error.
func (e *CutError) Error() string {
	return fmt.Sprintf("cut %s; the latest is about %v: %v", plural(e.Count), e.Record.Regarding, e.Err)
}

// Unwrap returns what was too long.
func (e *CutError) Unwrap() error { return e.Err }

func plural(n int) string {
	if n == 1 {
		return "1 record"
	}
	return fmt.Sprintf("%d records", n)
}
