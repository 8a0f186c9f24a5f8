package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/printing"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// table is the Table of meta.k8s.io/v1: what kubectl prints.
type table struct {
	Kind          string `json:"kind"`
	APIVersion    string `json:"apiVersion"`
	meta.ListMeta `json:"metadata"`
	Columns       []printing.Column `json:"columnDefinitions"`
	Rows          []tableRow        `json:"rows"`
}

type tableRow struct {
	Cells  []any           `json:"cells"`
	Object json.RawMessage `json:"object"`
}

// table renders objects as rows. columns says whether to send the names of the columns as well; a watch sends them with its first
// event.
func (c *call) table(vs []*object.Revision, m meta.ListMeta, columns bool) (*table, error) {
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
		d := v.Draft()
		row := tableRow{Cells: c.res.print(printing.NewObject(d.Content, d.Meta, now))}
		switch include {
		case "", "Metadata":
			row.Object = fmt.Appendf(nil, "%s%s}", c.partialStart(), v.Metadata())
		case "Object":
			row.Object = v.Raw
		case "None":
			row.Object = json.RawMessage("null")
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// checkInclude refuses an invalid value of includeObject, which selects the object of each row.
func (c *call) checkInclude() error {
	switch include := c.query.Get("includeObject"); include {
	case "", "Metadata", "Object", "None":
		return nil
	default:
		return status.BadRequest("Unable to convert to Table as requested: includeObject: Invalid value: %q: "+
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
