//go:build go1.27 && goexperiment.jsonv2

package codec

import (
	"bytes"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
	"reflect"
)

// decodesFrom reports whether a pointer to t has the method UnmarshalJSONFrom. From Go 1.27 on, encoding/json calls it
// instead of UnmarshalJSON.
func decodesFrom(t reflect.Type) bool { return implements[jsonv2.UnmarshalerFrom](t) }

func unmarshalFrom(v any, raw []byte) error {
	return v.(jsonv2.UnmarshalerFrom).UnmarshalJSONFrom(jsontext.NewDecoder(bytes.NewReader(raw)))
}
