package codec

import (
	"reflect"
	"time"

	"github.com/bowline-go/bowline/internal/protobuf"
)

// moments remembers the results of UnmarshalJSON of types that hold a time.Time and nothing else, such as metav1.Time
// and meta.Time. Most times within one object are the same few, and such a method costs more than everything around
// it: the method of metav1.Time makes a third of all allocations of a pod. For other types the method is called each
// time.
//
// The method is also called each time if its result is not the RFC 3339 value of the text, in UTC or the local time
// zone: "5m" may be five minutes from now, and a zone that the type chooses may change. So a remembered result depends
// only on the text, and its only pointer is that of the zone, so no two objects share anything that can change. Only a
// method with side effects can notice that it was not called.
type moments [1 << momentBits]moment

const momentBits = 6

// moment is the time that one type made of a text. It counts only while local is the local time zone.
type moment struct {
	plan  *plan
	local *time.Location
	text  [longestMoment]byte
	size  uint8
	time  time.Time
	typ   protobuf.Type // of a message
}

// longestMoment is the length of a quoted time with nanoseconds and an offset, and a little more.
const longestMoment = 40

// isMoment reports whether a t holds a time.Time and nothing else.
func isMoment(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Type == reflect.TypeFor[time.Time]()
}

// moment decodes the value from i to next into a type that isMoment. text is the value without duplicate members.
func (d *decoder) moment(p *plan, to place, text []byte, i, next int) int {
	if len(text) > longestMoment || text[0] != '"' || !as[time.Time](to).IsZero() {
		return d.method(p, to, text, i, next)
	}
	m := &d.moments[hash(text)>>(64-momentBits)]
	if m.plan == p && m.local == time.Local && string(m.text[:m.size]) == string(text) {
		*as[time.Time](to) = m.time
		return next
	}
	if after := d.method(p, to, text, i, next); after < 0 {
		return after
	}
	if made := *as[time.Time](to); isPlain(made, text[1:len(text)-1]) {
		m.plan, m.local, m.size, m.time = p, time.Local, uint8(copy(m.text[:], text)), made
	}
	return next
}

// isPlain reports whether t is the RFC 3339 value of a text, in UTC or the local time zone.
func isPlain(t time.Time, text []byte) bool {
	var want time.Time
	zone := t.Location()
	return (zone == time.UTC || zone == time.Local) && want.UnmarshalText(text) == nil && t.Equal(want)
}
