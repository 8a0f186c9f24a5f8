//go:build !go1.27 || !goexperiment.jsonv2

package codec

import "reflect"

// Before Go 1.27 there is no UnmarshalJSONFrom.
func decodesFrom(reflect.Type) bool { return false }

func unmarshalFrom(any, []byte) error { return nil }
