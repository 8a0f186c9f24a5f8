package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// column is a column of a resource's Table beside Name and Age.
type column struct {
	name string
	cell func(content members) any
}

// field is a column that shows a scalar.
func field(name, path string) column {
	return column{name, func(m members) any { return lookup(m, path) }}
}

func textMap(m members, name string) members {
	t, _ := m[name].(members)
	return t
}

// table is the Table of meta.k8s.io/v1: what kubectl prints.
type table struct {
	Kind          string `json:"kind"`
	APIVersion    string `json:"apiVersion"`
	meta.ListMeta `json:"metadata"`
	Columns       []tableColumn `json:"columnDefinitions"`
	Rows          []tableRow    `json:"rows"`
}

type tableColumn struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int    `json:"priority"`
}

type tableRow struct {
	Cells  []any           `json:"cells"`
	Object json.RawMessage `json:"object"`
}

// table renders objects as rows. columns is whether their names are sent as well; a watch sends them with its first
// event.
func (c *call) table(vs []*revision, m meta.ListMeta, columns bool) (*table, error) {
	t := &table{Kind: "Table", APIVersion: c.metaVersion(), ListMeta: m, Rows: make([]tableRow, 0, len(vs))}
	if columns {
		t.Columns = append(t.Columns, tableColumn{
			Name: "Name", Type: "string", Format: "name", Description: "The object's name.",
		})
		for _, col := range c.res.columns {
			t.Columns = append(t.Columns, tableColumn{Name: col.name, Type: "string"})
		}
		t.Columns = append(t.Columns, tableColumn{
			Name: "Age", Type: "string", Description: "How long ago the object was created.",
		})
	}
	if err := c.checkInclude(); err != nil {
		return nil, err
	}
	include := c.query.Get("includeObject")
	now := time.Now()
	for _, v := range vs {
		d := v.draft()
		row := tableRow{Cells: []any{v.key.Name}}
		for _, col := range c.res.columns {
			row.Cells = append(row.Cells, col.cell(d.content))
		}
		row.Cells = append(row.Cells, ageOf(d.meta.CreationTimestamp.Time, now))
		switch include {
		case "", "Metadata":
			row.Object = fmt.Appendf(nil, "%s%s}", c.partialStart(), v.metadata())
		case "Object":
			row.Object = v.raw
		case "None":
			row.Object = json.RawMessage("null")
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// checkInclude refuses what no row of a Table can have for its object.
func (c *call) checkInclude() error {
	switch include := c.query.Get("includeObject"); include {
	case "", "Metadata", "Object", "None":
		return nil
	default:
		return badRequest("Unable to convert to Table as requested: includeObject: Invalid value: %q: "+
			"must be 'Metadata', 'Object', 'None', or empty", include)
	}
}

func (c *call) writeTable(w http.ResponseWriter, p *page) error {
	m := meta.ListMeta{ResourceVersion: strconv.FormatUint(p.version, 10), Continue: p.next}
	if p.remaining >= 0 {
		n := int64(p.remaining)
		m.RemainingItemCount = &n
	}
	t, err := c.table(p.items, m, true)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, t)
	return nil
}

// ageOf prints a span of time as kubectl's users know it: exact while it is short, coarse when it is long.
func ageOf(then, now time.Time) string {
	if then.IsZero() {
		return "<unknown>"
	}
	const day = 24 * time.Hour
	d := max(0, now.Sub(then))
	two := func(unit, rest time.Duration, name, restName string) string {
		if d%unit < rest {
			return fmt.Sprintf("%d%s", d/unit, name)
		}
		return fmt.Sprintf("%d%s%d%s", d/unit, name, d%unit/rest, restName)
	}
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 10*time.Minute:
		return two(time.Minute, time.Second, "m", "s")
	case d < 3*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 8*time.Hour:
		return two(time.Hour, time.Minute, "h", "m")
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 8*day:
		return two(day, time.Hour, "d", "h")
	}
	return fmt.Sprintf("%dd", d/day)
}
