package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/pipeline"
	"github.com/bowline-go/bowline/internal/shown"
)

// Table shows objects to people, with the columns that kubectl prints (the API concepts, "Receiving resources as
// Tables").
type Table struct {
	// ResourceVersion is that of the collection, or of the one object.
	ResourceVersion string
	// Columns describe the cells of each row.
	Columns []Column
	// Rows are the objects, in the server's order.
	Rows []Row
	// Plain says that the server makes no tables of this resource, like some aggregated servers. The server sent the
	// objects, and the columns are Name and Age.
	Plain bool
}

// Column describes the cells of one column.
type Column struct {
	// Name is the heading.
	Name string `json:"name"`
	// Type and Format are those of OpenAPI, such as "string" and "name", or "integer".
	Type   string `json:"type"`
	Format string `json:"format"`
	// Description is for people.
	Description string `json:"description"`
	// Priority is 0 for a column that is always shown. A column with a higher priority is shown only if there is more
	// room.
	Priority int `json:"priority"`
}

// Row is one object.
type Row struct {
	// Cells has a value for each column, of the types that [meta.Unstructured] has; nil if the server sent none.
	Cells []any
	// Object is the object's metadata, without managedFields unless they were asked for.
	Object *meta.Partial
	// Raw is the whole object as JSON, with TableOptions.WholeObjects only.
	Raw []byte
}

// Table reads every page of a list as a table, whatever T is. It holds each page as a whole, and Config.MaxObject
// bounds a page. [Resource.WatchTable] goes on from its resource version.
func (r Resource[T]) Table(ctx context.Context, o ListOptions, t TableOptions) (Table, error) {
	return r.untyped.table(ctx, o, t)
}

func (r resource) table(ctx context.Context, o ListOptions, t TableOptions) (Table, error) {
	q := r.listRequest(o)
	if err := o.validate(); err != nil {
		return Table{}, q.fail(&UsageError{Err: err})
	}
	q.query = t.set(o.query())
	var table Table
	pages := pipeline.NewPages()
	for number := 1; ; number++ {
		from := len(table.Rows)
		m, err := r.tablePage(ctx, q, t, o.KeepManagedFields, &table)
		if number == 1 && o.isFloor() && isTooOld(err) { // ListEach does the same
			q.query = t.set(o.pageQuery())
			m, err = r.tablePage(ctx, q, t, o.KeepManagedFields, &table)
		}
		if err == nil && number == 1 {
			err = o.checkVersion(m.ResourceVersion)
		}
		if err == nil && m.Continue != "" {
			if err = pages.Follow(m.Continue); err == nil {
				err = pages.End(table.firstFrom(from, number))
			}
		}
		if err != nil {
			return Table{}, q.failPage(number, err)
		}
		if o.OnPage != nil {
			o.OnPage(m)
		}
		if number == 1 {
			table.ResourceVersion = m.ResourceVersion
		}
		if m.Continue == "" {
			return table, nil
		}
		q.query = t.set(o.nextQuery(m.Continue))
	}
}

// firstFrom returns the key of row n, with which a page begins, and whether there is no such row. A server may send
// rows without objects, which have no keys, so each page then counts as a new one.
func (t *Table) firstFrom(n, page int) (first meta.Key, empty bool) {
	if n >= len(t.Rows) {
		return meta.Key{}, true
	}
	if first = meta.KeyOf(t.Rows[n].Object); first.Name == "" {
		first.Name = strconv.Itoa(page)
	}
	return first, false
}

// TableOf reads one object, as it is now, as a table with one row.
func (r Resource[T]) TableOf(ctx context.Context, key meta.Key, o TableOptions) (Table, error) {
	return r.untyped.tableOf(ctx, key, o)
}

func (r resource) tableOf(ctx context.Context, key meta.Key, o TableOptions) (Table, error) {
	q := r.request("get", key)
	q.query = o.set(url.Values{})
	var t Table
	m, err := r.tablePage(ctx, q, o, false, &t)
	if err != nil {
		return Table{}, q.failPage(1, err)
	}
	t.ResourceVersion = m.ResourceVersion
	return t, nil
}

// The kind of a table, and the media types to ask for. A server that makes no tables may send the objects, which is
// better than nothing.
const (
	tableAPIVersion = "meta.k8s.io/v1"
	tableKind       = "Table"
	tableAccept     = jsonType + ";as=Table;v=v1;g=meta.k8s.io," + jsonType
)

// tableBody is a table on the wire.
type tableBody struct {
	meta.ListMeta `json:"metadata"`
	Columns       []Column   `json:"columnDefinitions"`
	Rows          []tableRow `json:"rows"`
}

type tableRow struct {
	Cells  tableCells      `json:"cells"`
	Object json.RawMessage `json:"object"`
}

// tableCells keep integers as integers, as an Unstructured does.
type tableCells []any

// UnmarshalJSON implements json.Unmarshaler.
func (c *tableCells) UnmarshalJSON(b []byte) error {
	var u meta.Unstructured
	if err := u.UnmarshalJSON(slices.Concat([]byte(`{"cells":`), b, []byte("}"))); err != nil {
		return err
	}
	cells, ok := u.Object["cells"].([]any)
	if !ok && u.Object["cells"] != nil {
		return errors.New("cells must be an array")
	}
	*c = cells
	return nil
}

// sendTables sends a request for tables, which come as JSON.
func (r resource) sendTables(ctx context.Context, q request) (*http.Response, error) {
	return r.sendDropping(ctx, q, false, func(ctx context.Context, q request, _ bool) (*http.Response, error) { return r.send(ctx, q) })
}

// tablePage reads one answer and adds its rows to t. The caller passes its errors to q.failPage.
func (r resource) tablePage(ctx context.Context, q request, o TableOptions, managedFields bool, t *Table) (meta.ListMeta, error) {
	q.accept = tableAccept
	resp, err := r.sendTables(ctx, q)
	if err != nil {
		return meta.ListMeta{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	item, err := jsonstream.ReadObject(resp.Body, r.c.streamOptions(managedFields))
	if err != nil {
		return meta.ListMeta{}, readError(ctx, resp, err)
	}
	if err := refusal(item.Raw, item.Kind); err != nil {
		return meta.ListMeta{}, err
	}
	first := t.Columns == nil
	isTable := item.Kind == tableKind && item.APIVersion == tableAPIVersion
	if !first && isTable == t.Plain {
		return meta.ListMeta{}, errors.New("server sent some pages as tables and others as lists")
	}
	from := len(t.Rows)
	var m meta.ListMeta
	if isTable {
		m, err = t.add(item, false)
	} else {
		m, err = r.addPlain(t, item, q)
	}
	if err != nil {
		return meta.ListMeta{}, err
	}
	return m, r.finishRows(t.Rows[from:], o, managedFields)
}

// add adds the rows of a table. mayChange says that the table may have other columns than t has so far.
func (t *Table) add(item jsonstream.Item, mayChange bool) (meta.ListMeta, error) {
	body, err := codec.Unmarshal[*tableBody](item.Raw)
	if err != nil {
		return meta.ListMeta{}, fmt.Errorf("decode a table: %w", err)
	}
	switch {
	case t.Columns == nil, mayChange && len(body.Columns) > 0:
		t.Columns = append([]Column{}, body.Columns...)
	case len(body.Columns) > 0 && !slices.Equal(t.Columns, body.Columns):
		return meta.ListMeta{}, errors.New("server sent a page whose columns differ from those of the first page")
	}
	for _, row := range body.Rows {
		cells := make([]any, len(t.Columns)) // a server may send rows with more cells
		copy(cells, row.Cells)
		t.Rows = append(t.Rows, Row{Cells: cells, Raw: row.Object})
	}
	return body.ListMeta, nil
}

// addPlain makes one row for each object that the server sent instead of a table.
func (r resource) addPlain(t *Table, item jsonstream.Item, q request) (meta.ListMeta, error) {
	kind := r.t.Kind
	if q.collection {
		kind = listKind(r.t)
	}
	if err := checkKind(item.APIVersion, item.Kind, r.gvk().APIVersion(), kind); err != nil {
		return meta.ListMeta{}, err
	}
	list := &meta.List[json.RawMessage]{Items: []json.RawMessage{item.Raw}, ListMeta: meta.ListMeta{ResourceVersion: item.ResourceVersion}}
	var err error
	if q.collection {
		list, err = codec.Unmarshal[*meta.List[json.RawMessage]](item.Raw)
	}
	if err != nil {
		return meta.ListMeta{}, fmt.Errorf("decode the objects that the server sent instead of a table: %w", err)
	}
	t.Plain = true
	t.Columns = []Column{{Name: "Name", Type: "string", Format: "name"}, {Name: "Age", Type: "string"}}
	now := time.Now()
	for _, raw := range list.Items {
		if string(raw) == "null" {
			return meta.ListMeta{}, errors.New("server sent null instead of an object in the list")
		}
		obj, err := codec.Unmarshal[*meta.Partial](raw)
		if err != nil {
			return meta.ListMeta{}, fmt.Errorf("decode the objects that the server sent instead of a table: %w", err)
		}
		t.Rows = append(t.Rows, Row{Cells: []any{obj.Name, age(obj.CreationTimestamp.Time, now)}, Raw: raw})
	}
	return list.ListMeta, nil
}

// age returns the time between then and now, in the largest unit in which it is at least 2.
func age(then, now time.Time) string {
	if then.IsZero() {
		return "<unknown>"
	}
	const day = 24 * time.Hour
	switch d := max(0, now.Sub(then)); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return fmt.Sprintf("%dd", d/day)
	}
}

// Wide returns the table with all its columns always shown, whatever their priority.
func (t Table) Wide() Table {
	t.Columns = slices.Clone(t.Columns)
	for i := range t.Columns {
		t.Columns[i].Priority = 0
	}
	return t
}

// Write writes the table as text, in aligned columns under a line of headings. It writes the columns of priority 0. If
// the rows are in several namespaces, the first column is the namespace. A cell shows its first line, without control
// characters; nil and the empty string are "<none>".
func (t Table) Write(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	namespaces := slices.ContainsFunc(t.Rows, func(r Row) bool { return r.namespace() != t.Rows[0].namespace() })
	var cells []string
	line := func() {
		// text/tabwriter aligns cells that end in a tab; the last one does not.
		_, _ = io.WriteString(out, strings.Join(cells, "\t")+"\n") // Flush returns its error
		cells = cells[:0]
	}
	if namespaces {
		cells = append(cells, "NAMESPACE")
	}
	for _, c := range t.Columns {
		if c.Priority == 0 {
			cells = append(cells, strings.ToUpper(cellText(c.Name)))
		}
	}
	line()
	for _, r := range t.Rows {
		if namespaces {
			cells = append(cells, cellText(r.namespace()))
		}
		for i, c := range t.Columns {
			if c.Priority == 0 {
				var v any
				if i < len(r.Cells) { // a row that the caller made may have fewer cells
					v = r.Cells[i]
				}
				cells = append(cells, cellText(v))
			}
		}
		line()
	}
	return out.Flush()
}

// String returns what Write writes.
func (t Table) String() string {
	var b strings.Builder
	_ = t.Write(&b) // a Builder returns no error
	return b.String()
}

func (r Row) namespace() string {
	if r.Object == nil {
		return ""
	}
	return r.Object.Namespace
}

// cellText returns the text of a cell for people.
func cellText(v any) string {
	var text string
	switch v := v.(type) {
	case nil:
	case string:
		text = v
	case map[string]any, []any:
		b, err := json.Marshal(v)
		if err != nil {
			b = []byte(err.Error())
		}
		text = string(b)
	default:
		text = fmt.Sprint(v)
	}
	text, _, _ = strings.Cut(text, "\n")
	if text = shown.Text(strings.ReplaceAll(text, "\t", " ")); text == "" {
		return "<none>"
	}
	return text
}
