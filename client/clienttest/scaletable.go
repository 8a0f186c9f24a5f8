package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/printing"
	"github.com/bowline-go/bowline/client/meta"
)

// writeScale answers with a scale in the form that the client wants. As a Table it has columns of its own, whatever the
// object's are.
func (c *call) writeScale(w http.ResponseWriter, s *scale) error {
	f, err := c.formOf(false)
	if err != nil {
		return err
	}
	if f == asObject {
		writeJSON(w, http.StatusOK, s)
		return nil
	}
	metadata, err := json.Marshal(s.ObjectMeta)
	if err != nil {
		return err
	}
	partial := fmt.Appendf(nil, "%s%s}", c.partialStart(), metadata)
	if f == asMetadata {
		writeBody(w, http.StatusOK, mediaJSON, append(partial, '\n'))
		return nil
	}
	if err := c.checkInclude(); err != nil {
		return err
	}
	row := tableRow{
		Cells:  []any{s.Name, s.Spec.Replicas, s.Status.Replicas, printing.Age(s.CreationTimestamp.Time, time.Now())},
		Object: partial,
	}
	switch c.query.Get("includeObject") {
	case "None":
		row.Object = json.RawMessage("null")
	case "Object":
		if row.Object, err = json.Marshal(s); err != nil {
			return err
		}
	}
	writeJSON(w, http.StatusOK, table{
		Kind: "Table", APIVersion: c.metaVersion(), ListMeta: meta.ListMeta{ResourceVersion: s.ResourceVersion},
		Columns: []printing.Column{
			{Name: "Name", Type: "string", Description: "The object's name."},
			{Name: "Desired", Type: "integer", Description: "How many replicas are wanted."},
			{Name: "Available", Type: "integer", Description: "How many replicas there are."},
			{Name: "Age", Type: "string", Description: "How long ago the object was created."},
		},
		Rows: []tableRow{row},
	})
	return nil
}
