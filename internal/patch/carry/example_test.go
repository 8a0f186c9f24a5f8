package carry_test

import (
	"fmt"

	"github.com/bowline-go/bowline/internal/patch/carry"
)

// A program that knows two members of a container adds a third to the list; the ports, which it does not know, stay.
func ExampleChange() {
	live := `{"containers":[{"name":"web","image":"web:1","ports":[{"containerPort":80}]}],"hostNetwork":true}`
	before := `{"containers":[{"name":"web","image":"web:1"}]}`
	after := `{"containers":[{"name":"log","image":"log:1"},{"name":"web","image":"web:2"}]}`
	doc, err := carry.Change([]byte(live), []byte(before), []byte(after))
	fmt.Println(string(doc), err)
	// Output:
	// {"containers":[{"name":"log","image":"log:1"},{"name":"web","image":"web:2","ports":[{"containerPort":80}]}],"hostNetwork":true} <nil>
}
