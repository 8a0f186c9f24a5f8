package patch

import "fmt"

// JSONType is the media type of a JSON patch (RFC 6902).
const JSONType = "application/json-patch+json"

// JSON returns the JSON patch (RFC 6902) of the operations, which are applied in their order, all or none. [Patch.Body]
// returns an [*OpError] if one of them is wrong whatever the object is: a pointer without a leading slash, the zero Op, the
// removal of the whole document, a move into what is moved, a value that cannot be encoded; and an error that is
// [ErrTooLarge] if there are more than 10,000, as the API server has it.
//
// Where a test fails the API server says Invalid, not Conflict.
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
