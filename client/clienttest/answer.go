package clienttest

import (
	"bufio"
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/kubectl"
	"github.com/bowline-go/bowline/client/clienttest/internal/messages"
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

// table renders objects as rows. columns says whether to send the names of the columns as well; a watch sends them
// with its first event.
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

// writeList writes a page, in the member order of a real server: compiled-in types write metadata before the items,
// custom ones after.
func (c *call) writeList(p *page) error {
	if c.form == asTable {
		return c.writeTable(p)
	}
	head, tail := c.listFrame(p)
	item := func(v *object.Revision) (string, []byte) { return v.Item(&c.res.Type) }
	if c.form == asMetadata {
		start := c.partialStart()
		item = func(v *object.Revision) (string, []byte) { return start, v.Metadata() }
	}
	if c.media == mediaProtobuf {
		return c.writeProtobufList(p, head+tail)
	}
	size := len(head) + len(tail)
	for _, v := range p.items {
		open, rest := item(v)
		size += len(open) + len(rest) + 1
	}
	h := c.w.Header()
	h.Set("Cache-Control", "no-cache, private")
	h.Set("Content-Type", mediaJSON)
	out, finish := c.compressed(c.w, c.r, size)
	defer finish()
	b := bufio.NewWriterSize(out, 32<<10)
	_, _ = b.WriteString(head)
	for i, v := range p.items {
		if i > 0 {
			_ = b.WriteByte(',')
		}
		open, rest := item(v)
		_, _ = b.WriteString(open)
		_, _ = b.Write(rest)
		if c.form == asMetadata {
			_ = b.WriteByte('}')
		}
	}
	_, _ = b.WriteString(tail)
	_ = b.Flush() // ignored: the client may have gone
	return nil
}

// writeProtobufList writes a page in protobuf. list is its JSON without items.
func (c *call) writeProtobufList(p *page, list string) error {
	apiVersion, kind := c.listKind()
	l, err := messages.NewList([]byte(list), apiVersion, kind)
	if err != nil {
		return err
	}
	var partial []byte
	for _, v := range p.items {
		item := v.Raw
		if c.form == asMetadata {
			partial = append(append(append(partial[:0], c.partialStart()...), v.Metadata()...), '}')
			item = partial
		}
		if err := l.Add(item); err != nil {
			return err
		}
	}
	writeBody(c.w, http.StatusOK, mediaProtobuf, l.Envelope())
	return nil
}

// listKind returns the apiVersion and the kind of a list.
func (c *call) listKind() (apiVersion, kind string) {
	if c.form == asMetadata {
		return c.metaVersion(), "PartialObjectMetadataList"
	}
	return c.res.GVK().APIVersion(), cmp.Or(c.res.listKind, c.res.Kind+"List")
}

// listFrame returns the text of a list before and after its items.
func (c *call) listFrame(p *page) (head, tail string) {
	apiVersion, kind := c.listKind()
	version := fmt.Sprintf(`"resourceVersion":"%d"`, p.version)
	remaining := ""
	if p.remaining >= 0 {
		remaining = fmt.Sprintf(`,"remainingItemCount":%d`, p.remaining)
	}
	if c.res.Builtin || c.form == asMetadata {
		if p.next != "" {
			version += fmt.Sprintf(`,"continue":%q`, p.next)
		}
		if p.shard != "" && c.form != asMetadata { // a real server loses it when it converts the list
			remaining += fmt.Sprintf(`,"shardInfo":{"selector":%q}`, p.shard)
		}
		head = fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{%s%s},"items":[`, kind, apiVersion, version, remaining)
		return head, "]}\n"
	}
	return fmt.Sprintf(`{"apiVersion":%q,"items":[`, apiVersion),
		fmt.Sprintf(`],"kind":%q,"metadata":{"continue":%q%s,%s}}`+"\n", kind, p.next, remaining, version)
}

func (c *call) writeTable(p *page) error {
	m := listMeta(p.version)
	m.Continue = p.next
	if p.remaining >= 0 {
		m.RemainingItemCount = new(int64(p.remaining))
	}
	t, err := c.table(p.items, m, true)
	if err != nil {
		return err
	}
	writeJSON(c.w, http.StatusOK, t)
	return nil
}
