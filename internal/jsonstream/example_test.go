package jsonstream_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/bowline-go/bowline/internal/jsonstream"
)

func ExampleList() {
	body := strings.NewReader(`{"kind":"PodList","apiVersion":"v1",
		"metadata":{"resourceVersion":"41","continue":"next page"},"items":[
		{"metadata":{"name":"a","namespace":"web","resourceVersion":"7","managedFields":[{"manager":"kubectl"}]},"spec":{}},
		{"metadata":{"name":"b","namespace":"web","resourceVersion":"9"}}]}`)
	l := jsonstream.NewList(body, jsonstream.Options{})
	if err := l.Open(); err != nil {
		fmt.Println(err)
		return
	}
	h, _ := l.Header()
	fmt.Printf("%s at version %s, continues with %q\n", h.Kind, h.ResourceVersion, h.Continue)
	for {
		item, err := l.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Println("the list is not complete:", err)
			return
		}
		fmt.Printf("%v: %s\n", item.Key(), item.Raw)
	}
	// Output:
	// PodList at version 41, continues with "next page"
	// web/a: {"metadata":{"name":"a","namespace":"web","resourceVersion":"7"},"spec":{}}
	// web/b: {"metadata":{"name":"b","namespace":"web","resourceVersion":"9"}}
}

func ExampleWatch() {
	body := strings.NewReader(`{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","resourceVersion":"7"}}}
{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9"}}}
{"type":"MODIFIED","object":{"kind":"Pod","metadata":{"na`)
	w := jsonstream.NewWatch(body, jsonstream.Options{})
	for {
		f, err := w.Next()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(f.Type, f.Name, f.ResourceVersion)
	}
	// Output:
	// ADDED a 7
	// BOOKMARK  9
	// the body is cut at byte 223: unexpected EOF
}
