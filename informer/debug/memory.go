package debug

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	"github.com/bowline-go/bowline/informer"
)

// The memory of a cache, estimated from a sample of its objects.

const (
	sampled    = 200              // objects of a sample
	sampleAge  = 10 * time.Second // how long an estimate is shown
	sampleWork = 200_000          // values that one sample looks at, at most
	// rowSize is how many bytes a store needs for each object besides the object itself: for its entry, its place in
	// the table, and its place in one index.
	rowSize = 128
)

// meters keeps the latest estimate of each cache.
type meters struct {
	mu    sync.Mutex // guards known; not held while a cache is read
	known map[string]estimate
}

type estimate struct {
	at    time.Time
	bytes int64
}

// of returns about how many bytes the cache of an informer takes; 0 if it is empty.
func (m *meters) of(id string, r informer.RunInfo, objects int, now time.Time) int64 {
	m.mu.Lock()
	e, ok := m.known[id]
	m.mu.Unlock()
	if ok && now.Sub(e.at) < sampleAge {
		return e.bytes
	}
	e = estimate{now, weigh(r, objects)}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = make(map[string]estimate)
	}
	m.known[id] = e
	return e.bytes
}

func (m *meters) forget(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, id)
}

// weigh looks at every n-th object, so that the sample has old and new objects.
func weigh(r informer.RunInfo, objects int) int64 {
	step := max(1, objects/sampled)
	s := scale{seen: make(map[unsafe.Pointer]bool), left: sampleWork}
	n, weighed := 0, 0
	for id, obj := range r.Objects() {
		if n%step == 0 && s.left > 0 {
			weighed++
			s.bytes += rowSize + s.text(id.Namespace) + s.text(id.Name) + s.text(id.UID) + s.text(id.ResourceVersion)
			s.bytes += s.below(reflect.ValueOf(obj))
		}
		n++
	}
	if weighed == 0 {
		return 0
	}
	return int64(float64(s.bytes) / float64(weighed) * float64(n))
}

// scale adds up the memory of values. It counts shared memory once, because objects share texts.
type scale struct {
	bytes int64
	seen  map[unsafe.Pointer]bool
	left  int
}

// once reports whether p has not been counted yet.
func (s *scale) once(p unsafe.Pointer) bool {
	if p == nil || s.seen[p] {
		return false
	}
	s.seen[p] = true
	return true
}

func (s *scale) text(t string) int64 {
	if len(t) == 0 || !s.once(unsafe.Pointer(unsafe.StringData(t))) {
		return 0
	}
	return rounded(int64(len(t)))
}

// below returns the memory that v refers to, without the memory of v itself.
func (s *scale) below(v reflect.Value) (n int64) {
	if s.left--; s.left < 0 {
		return 0
	}
	switch v.Kind() {
	case reflect.String:
		return s.text(v.String())
	case reflect.Pointer:
		if v.IsNil() || !s.once(v.UnsafePointer()) {
			return 0
		}
		return rounded(int64(v.Type().Elem().Size())) + s.below(v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			return 0
		}
		e := v.Elem()
		if k := e.Kind(); k != reflect.Pointer && k != reflect.Map {
			n = rounded(int64(e.Type().Size())) // boxed
		}
		return n + s.below(e)
	case reflect.Slice:
		if v.IsNil() || !s.once(v.UnsafePointer()) {
			return 0
		}
		n = rounded(int64(v.Cap()) * int64(v.Type().Elem().Size()))
		if isFlat(v.Type().Elem()) {
			return n
		}
		for i := range v.Len() {
			n += s.below(v.Index(i))
		}
		return n
	case reflect.Array:
		if isFlat(v.Type().Elem()) {
			return 0
		}
		for i := range v.Len() {
			n += s.below(v.Index(i))
		}
		return n
	case reflect.Map:
		if v.IsNil() || !s.once(v.UnsafePointer()) {
			return 0
		}
		// A map has groups of eight slots, each group with a word of control bytes. At most seven eighths of the slots
		// are used.
		slot := int64(v.Type().Key().Size() + v.Type().Elem().Size())
		n = 48 + (int64(v.Len())/7+1)*(8+8*slot)
		for i := v.MapRange(); i.Next(); {
			n += s.below(i.Key()) + s.below(i.Value())
		}
		return n
	case reflect.Struct:
		for i := range v.NumField() {
			n += s.below(v.Field(i))
		}
		return n
	}
	return 0
}

// isFlat reports whether values of a type refer to nothing.
func isFlat(t reflect.Type) bool {
	switch k := t.Kind(); {
	case k >= reflect.Bool && k <= reflect.Complex128:
		return true
	case k == reflect.Array:
		return isFlat(t.Elem())
	}
	return false
}

// rounded returns roughly the size that the allocator uses for n bytes.
func rounded(n int64) int64 {
	step := int64(8)
	switch {
	case n > 1024:
		step = n / 8
	case n > 128:
		step = 16
	}
	return (n + step - 1) / step * step
}
