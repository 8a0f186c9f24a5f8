package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// tableOf returns a page of a table, as a server writes it.
func tableOf(version, next, columns string, rows ...string) string {
	return fmt.Sprintf(`{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"%s","continue":"%s"},"columnDefinitions":[%s],"rows":[%s]}`,
		version, next, columns, strings.Join(rows, ","))
}

func tableRow(name, cells string) string {
	return `{"cells":[` + cells + `],"object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"namespace":"web","name":"` + name +
		`","uid":"u-` + name + `","resourceVersion":"3","managedFields":[{"manager":"m"}]}}}`
}

const (
	tableColumns = `{"name":"Name","type":"string","format":"name","description":"the name","priority":0},{"name":"Up","type":"integer"},{"name":"Wide","type":"string","priority":1}`
	tableAccept  = "application/json;as=Table;v=v1;g=meta.k8s.io;drop=metadata.managedFields,application/json;drop=metadata.managedFields"
)

// behaviour 190: a table is asked for, or there is none.
func TestTable(t *testing.T) {
	s := says(
		tableOf("7", "next", tableColumns, tableRow("a", `"a",10000000000000001,"x"`), tableRow("b", `"b",2.5,null`)),
		tableOf("7", "", tableColumns, tableRow("c", `"c",[{"k":true}],"y"`)),
	)
	var pages []string
	got, err := client.For(connect(t, s), slims).Table(t.Context(), client.ListOptions{
		Namespace: "web", LabelSelector: "app=web", PageSize: 2, OnPage: func(m meta.ListMeta) { pages = append(pages, m.Continue) },
	}, client.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got.ResourceVersion != "7" || got.Plain || !reflect.DeepEqual(pages, []string{"next", ""}) {
		t.Errorf("got %+v and the pages %q", got, pages)
	}
	if want := (client.Column{Name: "Name", Type: "string", Format: "name", Description: "the name"}); len(got.Columns) != 3 || got.Columns[0] != want || got.Columns[2].Priority != 1 {
		t.Errorf("the columns are %+v", got.Columns)
	}
	for i, want := range [][]any{{"a", int64(10000000000000001), "x"}, {"b", 2.5, nil}, {"c", []any{map[string]any{"k": true}}, "y"}} {
		if i >= len(got.Rows) || !reflect.DeepEqual(got.Rows[i].Cells, want) {
			t.Fatalf("the rows are %+v", got.Rows)
		}
	}
	if obj := got.Rows[2].Object; obj.Key() != (meta.Key{Namespace: "web", Name: "c"}) || obj.GVK() != slims.GVK() || obj.UID != "u-c" || obj.ManagedFields != nil {
		t.Errorf("the last object is %+v", obj)
	}
	calls := s.all()
	if len(calls) != 2 || calls[0].uri != "/api/v1/namespaces/web/configmaps?labelSelector=app%3Dweb&limit=2" ||
		calls[1].uri != "/api/v1/namespaces/web/configmaps?continue=next&labelSelector=app%3Dweb&limit=2" || calls[1].header.Get("Accept") != tableAccept {
		t.Errorf("the requests are %v", calls)
	}
	const want = "NAME   UP\na      10000000000000001\nb      2.5\nc      [{\"k\":true}]\n"
	if text := got.String(); text != want {
		t.Errorf("it is written as\n%s, want\n%s", text, want)
	}
	const wide = "NAME   UP                  WIDE\na      10000000000000001   x\nb      2.5                 <none>\nc      [{\"k\":true}]        y\n"
	if text := got.Wide().String(); text != wide || got.Columns[2].Priority != 1 {
		t.Errorf("wide it is written as\n%s, want\n%s", text, wide)
	}
}

func TestTableOfOneObject(t *testing.T) {
	s := says(tableOf("3", "", tableColumns, tableRow("a", `"a",1,"x"`)))
	got, err := client.Metadata(client.For(connect(t, s), slims)).TableOf(t.Context(), web, client.TableOptions{})
	if err != nil || got.ResourceVersion != "3" || len(got.Rows) != 1 || got.Rows[0].Object.Name != "a" {
		t.Errorf("got %+v, %v", got, err)
	}
	if call := s.one(t); call.String() != "GET /api/v1/namespaces/web/configmaps/a" || call.header.Get("Accept") != tableAccept {
		t.Errorf("sent %v %v", call, call.header)
	}
}

// A server that makes no tables sends the objects.
func TestATableOfPlainObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := func(name string, ago time.Duration) string {
			at := "null"
			if ago > 0 {
				at = `"` + time.Now().Add(-ago).UTC().Format(time.RFC3339) + `"`
			}
			return `{"metadata":{"namespace":"` + name + `","name":"` + name + `","creationTimestamp":` + at + `,"managedFields":[{"manager":"m"}]},"data":7}`
		}
		s := says(listOf("5", "next", made("a", 30*time.Second), made("b", 30*time.Minute)), listOf("5", "", made("c", 30*time.Hour), made("d", 50*24*time.Hour), made("e", 0)))
		got, err := client.For(connect(t, s), slims).Table(t.Context(), client.ListOptions{}, client.TableOptions{})
		const want = "NAMESPACE   NAME   AGE\na           a      30s\nb           b      30m\nc           c      30h\nd           d      50d\ne           e      <unknown>\n"
		if err != nil || !got.Plain || got.String() != want || got.ResourceVersion != "5" {
			t.Errorf("got %v\n%s", err, got)
		}
		if obj := got.Rows[0].Object; obj.ManagedFields != nil || obj.GVK() != slims.GVK() {
			t.Errorf("an object is %+v", obj)
		}
		got, err = client.For(connect(t, says(object("a", "4"))), slims).TableOf(t.Context(), web, client.TableOptions{})
		if err != nil || !got.Plain || got.ResourceVersion != "4" || got.String() != "NAME   AGE\na      <unknown>\n" {
			t.Errorf("got %v\n%s", err, got)
		}
	})
}

func TestTableFromTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		maps := client.For(dial(t, server.Config()), configMaps)
		for _, name := range []string{"a", "b", "c"} {
			must[*ConfigMap](t)(maps.Create(t.Context(), &ConfigMap{
				ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}, Data: map[string]string{"x": "1"},
			}))
		}
		time.Sleep(90 * time.Second) // virtual
		got, err := maps.Table(t.Context(), client.ListOptions{PageSize: 2}, client.TableOptions{})
		const want = "NAME   DATA   AGE\na      1      90s\nb      1      90s\nc      1      90s\n"
		if err != nil || got.String() != want {
			t.Errorf("got %v\n%s", err, got)
		}
		got, err = maps.TableOf(t.Context(), meta.Key{Namespace: "default", Name: "b"}, client.TableOptions{})
		if err != nil || got.String() != "NAME   DATA   AGE\nb      1      90s\n" {
			t.Errorf("got %v\n%s", err, got)
		}
	})
}

// What a server leaves out or has too much of does not shift the cells of another row or page.
func TestRowsHaveACellForEachColumn(t *testing.T) {
	s := says(
		tableOf("7", "next", tableColumns, tableRow("a", `"a"`), tableRow("b", `"b",2,"x","more"`), `{"cells":null}`, "null"),
		tableOf("7", "", "", tableRow("c", `"c",3,"y"`)), // as the server sends it where it has said its columns before
	)
	got, err := client.For(connect(t, s), slims).Table(t.Context(), client.ListOptions{}, client.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]any{{"a", nil, nil}, {"b", int64(2), "x"}, {nil, nil, nil}, {nil, nil, nil}, {"c", int64(3), "y"}} {
		if !reflect.DeepEqual(got.Rows[i].Cells, want) || got.Rows[i].Object == nil {
			t.Errorf("row %d is %+v, want %v", i, got.Rows[i], want)
		}
	}
}

// guarantee S13: what a server puts into cells does no harm on a terminal.
func TestCellsOfATableAreClean(t *testing.T) {
	s := says(tableOf("7", "", `{"name":"Na\u0007me"},{"name":"A\tb"},{"name":"C"}`, tableRow("a", `"a\u001b[2J","one\nline","tab\there"`), tableRow("b", `""`)))
	got, err := client.For(connect(t, s), slims).Table(t.Context(), client.ListOptions{}, client.TableOptions{})
	const want = "NAME     A B      C\na        one      tab here\n<none>   <none>   <none>\n"
	if err != nil || got.String() != want {
		t.Errorf("got %v\n%s, want\n%s", err, got, want)
	}
	if text := (client.Table{}).String(); text != "\n" {
		t.Errorf("no table is %q", text)
	}
}

func TestATableThatFails(t *testing.T) {
	first := tableOf("7", "next", tableColumns, tableRow("a", `"a",1,"x"`))
	for _, test := range []struct {
		name    string
		answers []answer
		want    string
		as      error
	}{
		{"not allowed", []answer{{code: 403, body: status(403, "Forbidden", "no")}}, "list configmaps: server said Forbidden (403): no", apierrors.Forbidden},
		{
			"the token expires",
			[]answer{{body: first}, {code: 410, body: status(410, "Expired", "late")}},
			"list configmaps: page 2: server said Expired (410): late", apierrors.Expired,
		},
		{
			"the token leads back",
			[]answer{{body: first}},
			"list configmaps: page 2: server sent a continue token that leads back to a page that has been read", nil,
		},
		{"another kind", []answer{{body: strings.Replace(listOf("1", ""), "ConfigMap", "Pod", 1)}}, "list configmaps: server sent v1 PodList, want v1 ConfigMapList", nil},
		{
			"other columns",
			[]answer{{body: first}, {body: tableOf("7", "", `{"name":"Up","type":"integer"},{"name":"Name","type":"string"}`, tableRow("b", `1,"b"`))}},
			"list configmaps: page 2: server sent a page whose columns differ from those of the first page", nil,
		},
		{"now a table, now none", []answer{{body: first}, {body: listOf("7", "")}}, "list configmaps: page 2: server sent some pages as tables and others as lists", nil},
		{
			"what is no table",
			[]answer{{body: `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"rows":7}`}},
			`list configmaps: decode a table: decode into []client.tableRow: a JSON number does not fit at rows (byte 67)`, nil,
		},
		{"an object that is null", []answer{{body: listOf("7", "", "null")}}, "list configmaps: server sent null instead of an object in the list", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := client.For(connect(t, answers(test.answers...)), slims).Table(t.Context(), client.ListOptions{}, client.TableOptions{})
			if err == nil || err.Error() != test.want || got.Rows != nil || got.Columns != nil {
				t.Errorf("got %+v, %v\nwant %s", got, err, test.want)
			}
			if test.as != nil && !errors.Is(err, test.as) {
				t.Errorf("%v is no %v", err, test.as)
			}
		})
	}
	c := without(t, func(*http.Request) (*http.Response, error) {
		t.Error("something was sent")
		return nil, errors.New("no")
	})
	_, err := client.For(c, slims).Table(t.Context(), client.ListOptions{ResourceVersionMatch: "Sometimes"}, client.TableOptions{})
	is[*client.UsageError](t, err)
	_, err = client.For(c, slims).TableOf(t.Context(), meta.Key{Namespace: "web"}, client.TableOptions{})
	if is[*client.UsageError](t, err); err.Error() != `get configmaps in "web": name must not be empty` {
		t.Errorf("error is %v", err)
	}
}

// guarantee S10: a page is bounded.
func TestATableThatIsTooLarge(t *testing.T) {
	cfg := serve(t, says(tableOf("7", "", tableColumns, tableRow("a", `"`+strings.Repeat("x", 2000)+`"`))))
	cfg.MaxObject = 1000
	_, err := client.For(dial(t, cfg), slims).Table(t.Context(), client.ListOptions{}, client.TableOptions{})
	wantErr(t, err, "MaxObject")
}
