package report

import "time"

// Pace decides when a failure of work that is repeated at a slow, steady pace is worth a line. A [Log] alone takes
// errors that are more than twice [first] apart for separate ones, and logs each. The zero Pace is ready for use. It is
// not safe for use by several goroutines at once.
type Pace struct {
	text  string
	at    time.Time
	pause time.Duration
}

// Due reports whether to log err now: if it is not the error of the last call, and otherwise at growing intervals. Call
// it with every outcome: nil ends the failure.
func (p *Pace) Due(err error) bool {
	if err == nil {
		*p = Pace{}
		return false
	}
	now := time.Now()
	switch {
	case p.at.IsZero() || p.text != err.Error():
		*p = Pace{text: err.Error(), at: now, pause: Next(0)}
		return true
	case now.Sub(p.at) < p.pause:
		return false
	}
	p.at, p.pause = now, Next(p.pause)
	return true
}
