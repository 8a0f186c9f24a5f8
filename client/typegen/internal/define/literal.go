package define

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

func quoted(text string) string { return strconv.QuoteToASCII(text) }

// This file writes values of package crd as Go source: structs, lists, maps, pointers, texts, numbers and booleans.

func literal(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Elem().Kind() != reflect.Struct {
			b.WriteString("new(")
			literal(b, v.Elem())
			b.WriteString(")")
			return
		}
		b.WriteString("&")
		literal(b, v.Elem())
	case reflect.Struct:
		b.WriteString(v.Type().String() + "{")
		Members(b, v.Interface(), ", ")
		b.WriteString("}")
	case reflect.Slice:
		list(b, v)
	case reflect.Map:
		b.WriteString(v.Type().String() + "{\n")
		keys := v.MapKeys()
		slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
		for _, k := range keys {
			fmt.Fprintf(b, "%s: %s,\n", quoted(k.String()), quoted(v.MapIndex(k).String()))
		}
		b.WriteString("}")
	case reflect.String:
		b.WriteString(quoted(v.String()))
	default:
		fmt.Fprint(b, v.Interface())
	}
}

func list(b *strings.Builder, v reflect.Value) {
	switch v.Type().Elem().Kind() {
	case reflect.Uint8:
		b.WriteString("[]byte(" + quoted(string(v.Bytes())) + ")")
	case reflect.Struct:
		b.WriteString(v.Type().String() + "{\n")
		for i := range v.Len() {
			b.WriteString("{")
			Members(b, v.Index(i).Interface(), ", ")
			b.WriteString("},\n")
		}
		b.WriteString("}")
	default:
		b.WriteString(v.Type().String() + "{")
		for i := range v.Len() {
			literal(b, v.Index(i))
			b.WriteString(", ")
		}
		b.WriteString("}")
	}
}

// Members writes the fields of a struct that are not zero, each followed by the separator. It leaves out the fields
// whose names are in without.
func Members(b *strings.Builder, of any, separator string, without ...string) {
	v := reflect.ValueOf(of)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; !v.Field(i).IsZero() && !slices.Contains(without, name) {
			b.WriteString(name + ": ")
			literal(b, v.Field(i))
			b.WriteString(separator)
		}
	}
}
