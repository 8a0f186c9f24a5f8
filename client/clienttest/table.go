package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

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
		t.Columns = c.res.columns
	}
	if err := c.checkInclude(); err != nil {
		return nil, err
	}
	include := c.query.Get("includeObject")
	now := time.Now()
	for _, v := range vs {
		d := v.draft()
		row := tableRow{Cells: c.res.print(&printed{value: value{d.content}, meta: d.meta, now: now})}
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
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	d := now.Sub(then)
	if d <= -2*time.Second {
		return "<invalid>"
	}
	d = max(0, d)
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
	case d < 2*year:
		return fmt.Sprintf("%dd", d/day)
	case d < 8*year:
		return two(year, day, "y", "d")
	}
	return fmt.Sprintf("%dy", d/year)
}

// columnsOf reads the columns of a row of kinds.json.
func columnsOf(rows [][]any) []tableColumn {
	var out []tableColumn
	for _, row := range rows {
		c := tableColumn{Type: "string"}
		for i, v := range row {
			switch s, _ := v.(string); i {
			case 0:
				c.Name = s
			case 1:
				c.Type = s
			case 2:
				c.Format = s
			case 3:
				n, _ := v.(float64)
				c.Priority = int(n)
			}
		}
		out = append(out, c)
	}
	return out
}

// plainColumns are the columns of a custom resource, and plainCells their cells.
func plainColumns() []tableColumn {
	return []tableColumn{{Name: "Name", Type: "string", Format: "name"}, {Name: "Age", Type: "date"}}
}

func plainCells(o *printed) []any { return []any{o.name(), o.age()} }
