package protobuf_test

import (
	"testing"

	"github.com/bowline-go/bowline/internal/protobuf"
)

// sample has every type and form of a field.
var sample = protobuf.Table{Name: "sample/v1", Group: "example.com", Version: "v1", Text: `
Thing!
1 metadata meta/v1.ObjectMeta
2 name string
3 note string?
4 count int?
5 small int32
6 on bool?
7 ratio double
8 data bytes?
9 made time?
10 renewed microtime
11 pause Pause
12 memory quantity
13 port intorstring
14 config raw?
15 names []string
16 numbers []int
17 labels {}string
18 parts []Part
19 byName {}Part
20 - Source
21 either Either
22 many {}List
23 ratios []double
24 flags []bool
25 next Thing
26 times {}time
27 configs []raw
28 numbersByName {}int
29 scalars []Scalar
Part
1 x string?
2 - Inner
Inner
1 y int?
2 z int?
Source
1 disk Part
2 secret string
Either
1 = bool
2 = Part
3 = []string
Scalar
1 = int
2 = string
3 = {}string
4 = []bool
List
1 = []string
Pause
1 = duration
`}

func schemaOf(t testing.TB, tables ...*protobuf.Table) *protobuf.Schema {
	t.Helper()
	s, err := protobuf.NewSchema(tables...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func thing(t testing.TB) *protobuf.Message {
	t.Helper()
	m := schemaOf(t, &sample).Kind("example.com", "v1", "Thing")
	if m == nil {
		t.Fatal("the schema does not have the kind Thing")
	}
	return m
}
