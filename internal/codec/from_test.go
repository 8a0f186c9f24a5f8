//go:build go1.27 && goexperiment.jsonv2

package codec_test

import (
	"encoding/json/jsontext"
	"errors"
	"reflect"
	"testing"
)

type (
	fromText   struct{ Text string }
	hiddenFrom struct{ Text string }
	fromNumber int
	fromBoth   string
	fromBad    struct{ Text string }
)

func readFrom(d *jsontext.Decoder) (string, error) {
	v, err := d.ReadValue()
	return "from " + string(v), err
}

func (f *fromText) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	f.Text, err = readFrom(d)
	return err
}

func (f *hiddenFrom) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	f.Text, err = readFrom(d)
	return err
}

func (f *fromNumber) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := readFrom(d)
	*f = fromNumber(len(text))
	return err
}

func (f *fromBoth) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := readFrom(d)
	*f = fromBoth(text)
	return err
}

func (f *fromBoth) UnmarshalJSON(raw []byte) error { *f = fromBoth("json " + string(raw)); return nil }

func (f *fromBad) UnmarshalJSONFrom(*jsontext.Decoder) error { return errors.New("not today") }

// From Go 1.27 on, encoding/json prefers UnmarshalJSONFrom.
func TestTypesMayReadFromADecoder(t *testing.T) {
	for _, test := range []struct {
		typ reflect.Type
		raw string
	}{
		{reflect.TypeFor[fromText](), `{"Text":"a"}`},
		{reflect.TypeFor[struct{ X fromText }](), `{"X":{"Text":"a"}}`},
		{reflect.TypeFor[struct{ X *fromText }](), `{"X":[1, 2]}`},
		{reflect.TypeFor[struct{ X *fromText }](), `{"X":null}`},
		{reflect.TypeFor[struct{ X fromText }](), `{"X":null}`},
		{reflect.TypeFor[struct{ fromText }](), `{"Text":"a"}`},
		{reflect.TypeFor[struct {
			hiddenFrom `json:"in"`
		}](), `{"in":{"Text":"a"}}`},
		{reflect.TypeFor[struct {
			N fromNumber `json:"n,string"`
			M int        `json:"m,string"`
		}](), `{"n":17,"m":"2"}`},
		{reflect.TypeFor[struct{ X fromBoth }](), `{"X":"a"}`},
		{reflect.TypeFor[[]fromBoth](), `["a",null,{}]`},
		{reflect.TypeFor[map[string]fromText](), `{"a":1,"b":null}`},
		{reflect.TypeFor[struct{ X fromBad }](), `{"X":1}`},
	} {
		sameAsStandard(t, test.typ, []byte(test.raw))
	}
}
