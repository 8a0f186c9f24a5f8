package recorder

import "fmt"

// Cause says why records are dropped.
type Cause string

const (
	// Invalid: the record has no reason, or no valid object. It is a mistake in the program.
	Invalid Cause = "Invalid"
	// Spam: the object already has as many new records as Options.Burst allows.
	Spam Cause = "Spam"
	// QueueFull: 1000 new records wait for the server.
	QueueFull Cause = "QueueFull"
	// Refused: the server refuses the record, and a retry would not help. For example, its namespace is gone or
	// terminating, or the program may not create records there.
	Refused Cause = "Refused"
	// TooOld: the record could not be sent within an hour.
	TooOld Cause = "TooOld"
	// Stopped: Run ended before the record was sent, or the record was made after Run had ended.
	Stopped Cause = "Stopped"
)

// causes are the causes in a fixed order.
func causes() []Cause { return []Cause{Invalid, Spam, QueueFull, Refused, TooOld, Stopped} }

// why describes a cause in the text of an error.
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

// DropError says that records have been dropped. A repetition of a record counts as a record.
type DropError struct {
	// Controller is Options.Controller.
	Controller string
	// Cause is the reason.
	Cause Cause
	// Count is how many records have been dropped since the last DropError of this cause.
	Count int
	// Record is the latest dropped record.
	Record Record
	// Err is the server's error, or the error of an invalid record. It is nil if there is no further reason.
	Err error
}

// Error implements error.
func (e *DropError) Error() string {
	text := fmt.Sprintf("dropped %s (%s); the latest is about %v", plural(e.Count), e.Cause.why(), e.Record.Regarding)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *DropError) Unwrap() error { return e.Err }

// cutError says that records were longer than the server allows, and have been cut.
type cutError struct {
	count int // number of records since the last cutError
	about Reference
	err   error // what was too long in the latest record
}

func (e *cutError) Error() string {
	return fmt.Sprintf("cut %s; the latest is about %v: %v", plural(e.count), e.about, e.err)
}

func plural(n int) string {
	if n == 1 {
		return "1 record"
	}
	return fmt.Sprintf("%d records", n)
}
