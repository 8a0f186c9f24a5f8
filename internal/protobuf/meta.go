package protobuf

import _ "embed" // for the text of the table

// Meta returns the table of meta/v1, to which all others refer.
func Meta() *Table {
	return &Table{Name: "meta/v1", Group: "meta.k8s.io", Version: "v1", Text: metaText}
}

//go:embed meta.txt
var metaText string
