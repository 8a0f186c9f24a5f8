package client_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestAWatchOfTables(t *testing.T) {
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprint(whole), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, clienttest.Options{})
				r := client.For(dial(t, server.Config()), configMaps).In("default")
				key := meta.Key{Namespace: "default", Name: "a"}
				must[*ConfigMap](t)(r.Create(t.Context(), &ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "v"}}))
				options := client.TableOptions{WholeObjects: whole}
				list := must[client.Table](t)(r.Table(t.Context(), client.ListOptions{PageSize: 1}, options))
				one := must[client.Table](t)(r.TableOf(t.Context(), key, options))
				var seen string
				last := list.ResourceVersion
				for e, err := range r.WatchTable(t.Context(), client.WatchOptions{Bookmarks: true, InitialEvents: true}, options) {
					if err != nil {
						t.Fatal(err)
					}
					if len(e.Table.Columns) != 3 || e.Table.Plain || len(e.Table.ResourceVersion) < len(last) {
						t.Errorf("%s: the table is %+v", e.Type, e.Table)
					}
					seen += fmt.Sprint(e.Type, " ")
					if e.Type == client.Bookmark {
						if len(e.Table.Rows) != 0 || !e.InitialEventsEnd {
							t.Errorf("the bookmark is %+v", e)
						}
					} else {
						check(t, whole, e.Table)
					}
					if e.Type == client.Bookmark {
						must[*ConfigMap](t)(r.Modify(t.Context(), key, func(c *ConfigMap) error { c.Data["l"] = "w"; return nil }))
					}
					if e.Type == client.Modified {
						if err := r.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
							t.Fatal(err)
						}
					}
					if e.Type == client.Deleted {
						break
					}
				}
				if seen != "ADDED BOOKMARK MODIFIED DELETED " {
					t.Errorf("the watch brings %s", seen)
				}
				check(t, whole, list)
				check(t, whole, one)
			})
		})
	}
}

// check checks the one row of a table.
func check(t *testing.T, whole bool, table client.Table) {
	t.Helper()
	if len(table.Rows) != 1 || table.Rows[0].Cells[0] != "a" {
		t.Fatalf("the table is %+v", table)
	}
	row := table.Rows[0]
	if row.Object.Name != "a" || row.Object.Kind != "ConfigMap" || row.Object.ManagedFields != nil {
		t.Errorf("the object is %+v", row.Object)
	}
	if (row.Raw != nil) != whole {
		t.Errorf("the whole object is %s", row.Raw)
	}
	if row.Raw == nil {
		return
	}
	var object meta.Unstructured
	if err := object.UnmarshalJSON(row.Raw); err != nil || object.Object["data"].(map[string]any)["k"] != "v" {
		t.Errorf("the whole object is %s, %v", row.Raw, err)
	}
	if metadata := object.Object["metadata"].(map[string]any); metadata["managedFields"] != nil {
		t.Errorf("the whole object has managedFields: %s", row.Raw)
	}
}

// Rows without objects have no names, so many pages that begin alike are no sign of a list without an end.
func TestATableOfManyPagesWithoutObjects(t *testing.T) {
	var pages []string
	for i := range 150 {
		pages = append(pages, tableOf("7", fmt.Sprintf("t%d", i), tableColumns, `{"cells":["a",1,"x"],"object":null}`))
	}
	pages = append(pages, tableOf("7", "", tableColumns, `{"cells":["a",1,"x"],"object":null}`))
	table, err := client.For(connect(t, says(pages...)), slims).Table(t.Context(), client.ListOptions{PageSize: 1}, client.TableOptions{})
	if err != nil || len(table.Rows) != 151 || table.Rows[0].Object.Name != "" || table.String() == "" {
		t.Errorf("%d rows, %v", len(table.Rows), err)
	}
}

func TestAWatchOfTablesThatGoesWrong(t *testing.T) {
	row := func(columns, name string) string {
		return tableOf("5", "", columns, tableRow(name, `"`+name+`",1,"x"`))
	}
	r := func(body string) client.Resource[*Slim] { return client.For(connect(t, says(body)), slims) }
	watch := func(r client.Resource[*Slim], o client.WatchOptions, with client.TableOptions) (seen string, last error) {
		for e, err := range r.WatchTable(t.Context(), o, with) {
			if last = err; err != nil {
				seen += "error "
				continue
			}
			for _, row := range e.Table.Rows {
				seen += fmt.Sprint(e.Type, " ", row.Cells[0], " ", len(e.Table.Columns), " ", e.Table.Plain, ", ")
			}
		}
		return seen, last
	}
	seen, err := watch(r(event("ADDED", row(tableColumns, "a"))+event("ADDED", `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"6"},"rows":[{"cells":7}]}`)+
		event("MODIFIED", row("", "b"))), client.WatchOptions{}, client.TableOptions{})
	if seen != "ADDED a 3 false, error MODIFIED b 3 false, " || err != nil {
		t.Errorf("a table that cannot be read: %s, %v", seen, err)
	}
	seen, err = watch(r(event("ADDED", object("a", "5"))+event("BOOKMARK", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"resourceVersion":"6"}}`)), client.WatchOptions{}, client.TableOptions{})
	if seen != "ADDED a 2 true, " || err != nil {
		t.Errorf("a server that makes no tables: %s, %v", seen, err)
	}
	for name, body := range map[string]string{
		"another kind":      event("ADDED", `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"5"}}`),
		"another type":      event("MOVED", row(tableColumns, "a")),
		"without a version": event("ADDED", `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":[],"rows":[{"cells":[],"object":null}]}`),
	} {
		_, err := watch(r(body), client.WatchOptions{}, client.TableOptions{})
		if e := (*client.EventError)(nil); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := watch(r(event("ERROR", status(410, "Expired", "too old"))), client.WatchOptions{}, client.TableOptions{}); !errors.Is(err, apierrors.Expired) {
		t.Errorf("an ERROR event: %v", err)
	}
	for name, usage := range map[string]func() error{
		"Skip": func() error {
			_, err := watch(r(""), client.WatchOptions{Skip: func(meta.Identity) bool { return true }}, client.TableOptions{})
			return err
		},
	} {
		if e := (*client.UsageError)(nil); !errors.As(usage(), &e) {
			t.Errorf("%s: %v", name, usage())
		}
	}
}

func TestRowsOfServersWithoutTablesHaveTheirObjects(t *testing.T) {
	r := client.For(connect(t, says(listOf("7", "", object("a", "5", "k"), object("b", "6")))), slims)
	table, err := r.Table(t.Context(), client.ListOptions{}, client.TableOptions{WholeObjects: true})
	if err != nil || !table.Plain || len(table.Rows) != 2 || table.Rows[1].Object.Name != "b" || len(table.Rows[0].Raw) == 0 {
		t.Errorf("%+v, %v", table, err)
	}
}
