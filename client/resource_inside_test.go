package client

import (
	"errors"
	"io"
	"reflect"
	"testing"
	"unsafe"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/packed"
)

// guarantee S22: what binds a handle binds every handle that is made of it. This fails for a new field that is
// forgotten.
func TestRetypeKeepsEverySettingOfAHandle(t *testing.T) {
	var r Resource[*meta.Unstructured]
	field := func(handle any, i int) reflect.Value {
		f := reflect.ValueOf(handle).Elem().Field(i)
		return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
	}
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int:
			v.SetInt(1)
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
		case reflect.Interface:
			switch v.Type() {
			case reflect.TypeFor[reflect.Type]():
				v.Set(reflect.ValueOf(v.Type()))
			case reflect.TypeFor[packed.Packer](): // see below
			case reflect.TypeFor[Fallback]():
				v.Set(reflect.ValueOf(Versions("x")))
			default:
				v.Set(reflect.ValueOf(errors.New("x")))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		default:
			t.Fatalf("a field is a %s, for which the test has no value", v.Kind())
		}
	}
	fields := reflect.TypeFor[resource]()
	for i := range fields.NumField() {
		fill(field(&r.untyped, i))
	}
	s := Retype[*meta.Partial](r)
	for i := range fields.NumField() {
		switch name := fields.Field(i).Name; name {
		case "typ", "own", "kind", "partial", "objects", "only": // what the other type is about
		case "parts", "packer": // only a cache may share parts, or keep texts
		default:
			if !reflect.DeepEqual(field(&s.untyped, i).Interface(), field(&r.untyped, i).Interface()) {
				t.Errorf("the other handle does not have the field %s", name)
			}
		}
	}
	if got := s.GVR(); got != r.GVR() {
		t.Errorf("the other handle is on %s, want %s", got, r.GVR())
	}
}

func TestTheTextOfAnUnusableEvent(t *testing.T) {
	key := meta.Key{Namespace: "web", Name: "a"}
	for want, e := range map[string]EventError{
		`server sent an unusable event: EOF`:                    {},
		`server sent an unusable event "ERROR": EOF`:            {kind: "ERROR"},
		`server sent an unusable event "ADDED" of "web/a": EOF`: {kind: Added, key: key},
		`server sent an unusable event of "web/a": EOF`:         {key: key}, // one that was too large for its type to be known
	} {
		if e.Err = io.EOF; e.Error() != want {
			t.Errorf("got %s, want %s", e.Error(), want)
		}
	}
}
