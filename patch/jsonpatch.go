package patch

import "fmt"

// JSONType is the media type of a JSON patch (RFC 6902).
const JSONType = "application/json-patch+json"

// JSON returns the JSON patch (RFC 6902) of the operations. The server applies them in order, all or none.
// [Patch.Body] returns an error that names the operation if one is wrong, whatever the object is: a pointer without a
// leading slash, the zero Op, the removal of the whole document, a move of a value into itself, or a value that cannot
// be encoded. It returns an error that is [ErrTooLarge] if there are more than 10,000 operations, the limit of the API
// server.
//
// If a test fails, the API server answers Invalid, not Conflict.
func JSON(ops ...Op) Patch {
	if len(ops) > maxOps {
		return Patch{mediaType: JSONType, err: fmt.Errorf("patch.JSON: %w", tooManyOps(len(ops)))}
	}
	body, idle := []byte{'['}, true
	for i, o := range ops {
		err := o.check(i)
		if err == nil {
			if i > 0 {
				body = append(body, ',')
			}
			body, err = o.appendTo(body, i)
		}
		if err != nil {
			return Patch{mediaType: JSONType, err: err}
		}
		idle = idle && o.op == "test"
	}
	return Patch{mediaType: JSONType, body: append(body, ']'), idle: idle}
}

func tooManyOps(n int) error {
	return tooLarge("the JSON patch has %d operations, and %d are allowed", n, maxOps)
}
