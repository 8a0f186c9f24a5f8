package codec

import (
	"encoding"
	stdjson "encoding/json"
	"reflect"
	"sync"
	"time"
)

// plan says how to decode into one Go type. A plan in the cache does not change, except for the hint.
type plan struct {
	shape  shape
	null   null
	key    keyShape // of a map
	typ    reflect.Type
	size   uintptr
	length int           // of an array
	elem   *plan         // of a pointer, slice, array, map or quoted value
	slice  reflect.Type  // of the scratch: a slice of the elements of a slice or map
	empty  reflect.Value // a slice without elements
	id     int           // of the scratch
	text   hint          // of a document or a part of this type
	shared bool          // its values may be shared; see Parts
	mark   uint64        // distinguishes the plans that are shared
	wrong  error         // why values of the type cannot be decoded; null can
	*structPlan
}

// shape is a way to decode.
type shape uint8

const (
	shapeNone shape = iota // takes null only, and keeps nothing: a function, a channel, an interface with methods
	shapeBool
	shapeString
	shapeNumber // json.Number
	shapeInt
	shapeUint
	shapeFloat32
	shapeFloat64
	shapePointer
	shapeStruct
	shapeSlice
	shapeArray
	shapeStrings // []string
	shapeBytes   // []byte and slices of other bytes
	shapeMap
	shapeStringMap // map[string]string
	shapeAny       // an interface without methods
	shapeAnyMap    // map[string]any
	shapeRaw       // json.RawMessage
	shapeFrom      // it has UnmarshalJSONFrom, which Go has from 1.27 on
	shapeJSON      // it has UnmarshalJSON
	shapeMoment    // it has UnmarshalJSON, and holds only a time.Time
	shapeText      // it has UnmarshalText, and no UnmarshalJSON
	shapeTime      // time.Time
	shapeQuoted    // a field with the tag option string

	shapePassedOver // a field that a projection leaves out
)

// keyShape is how the names of an object become the keys of a map.
type keyShape uint8

const (
	keyNone keyShape = iota // no key can be made of them
	keyString
	keyInt
	keyUint
	keyText // they have UnmarshalText
)

// null is the effect of null.
type null uint8

const (
	nullIsDecoded null = iota // the same as any other value: a method gets it, or it is kept as text
	nullKeeps                 // nothing
	nullEmpties               // sets the value to zero
)

func (s shape) null() null {
	switch s {
	case shapeFrom, shapeJSON, shapeMoment, shapeRaw:
		return nullIsDecoded
	case shapePointer, shapeSlice, shapeStrings, shapeBytes, shapeMap, shapeStringMap, shapeAny, shapeAnyMap:
		return nullEmpties
	}
	return nullKeeps
}

var (
	stringType  = reflect.TypeFor[string]()
	float64Type = reflect.TypeFor[float64]()
)

// plans keeps the plan of every type that has been decoded into. It is process-wide because it holds nothing that
// could be set, is bounded by the types of the program, and would otherwise be built again for every client.
var plans = planCache{}

type planCache struct {
	done sync.Map // reflect.Type -> *plan; complete ones only

	mu      sync.Mutex // held while plans are made; guards the fields below
	scratch int        // how many plans have one
	guesses int        // how many all structs have
	shared  int        // how many plans are shared
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

// compiler makes plans. It keeps those that it has begun, so that a type can refer to itself.
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
	switch p.shape {
	case shapePointer, shapeSlice:
		p.shared = t.Elem().Size() > 0
	case shapeStrings, shapeMap, shapeStringMap:
		p.shared = true
	}
	if p.shared {
		c.cache.shared++
		p.mark = uint64(c.cache.shared) * 0x9e3779b97f4a7c15
	}
	return p
}

// fill chooses the shape.
func (c *compiler) fill(p *plan) {
	t := p.typ
	switch t {
	case reflect.TypeFor[stdjson.RawMessage]():
		p.shape = shapeRaw
		return
	case reflect.TypeFor[stdjson.Number]():
		p.shape = shapeNumber
		return
	case reflect.TypeFor[time.Time]():
		p.shape = shapeTime
		return
	}
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface { // for these, the elements have the methods
		switch {
		case decodesFrom(t):
			p.shape = shapeFrom
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
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		p.shape = shapeUint
	case reflect.Float32:
		p.shape = shapeFloat32
	case reflect.Float64:
		p.shape = shapeFloat64
	case reflect.Pointer:
		if !endless(t) {
			p.elem = c.plan(t.Elem())
			p.shape = shapePointer
		}
	case reflect.Interface:
		if t.NumMethod() == 0 {
			p.shape = shapeAny
		}
	case reflect.Array:
		p.elem = c.plan(t.Elem())
		p.length = t.Len()
		p.shape = shapeArray
	case reflect.Slice:
		c.fillSlice(p)
	case reflect.Map:
		c.fillMap(p)
	case reflect.Struct:
		c.fillStruct(p)
	}
}

// endless reports whether a pointer leads only to pointers, as for type P *P.
func endless(t reflect.Type) bool {
	for seen := map[reflect.Type]bool{}; t.Kind() == reflect.Pointer; t = t.Elem() {
		if seen[t] {
			return true
		}
		seen[t] = true
	}
	return false
}

func (c *compiler) fillStruct(p *plan) {
	if p.structPlan, p.wrong = c.structPlan(p.typ); p.wrong == nil {
		p.shape = shapeStruct
	}
}

func (c *compiler) fillSlice(p *plan) {
	switch e := p.typ.Elem(); {
	case e.Kind() == reflect.Uint8:
		p.shape = shapeBytes
		c.withElements(p)
	case e == stringType:
		p.shape = shapeStrings
	default:
		p.shape = shapeSlice
		c.withElements(p)
	}
}

func (c *compiler) fillMap(p *plan) {
	key, e := p.typ.Key(), p.typ.Elem()
	switch {
	case key == stringType && e == stringType:
		p.shape = shapeStringMap
		return
	case key == stringType && e == reflect.TypeFor[any]():
		p.shape = shapeAnyMap
		return
	case key.Kind() != reflect.Pointer && key.Kind() != reflect.Interface && implements[encoding.TextUnmarshaler](key):
		p.key = keyText
	case key.Kind() == reflect.String:
		p.key = keyString
	case reflect.Int <= key.Kind() && key.Kind() <= reflect.Int64:
		p.key = keyInt
	case reflect.Uint <= key.Kind() && key.Kind() <= reflect.Uintptr:
		p.key = keyUint
	}
	p.shape = shapeMap
	c.withElements(p)
}

// withElements prepares a plan for elements that go through a scratch.
func (c *compiler) withElements(p *plan) {
	p.slice = reflect.SliceOf(p.typ.Elem())
	p.id = c.cache.scratch
	c.cache.scratch++
	p.empty = reflect.MakeSlice(p.slice, 0, 0)
	p.elem = c.plan(p.typ.Elem())
}

// implements reports whether a pointer to t has the methods of I.
func implements[I any](t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[I]())
}

// hasMethods reports whether a pointer to t has a method that decodes it.
func hasMethods(t reflect.Type) bool {
	return decodesFrom(t) || implements[stdjson.Unmarshaler](t) || implements[encoding.TextUnmarshaler](t)
}
