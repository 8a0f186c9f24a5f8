package clienttest

import (
	"bufio"
	"fmt"
	"net/http"

	"github.com/bowline-go/bowline/client/clienttest/internal/messages"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
)

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
	return c.res.GVK().APIVersion(), c.res.Kind + "List"
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
		if p.shard != "" && c.form != asMetadata { // a real server loses it where it converts the list
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
		n := int64(p.remaining)
		m.RemainingItemCount = &n
	}
	t, err := c.table(p.items, m, true)
	if err != nil {
		return err
	}
	writeJSON(c.w, http.StatusOK, t)
	return nil
}
