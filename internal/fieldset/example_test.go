package fieldset_test

import (
	"fmt"

	"github.com/bowline-go/bowline/internal/fieldset"
)

func Example() {
	was, _ := fieldset.Parse([]byte(`{"f:data":{"f:a":{},"f:b":{}}}`))
	is, _ := fieldset.Parse([]byte(`{"f:data":{"f:b":{},"f:c":{}}}`))

	for keys := range was.Difference(is).Paths() {
		fmt.Println("no longer", fieldset.Path(keys))
	}
	fmt.Println(string(was.Union(is).Append(nil)))
	// Output:
	// no longer .data.a
	// {"f:data":{"f:a":{},"f:b":{},"f:c":{}}}
}
