// A list of entries.

package workqueue

// list is a first-in, first-out list, linked through the entries. An entry is in at most one.
type list[K comparable] struct {
	first, last *entry[K]
	len         int
}

func (l *list[K]) push(e *entry[K]) {
	e.prev = l.last
	if l.last == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last = e
	l.len++
}

func (l *list[K]) remove(e *entry[K]) {
	if e.prev == nil {
		l.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		l.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next = nil, nil
	l.len--
}

// replace puts e into the place of old. It has old's neighbours already.
func (l *list[K]) replace(old, e *entry[K]) {
	if e.prev == nil {
		l.first = e
	} else {
		e.prev.next = e
	}
	if e.next == nil {
		l.last = e
	} else {
		e.next.prev = e
	}
}
