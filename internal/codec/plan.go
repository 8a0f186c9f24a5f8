package codec

import (
	"encoding"
	stdjson "encoding/json"
	"reflect"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// plan says how to decode into one Go type. Once it can be found it never changes, apart from the hint.
type plan struct {
	shape shape
	null  null
	typ   reflect.Type
	size  uintptr
	elem  *plan         // of a pointer, slice or map
	slice reflect.Type  // of the scratch: a slice of the elements of a slice or map
	empty reflect.Value // a slice without elements
	id    int           // of the scratch
	text  hint          // of a document of this type
	*structPlan
}

// shape is a way to decode.
type shape uint8

const (
	shapeOther shape = iota // for the library
	shapeBool
	shapeString
	shapeInt
	shapeUint
	shapeFloat32
	shapeFloat64
	shapePointer
	shapeStruct
	shapeSlice
	shapeStrings // []string
	shapeBytes   // []byte and slices of other bytes
	shapeMap
	shapeStringMap // map[string]string
	shapeAny
	shapeAnyMap // map[string]any
	shapeRaw    // json.RawMessage
	shapeJSON   // it has UnmarshalJSON
	shapeMoment // it has too, and holds only a time.Time
	shapeText   // it has UnmarshalText, and no UnmarshalJSON
	shapeTime   // time.Time, for whose UnmarshalJSON the library has its own
)

// null is what null does.
type null uint8

const (
	nullIsDecoded null = iota // what any other value does: it is for a method, kept as text, or for the library
	nullKeeps                 // nothing
	nullEmpties               // it makes the value zero
)

func (s shape) null() null {
	switch s {
	case shapeBool, shapeString, shapeInt, shapeUint, shapeFloat32, shapeFloat64, shapeStruct, shapeText, shapeTime:
		return nullKeeps
	case shapePointer, shapeSlice, shapeStrings, shapeBytes, shapeMap, shapeStringMap, shapeAny, shapeAnyMap:
		return nullEmpties
	}
	return nullIsDecoded
}

// plans keeps the plan of every type that has been decoded into. It is process-wide because it holds nothing that could be
// set, is bounded by the types of the program, and would otherwise be built again for every client.
var plans = planCache{}

type planCache struct {
	done sync.Map // reflect.Type -> *plan; complete ones only

	mu      sync.Mutex // held while plans are made; protects what follows
	scratch int        // how many plans have one
	guesses int        // how many all structs have
}

// of returns the plan of t.
func (c *planCache) of(t reflect.Type) *plan {
	if p, ok := c.done.Load(t); ok {
		return p.(*plan)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	made := &compiler{cache: c, plans: map[reflect.Type]*plan{}}
	p := made.plan(t)
	for t, p := range made.plans {
		c.done.LoadOrStore(t, p)
	}
	return p
}

// compiler makes plans. Those that it has begun are here, so that a type can refer to itself.
type compiler struct {
	cache *planCache
	plans map[reflect.Type]*plan
}

func (c *compiler) plan(t reflect.Type) *plan {
	if p, ok := c.cache.done.Load(t); ok {
		return p.(*plan)
	}
	if p, ok := c.plans[t]; ok {
		return p
	}
	p := &plan{typ: t, size: t.Size()}
	c.plans[t] = p
	c.fill(p)
	p.null = p.shape.null()
	return p
}

// fill chooses the shape. What it does not know stays shapeOther: of such a value the library decides, with its document.
func (c *compiler) fill(p *plan) {
	t := p.typ
	switch t {
	case reflect.TypeFor[stdjson.RawMessage]():
		p.shape = shapeRaw
		return
	case reflect.TypeFor[stdjson.Number]():
		return // unmarshalNumber knows what it is
	case reflect.TypeFor[time.Time]():
		p.shape = shapeTime
		return
	case reflect.TypeFor[any]():
		p.shape = shapeAny
		return
	}
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface { // the library looks at what they point to
		switch {
		case implements[json.UnmarshalerFrom](t):
			return
		case implements[stdjson.Unmarshaler](t):
			p.shape = shapeJSON
			if isMoment(t) {
				p.shape = shapeMoment
			}
			return
		case implements[encoding.TextUnmarshaler](t):
			p.shape = shapeText
			return
		}
	}
	switch t.Kind() {
	case reflect.Bool:
		p.shape = shapeBool
	case reflect.String:
		p.shape = shapeString
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.shape = shapeInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		p.shape = shapeUint
	case reflect.Float32:
		p.shape = shapeFloat32
	case reflect.Float64:
		p.shape = shapeFloat64
	case reflect.Pointer:
		p.elem = c.plan(t.Elem())
		p.shape = shapePointer
	case reflect.Slice:
		c.fillSlice(p)
	case reflect.Map:
		c.fillMap(p)
	case reflect.Struct:
		if p.structPlan = c.structPlan(t); p.structPlan != nil {
			p.shape = shapeStruct
		}
	}
}

func (c *compiler) fillSlice(p *plan) {
	switch e := p.typ.Elem(); {
	case e.Kind() == reflect.Uint8:
		p.shape = shapeBytes
	case e == reflect.TypeFor[string]():
		p.shape = shapeStrings
	default:
		p.shape = shapeSlice
		c.withElements(p)
		p.empty = reflect.MakeSlice(p.slice, 0, 0)
	}
}

// fillMap takes only maps whose keys are what the names are.
func (c *compiler) fillMap(p *plan) {
	key, e := p.typ.Key(), p.typ.Elem()
	if key.Kind() != reflect.String || key == reflect.TypeFor[stdjson.Number]() || hasMethods(key) {
		return
	}
	plain := key == reflect.TypeFor[string]()
	switch {
	case plain && e == reflect.TypeFor[string]():
		p.shape = shapeStringMap
	case plain && e == reflect.TypeFor[any]():
		p.shape = shapeAnyMap
	default:
		p.shape = shapeMap
		c.withElements(p)
	}
}

// withElements prepares a plan for elements that go through a scratch.
func (c *compiler) withElements(p *plan) {
	p.slice = reflect.SliceOf(p.typ.Elem())
	p.id = c.cache.scratch
	c.cache.scratch++
	p.elem = c.plan(p.typ.Elem())
}

// implements reports whether a t in memory has the methods of I.
func implements[I any](t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[I]())
}

// hasMethods reports whether a t has any method that concerns its JSON.
func hasMethods(t reflect.Type) bool {
	return implements[json.UnmarshalerFrom](t) || implements[json.MarshalerTo](t) ||
		implements[stdjson.Unmarshaler](t) || implements[stdjson.Marshaler](t) ||
		implements[encoding.TextUnmarshaler](t) || implements[encoding.TextMarshaler](t) ||
		implements[encoding.TextAppender](t)
}
