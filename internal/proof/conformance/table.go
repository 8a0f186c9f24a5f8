package conformance

import (
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// Tables with whole objects and without, and their watches.
func testTables(t *testing.T, s suite) {
	ns := s.namespace(t)
	s.configMap(t, ns, "a", nil)
	r := s.configMaps.In(ns)
	for _, whole := range []bool{false, true} {
		o := client.TableOptions{WholeObjects: whole}
		check := func(t *testing.T, table client.Table) {
			t.Helper()
			if len(table.Rows) != 1 || table.Plain || len(table.Columns) != 3 || table.Rows[0].Cells[0] != "a" || table.ResourceVersion == "" {
				t.Fatalf("with whole objects (%t) the table is %+v", whole, table)
			}
			row := table.Rows[0]
			equal(t, "the object", row.Object.Name, "a")
			equal(t, "the whole object is there", strings.Contains(string(row.Raw), `"data":{"k":"v"}`), whole)
			equal(t, "managedFields are there", strings.Contains(string(row.Raw), "managedFields"), false)
		}
		check(t, must[client.Table](t)(r.Table(t.Context(), client.ListOptions{}, o)))
		check(t, must[client.Table](t)(r.TableOf(t.Context(), meta.Key{Name: "a"}, o)))
		for e, err := range r.WatchTable(t.Context(), client.WatchOptions{Bookmarks: true, InitialEvents: true}, o) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == client.Added {
				check(t, e.Table)
				continue
			}
			if e.Type != client.Bookmark || !e.InitialEventsEnd || len(e.Table.Rows) != 0 || len(e.Table.Columns) != 3 {
				t.Errorf("after the object comes %+v", e)
			}
			break
		}
	}
}
