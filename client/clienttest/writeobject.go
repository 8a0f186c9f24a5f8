package clienttest

import (
	"fmt"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/kubectl"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/meta"
)

// writeObject answers with one object in the wanted form.
func (c *call) writeObject(code int, v *object.Revision) error {
	v = c.shown(v)
	switch c.form {
	case asTable:
		t, err := c.table([]*object.Revision{v}, listMeta(v.Version), true)
		if err != nil {
			return err
		}
		writeJSON(c.w, code, t)
	case asMetadata:
		writeBody(c.w, code, mediaJSON, append(c.partial(v.Metadata()), '\n'))
	default:
		c.w.Header().Set("Cache-Control", "no-cache, private")
		c.w.Header().Set("Content-Type", mediaJSON)
		c.writeCompressed(c.w, c.r, code, v.Raw, []byte("\n"))
	}
	return nil
}

// partial returns an object that has only metadata.
func (c *call) partial(metadata []byte) []byte {
	return fmt.Appendf(nil, "%s%s}", c.partialStart(), metadata)
}

func listMeta(version uint64) meta.ListMeta {
	return meta.ListMeta{ResourceVersion: strconv.FormatUint(version, 10)}
}

// include returns the parameter that selects the object of each row of a Table.
func (c *call) include() kubectl.Include { return kubectl.Include(c.query.Get("includeObject")) }

// table renders objects as rows. columns says whether to send the names of the columns as well; a watch sends them with its first
// event.
func (c *call) table(vs []*object.Revision, m meta.ListMeta, columns bool) (*kubectl.Table, error) {
	t := &kubectl.Table{Kind: "Table", APIVersion: c.metaVersion(), ListMeta: m, Rows: make([]kubectl.Row, 0, len(vs))}
	if columns {
		t.Columns = c.res.columns
	}
	if err := c.include().Check(); err != nil {
		return nil, err
	}
	present := time.Now()
	for _, v := range vs {
		d := v.Draft()
		cells := c.res.print(kubectl.NewObject(d.Content, d.Meta, present))
		t.Add(cells, c.include(), v.Raw, func() []byte { return c.partial(v.Metadata()) })
	}
	return t, nil
}
