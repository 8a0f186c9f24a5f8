package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/pipeline"
)

// TableOptions choose what a table has. The zero value is the default.
type TableOptions struct {
	// WholeObjects adds Row.Raw, the whole object (the API's includeObject).
	WholeObjects bool
}

// set adds the parameters that o stands for to query, and returns it.
func (o TableOptions) set(query url.Values) url.Values {
	if o.WholeObjects {
		query.Set("includeObject", "Object")
	}
	return query
}

// TableEvent is one event of a watch of tables.
type TableEvent struct {
	// Type is the event's type.
	Type EventType
	// Table has the row of the event's object, and none for Bookmark. Its columns are those of the watch, even if the
	// server does not repeat them, and its resource version is the one to resume from after this event.
	Table Table
	// InitialEventsEnd has the same meaning as in [Event].
	InitialEventsEnd bool
}

// WatchTable opens one HTTP watch, as [Resource.Watch] does, and iterates over its events as tables of one row,
// whatever T is. So a program can print changes in the way kubectl does. A server that makes no tables sends the
// objects; see Table.Plain. Any error is final, except a *DecodeError: it is about one event that cannot be read, and
// the next events follow.
//
// WatchOptions.Skip must not be set.
func (r Resource[T]) WatchTable(ctx context.Context, o WatchOptions, t TableOptions) iter.Seq2[TableEvent, error] {
	return r.untyped.watchTable(ctx, o, t)
}

func (r resource) watchTable(ctx context.Context, o WatchOptions, t TableOptions) iter.Seq2[TableEvent, error] {
	return sequence(func(hand func(TableEvent, error) error) error {
		q := r.watchRequest(o)
		return r.eachTable(ctx, q, o, t, func(e TableEvent, err error) error { return hand(e, q.fail(err)) })
	})
}

// tableItem is a TableEvent in the pipeline.
type tableItem struct {
	event TableEvent
	err   error
}

func (r resource) eachTable(ctx context.Context, q request, o WatchOptions, t TableOptions, fn func(TableEvent, error) error) error {
	query, err := o.query()
	if err == nil && o.Skip != nil {
		err = errors.New("client.WatchOptions: Skip must not be set for a watch of tables")
	}
	if err != nil {
		return q.fail(&UsageError{Err: err})
	}
	q.query, q.accept = t.set(query), tableAccept
	resp, err := r.sendTables(ctx, q)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if o.OnOpen != nil {
		o.OnOpen()
	}
	pipe := pipeline.New(&r.c.decoders, func(*tableItem, jsonstream.Item) {}, func(i tableItem) error {
		if ctx.Err() != nil {
			return q.fail(conn.ContextError(ctx))
		}
		return fn(i.event, i.err)
	})
	defer pipe.Stop()
	begun := false
	var columns []Column
	frames := jsonstream.NewWatch(nil, r.c.streamOptions(o.KeepManagedFields))
	return pipe.Watch(resp.Body, frames, func(f jsonstream.Frame) (tableItem, bool, error) {
		begun = true
		item, err := r.tableEvent(f, t, o.KeepManagedFields, &columns)
		return item, false, q.fail(err)
	}, func(err error) error {
		return q.fail(r.streamError(ctx, resp, begun, err))
	})
}

// tableEvent makes an event from one frame. An error is final.
func (r resource) tableEvent(f jsonstream.Frame, o TableOptions, managedFields bool, columns *[]Column) (tableItem, error) {
	e := TableEvent{Type: EventType(f.Type)}
	unusable := func(err error) (tableItem, error) {
		return tableItem{}, &EventError{kind: e.Type, key: f.Key(), Err: err}
	}
	switch e.Type {
	case Added, Modified, Deleted, Bookmark:
	case errorEvent:
		return tableItem{}, r.watchError(f)
	default:
		return unusable(errUnknownEvent)
	}
	if f.Limit != nil {
		return tableItem{e, &DecodeError{Identity: f.Identity, Err: publicError(f.Limit)}}, nil
	}
	e.Table.Columns = *columns
	if f.Kind == tableKind && f.APIVersion == tableAPIVersion {
		if _, err := e.Table.add(f.Item, true); err != nil {
			return tableItem{e, &DecodeError{Identity: f.Identity, Err: err}}, nil
		}
	} else {
		if err := r.checkKind(f.APIVersion, f.Kind); err != nil {
			return unusable(err)
		}
		if _, err := r.addPlain(&e.Table, f.Item, request{}); err != nil {
			return tableItem{e, &DecodeError{Identity: f.Identity, Err: err}}, nil
		}
		e.InitialEventsEnd = f.InitialEventsEnd
	}
	if err := r.finishRows(e.Table.Rows, o, managedFields); err != nil {
		return tableItem{e, &DecodeError{Identity: f.Identity, Err: err}}, nil
	}
	e.Table.ResourceVersion = f.ResourceVersion
	for _, row := range e.Table.Rows {
		e.InitialEventsEnd = e.InitialEventsEnd || e.Type == Bookmark && row.Object.Annotations[jsonstream.SyncEnd] == "true"
		e.Table.ResourceVersion = cmp.Or(e.Table.ResourceVersion, row.Object.ResourceVersion)
	}
	if e.Type == Bookmark {
		e.Table.Rows = nil // the server sends a row for a bookmark
	}
	*columns = e.Table.Columns
	if e.Table.ResourceVersion == "" {
		return unusable(lacks(f.Raw, "resourceVersion"))
	}
	return tableItem{event: e}, nil
}

// finishRows completes rows that came from the server. On entry, Raw has the object as the server sent it, if it sent
// one.
func (r resource) finishRows(rows []Row, o TableOptions, managedFields bool) error {
	for i := range rows {
		row := &rows[i]
		raw := row.Raw
		row.Raw, row.Object = nil, new(meta.Partial)
		if raw != nil && string(raw) != "null" {
			item, err := jsonstream.ReadObject(bytes.NewReader(raw), r.c.streamOptions(managedFields))
			if err != nil {
				return fmt.Errorf("decode the object of a row: %w", publicError(err))
			}
			if row.Object, err = codec.Unmarshal[*meta.Partial](item.Raw); err != nil {
				return fmt.Errorf("decode the object of a row: %w", err)
			}
			if o.WholeObjects {
				row.Raw = item.Raw
			}
		}
		row.Object.SetTypeMeta(r.gvk().APIVersion(), r.t.Kind)
		if !managedFields {
			row.Object.ManagedFields = nil
		}
	}
	return nil
}
