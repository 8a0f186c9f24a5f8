package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/pipeline"
)

// TableInclude says what each row of a table has of its object (the API's includeObject).
type TableInclude string

const (
	// IncludeMetadata is the default: Row.Object.
	IncludeMetadata TableInclude = ""
	// IncludeObject adds Row.Raw, the whole object.
	IncludeObject TableInclude = "Object"
	// IncludeNone leaves both out. The rows then have nothing but their cells, and Row.Object is nil.
	IncludeNone TableInclude = "None"
)

// TableOptions choose what a table has. The zero value is the default.
type TableOptions struct {
	// Include says what each row has of its object.
	Include TableInclude
	// ResourceVersion is that of [GetOptions], for [Resource.TableOf] only. Lists and watches have their own.
	ResourceVersion string
}

// validate returns the reason why o cannot be used. one says that the table is of one object.
func (o TableOptions) validate(one bool) error {
	switch o.Include {
	case IncludeMetadata, IncludeObject, IncludeNone:
	default:
		return fmt.Errorf("client.TableOptions: Include must be Object, None or empty, got %q", o.Include)
	}
	if o.ResourceVersion != "" && !one {
		return errors.New("client.TableOptions: ResourceVersion is for TableOf; ListOptions and WatchOptions have their own")
	}
	return nil
}

// TableEvent is one event of a watch of tables.
type TableEvent struct {
	// Type is the event's type.
	Type EventType
	// Table has the row of the event's object, and none for Bookmark. Its columns are those of the watch, also where the server
	// does not repeat them, and its resource version is the one to resume from after this event.
	Table Table
	// InitialEventsEnd is that of [Event].
	InitialEventsEnd bool
}

// WatchTable opens one HTTP watch, as [Resource.Watch] does, and iterates over its events as tables of one row, whatever T is. So a
// program can print what changes as kubectl does. A server that makes no tables sends the objects; see Table.Plain. Any error is
// final, except a *DecodeError: it is about one event that cannot be read, and the next events follow.
//
// WatchOptions.Skip must not be set. With [IncludeNone] a server cannot mark the end of the initial events, so InitialEvents must
// not be set either.
func (r Resource[T]) WatchTable(ctx context.Context, o WatchOptions, t TableOptions) iter.Seq2[TableEvent, error] {
	return func(yield func(TableEvent, error) bool) {
		errLeft := errors.New("loop left")
		q := r.watchRequest(o)
		err := r.eachTable(ctx, q, o, t, func(e TableEvent, err error) error {
			if !yield(e, q.fail(err)) {
				return errLeft
			}
			return nil
		})
		if err != nil && err != errLeft {
			yield(TableEvent{}, err)
		}
	}
}

// tableItem is a TableEvent in the pipeline.
type tableItem struct {
	event TableEvent
	err   error
}

func (r Resource[T]) eachTable(ctx context.Context, q request, o WatchOptions, t TableOptions, fn func(TableEvent, error) error) error {
	query, err := o.query()
	switch {
	case err != nil:
	case t.validate(false) != nil:
		err = t.validate(false)
	case o.Skip != nil:
		err = errors.New("client.WatchOptions: Skip must not be set for a watch of tables")
	case o.InitialEvents && t.Include == IncludeNone:
		err = errors.New("client.WatchOptions: InitialEvents must not be set where TableOptions.Include is None")
	}
	if err != nil {
		return q.fail(&UsageError{Err: err})
	}
	set(query, "includeObject", string(t.Include))
	q.query, q.accept = query, tableAccept
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

// tableEvent makes an event of one frame. An error is final.
func (r Resource[T]) tableEvent(f jsonstream.Frame, o TableOptions, managedFields bool, columns *[]Column) (tableItem, error) {
	e := TableEvent{Type: EventType(f.Type)}
	unusable := func(err error) (tableItem, error) {
		return tableItem{}, &EventError{Type: e.Type, Identity: f.Identity, Err: err}
	}
	switch e.Type {
	case Added, Modified, Deleted, Bookmark:
	case errorEvent:
		return tableItem{}, r.watchError(f)
	default:
		return unusable(errors.New("its type is unknown"))
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
		if row.Object != nil {
			e.InitialEventsEnd = e.InitialEventsEnd || e.Type == Bookmark && row.Object.Annotations[jsonstream.SyncEnd] == "true"
			if e.Table.ResourceVersion == "" {
				e.Table.ResourceVersion = row.Object.ResourceVersion
			}
		}
	}
	if e.Type == Bookmark {
		e.Table.Rows = nil // the server sends one for it
	}
	*columns = e.Table.Columns
	if e.Table.ResourceVersion == "" {
		return unusable(lacks(f.Raw, "resourceVersion"))
	}
	return tableItem{event: e}, nil
}

// finishRows completes rows that came from the server: Raw has the object as it came so far, if there is one.
func (r Resource[T]) finishRows(rows []Row, o TableOptions, managedFields bool) error {
	for i := range rows {
		row := &rows[i]
		raw := row.Raw
		row.Raw = nil
		if o.Include == IncludeNone {
			row.Object = nil
			continue
		}
		if row.Object == nil {
			row.Object = new(meta.Partial)
		}
		if raw != nil && string(raw) != "null" {
			item, err := jsonstream.ReadObject(bytes.NewReader(raw), r.c.streamOptions(managedFields))
			if err != nil {
				return fmt.Errorf("decode the object of a row: %w", publicError(err))
			}
			if row.Object, err = codec.Unmarshal[*meta.Partial](item.Raw); err != nil {
				return fmt.Errorf("decode the object of a row: %w", err)
			}
			if o.Include == IncludeObject {
				row.Raw = item.Raw
			}
		}
		row.Object.SetTypeMeta(r.t.GVK().APIVersion(), r.t.Kind)
		if !managedFields {
			row.Object.ManagedFields = nil
		}
	}
	return nil
}
