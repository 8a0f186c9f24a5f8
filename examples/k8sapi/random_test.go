package main

import (
	"encoding/json"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/bowline-go/bowline/client/meta"
)

// random returns an object with random values in all its fields, the same for the same seed. Where a type has a JSON form
// of its own, the values are such as come up in practice, and those at the edges of that form. Strings are any that Go
// has: with quotes, control characters, what HTML escapes, and bytes that are not UTF-8.
func random[T meta.Object](seed int64) T {
	quantities := []string{"0", "100m", "1", "1.5", "1Gi", "1.5Gi", "64Mi", "1e3", "123456789012345678901", "-7", "0.1", "5n", "12E"}
	texts := []string{"", "web", `<a href="x">&amp;</a>`, "\u2028\u2029", "\x00\x1f\x7f\\\"/", "\xff\xfeabc\x80", "日本語 🚀", "null", "1e5"}
	raws := []string{`{}`, `{"a":1,"b":[true,null,"x"],"A":2}`, `[1,2.50,1e400]`, `"text"`, `{"f:metadata":{"f:labels":{".":{}}}}`}
	at := func(c randfill.Continue) time.Time {
		return time.Unix(c.Int63n(1<<33)-1<<31, c.Int63n(1e9)).In(time.Local)
	}
	filler := randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).MaxDepth(16).Funcs(
		func(*metav1.TypeMeta, randfill.Continue) {}, // the descriptor's
		func(s *string, c randfill.Continue) {
			if *s = c.String(0); c.Intn(3) == 0 {
				*s = texts[c.Intn(len(texts))]
			}
		},
		func(q *resource.Quantity, c randfill.Continue) {
			*q = resource.MustParse(quantities[c.Intn(len(quantities))])
		},
		func(v *intstr.IntOrString, c randfill.Continue) {
			if *v = intstr.FromInt32(c.Int31() - 1<<30); c.Bool() {
				*v = intstr.FromString(texts[c.Intn(len(texts))])
			}
		},
		func(t *metav1.Time, c randfill.Continue) {
			if *t = (metav1.Time{}); c.Intn(4) > 0 {
				*t = metav1.NewTime(at(c))
			}
		},
		func(t *metav1.MicroTime, c randfill.Continue) {
			if *t = (metav1.MicroTime{}); c.Intn(4) > 0 {
				*t = metav1.NewMicroTime(at(c))
			}
		},
		func(d *metav1.Duration, c randfill.Continue) { d.Duration = time.Duration(c.Int63()) },
		func(r *runtime.RawExtension, c randfill.Continue) {
			if *r = (runtime.RawExtension{}); c.Bool() {
				r.Raw = json.RawMessage(raws[c.Intn(len(raws))])
			}
		},
		func(f *metav1.FieldsV1, c randfill.Continue) { *f = *metav1.NewFieldsV1(raws[c.Intn(len(raws))]) },
	)
	obj := reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
	filler.Fill(obj)
	return obj
}
