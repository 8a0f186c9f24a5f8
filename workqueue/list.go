// A list of entries.

package workqueue

// list is a first-in, first-out list, linked through the entries. An entry is in at most one.
type list[K comparable] struct {
	first, last ref
	len         int
}

func (l *list[K]) push(s *store[K], e *entry[K]) {
	e.prev, e.next = l.last, 0
	if l.last == 0 {
		l.first = e.ref
	} else {
		s.at(l.last).next = e.ref
	}
	l.last = e.ref
	l.len++
}

func (l *list[K]) remove(s *store[K], e *entry[K]) {
	if e.prev == 0 {
		l.first = e.next
	} else {
		s.at(e.prev).next = e.next
	}
	if e.next == 0 {
		l.last = e.prev
	} else {
		s.at(e.next).prev = e.prev
	}
	e.prev, e.next = 0, 0
	l.len--
}
