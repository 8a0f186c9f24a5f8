package clienttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/messages"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

// frameWriter writes the events of one watch.
type frameWriter struct {
	*call
	conn *http.ResponseController

	buf     bytes.Buffer // the frame being built
	columns bool         // a Table's columns have been sent
}

// open starts the answer.
func (fw *frameWriter) open() error {
	h := fw.w.Header()
	h.Set("Cache-Control", "no-cache, private")
	h.Set("Content-Type", mediaJSON)
	if fw.media == mediaProtobuf {
		h.Set("Content-Type", messages.StreamType)
	}
	fw.w.WriteHeader(http.StatusOK)
	return fw.flush()
}

func (fw *frameWriter) flush() error { return fw.conn.Flush() }

// event sends an event as a selection sees it: an object that starts to match is added, and an object that no longer
// matches is deleted.
func (fw *frameWriter) event(sel *selection, e *store.Event) error {
	was, is := sel.matches(e.Prev), sel.matches(e.Next)
	switch {
	case is && was:
		return fw.send("MODIFIED", e.Next)
	case is:
		return fw.send("ADDED", e.Next)
	case was:
		return fw.send("DELETED", e.Prev.At(e.Version))
	}
	return nil
}

func (fw *frameWriter) send(kind string, v *object.Revision) error {
	return fw.write(kind, func() error { return fw.appendObject(fw.shown(v)) })
}

// appendObject appends v in the wanted form.
func (fw *frameWriter) appendObject(v *object.Revision) error {
	switch fw.form {
	case asTable:
		t, err := fw.table([]*object.Revision{v}, listMeta(v.Version), !fw.columns)
		if err != nil {
			return err
		}
		fw.columns = true
		return fw.appendJSON(t)
	case asMetadata:
		fw.buf.WriteString(fw.partialStart())
		fw.buf.Write(v.Metadata())
		fw.buf.WriteByte('}')
	default:
		fw.buf.Write(v.Raw)
	}
	return nil
}

// sendBookmark sends an object that has only a version and, at the end of the initial events, an annotation that says
// so.
func (fw *frameWriter) sendBookmark(version uint64, initialEnd bool) error {
	d := &object.Draft{}
	if initialEnd {
		d.Meta.Annotations = map[string]string{"k8s.io/initial-events-end": "true"}
	}
	v := d.Revision(&fw.res.Type, version)
	if fw.res.Blank != nil {
		v.Raw = slices.Concat(v.Raw[:len(v.Raw)-1], []byte(","+fw.res.Blank.Text+"}"))
	}
	return fw.send("BOOKMARK", v)
}

// sendFailure sends err as an ERROR event. If err is not a Status, it sends nothing and returns err.
func (fw *frameWriter) sendFailure(err error) error {
	failure, ok := errors.AsType[*status.Error](err)
	if !ok {
		return err
	}
	if err := fw.open(); err != nil {
		return err
	}
	return fw.sendError(failure)
}

// sendError sends an ERROR event, which must be the last.
func (fw *frameWriter) sendError(failure *status.Error) error {
	if err := fw.write("ERROR", func() error { return fw.appendJSON(failure.Status) }); err != nil {
		return err
	}
	return fw.flush()
}

func (fw *frameWriter) appendJSON(v any) error {
	b, err := json.Marshal(v)
	fw.buf.Write(b)
	return err
}

func (fw *frameWriter) write(kind string, appended func() error) error {
	fw.buf.Reset()
	if fw.media == mediaProtobuf {
		if err := appended(); err != nil {
			return err
		}
		frame, err := messages.Event(kind, fw.buf.Bytes())
		if err != nil {
			return err
		}
		_, err = fw.w.Write(frame)
		return err
	}
	fw.buf.WriteString(`{"type":"` + kind + `","object":`)
	if err := appended(); err != nil {
		return err
	}
	fw.buf.WriteString("}\n")
	_, err := fw.w.Write(fw.buf.Bytes())
	return err
}

// half sends the first half of a frame, so that a watch is cut within a frame.
func (fw *frameWriter) half() {
	fw.buf.Reset()
	if fw.media == mediaProtobuf {
		fw.buf.WriteString("\x00\x00\x04\x00\n\x08MODIFIED\x12\xf3\x07\n\xf0\x07k8s\x00")
	} else {
		fw.buf.WriteString(`{"type":"MODIFIED","object":` + fw.res.Prefix() + `"metadata":{"name":"cut-in-mid-`)
	}
	_, _ = fw.w.Write(fw.buf.Bytes())
	_ = fw.flush()
}
