package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/retry"
	"github.com/bowline-go/bowline/internal/shown"
)

// conflictAttempts bounds how often one call writes the object that it has read. With the pauses between them, 50
// attempts take about 20 s while many writers change the object.
const conflictAttempts = 50

// attempts are the attempts of one call that reads an object and writes a change of it, and starts again after a
// conflict. Each attempt reads and writes; the retries of Config.Retry are within one attempt.
type attempts struct {
	r       resource
	q       request         // names the call and the object in errors
	absent  bool            // step also handles a missing object, as a zero Item
	quits   ModifyError     // the error of the call when it gives up
	lost    error           // the refusal of the last attempt, if there was one
	last    jsonstream.Item // the object that the last attempt was made from; zero if there was none
	backoff *retry.Backoff
}

func newAttempts(r resource, q request) *attempts {
	return &attempts{r: r, q: q, backoff: retry.New(retry.Policy{Base: 10 * time.Millisecond, Max: time.Second})}
}

// run reads the object and calls step with it, until step returns no refusal, there have been too many attempts, or ctx
// has ended. If the server refuses a write that may be repeated from the object's new state, step returns the refusal
// as lost. Otherwise lost is nil and err is the call's error.
func (a *attempts) run(ctx context.Context, step func(obj meta.Object, live jsonstream.Item) (lost, err error)) error {
	for {
		obj, live, err := a.r.get(ctx, a.q.key, a.q.subresource)
		switch {
		case a.absent && errors.Is(err, apierrors.NotFound):
			live = jsonstream.Item{}
		case err != nil:
			return a.unread(ctx, err)
		}
		if a.lost != nil {
			a.quits.wroteBetween(a.last, live)
		}
		lost, err := step(obj, live)
		if lost == nil {
			return err
		}
		if err := a.pause(ctx, live, lost); err != nil {
			return err
		}
	}
}

// because returns the error of a call that gives up.
func (a *attempts) because(err error) error {
	a.quits.Err = err
	return a.q.fail(&a.quits)
}

// ended returns the error of a call that gives up with err. The error also has the previous refusal, if there was one.
func (a *attempts) ended(err error) error {
	if a.lost != nil {
		err = fmt.Errorf("%w; before that: %w", err, a.lost)
	}
	return a.because(err)
}

// unread returns the error of the call after a read has failed with err. If the object is gone, err is the whole error.
func (a *attempts) unread(ctx context.Context, err error) error {
	if errors.Is(err, apierrors.NotFound) || !a.quits.MayHaveWritten && (a.lost == nil || ctx.Err() == nil) {
		return err
	}
	return a.ended(err)
}

// pause waits before the next attempt. The last attempt was made from live, and the server refused it with err. pause
// returns an error if there is no next attempt: the limit is reached, or ctx has ended.
func (a *attempts) pause(ctx context.Context, live jsonstream.Item, err error) error {
	if a.quits.Attempts == conflictAttempts {
		a.competing(ctx, live)
		return a.because(err)
	}
	a.lost, a.last = err, live
	if retry.Sleep(ctx, a.backoff.Next(0)) != nil {
		return a.ended(conn.ContextError(ctx))
	}
	return nil
}

// ModifyError is the error of a call that reads an object, changes it and writes it, when the call gives up.
// [Resource.Modify], [Resource.Ensure], [Resource.AddFinalizer] and [Resource.RemoveFinalizer] return it after 50
// attempts or because the context has ended. Modify also returns it when it cannot know whether it has written.
type ModifyError struct {
	// Attempts is how many times the change was sent, without the retries of Config.Retry.
	Attempts int
	// MayHaveWritten is set if the change may have taken effect nevertheless. Calling Modify again could then make the
	// change twice; the other calls may be repeated. If it is not set, nothing has been written, and Err wraps the last
	// refusal if there was one.
	MayHaveWritten bool
	// LostTo names the writer whose write made the last attempt fail, if it is known: the latest changed entry in
	// metadata.managedFields. Several entries may have changed.
	LostTo meta.ManagedFields
	// Err is the reason why the call gave up.
	Err error

	version string // the object's version after that write; empty if it is not known
}

// lostTo describes the write that came first, such as `"kubectl-edit" by Update at 2026-01-02T03:04:05Z (resource
// version "7")`. It is empty if no such write is known.
func (e *ModifyError) lostTo() string {
	w := e.LostTo
	if w.Manager == "" && e.version == "" {
		return ""
	}
	text := "another write"
	if w.Manager != "" {
		text = fmt.Sprintf("%q", shown.Text(w.Manager))
	}
	if w.Operation != "" {
		text += " by " + shown.Text(w.Operation)
	}
	if w.Subresource != "" {
		text += " of " + shown.Text(w.Subresource)
	}
	if w.Time != nil && !w.Time.IsZero() {
		text += " at " + w.Time.UTC().Format(time.RFC3339)
	}
	return text + fmt.Sprintf(" (resource version %q)", shown.Text(e.version))
}

// Error says how many attempts there were, which write won the last one, and why there is no further attempt.
func (e *ModifyError) Error() string {
	text := "gave up before the first attempt"
	if e.Attempts > 0 {
		text = fmt.Sprintf("gave up after attempt %d", e.Attempts)
	}
	if winner := e.lostTo(); winner != "" {
		text += ", lost against " + winner
	}
	if e.MayHaveWritten {
		text += ", which may have been written"
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns the reason why the call gave up.
func (e *ModifyError) Unwrap() error { return e.Err }

// refused reports whether err proves that a write has not been made. The caller has made sure that the write was sent
// once, or that its earlier attempts had no effect.
func refused(err error) bool {
	if errors.As(err, new(*UsageError)) || errors.As(err, new(*CredentialError)) || errors.As(err, new(*conn.SlowReadError)) {
		return true
	}
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		code := status.Status.Code
		if code >= 400 && code < 500 && code != http.StatusRequestTimeout || status.Is(apierrors.RequestEntityTooLarge) {
			return true
		}
	}
	return apierrors.SafeToRetry(err)
}

// competing reads the object once and notes the latest write since last, if there was one.
func (a *attempts) competing(ctx context.Context, last jsonstream.Item) {
	look := a.q
	look.verb, look.once = "get", true
	a.quits.LostTo, a.quits.version = meta.ManagedFields{}, ""
	// An object that cannot be read has neither a version nor managers.
	if _, now, _ := a.r.exchange(ctx, look); now.ResourceVersion != last.ResourceVersion {
		a.quits.wroteBetween(last, now)
	}
}

// wroteBetween notes the latest write between the two states of the object. If a manager writes the same fields again
// within a second, managedFields do not change; wroteBetween then notes the latest write of all.
func (e *ModifyError) wroteBetween(last, now jsonstream.Item) {
	e.LostTo, e.version = meta.ManagedFields{}, now.ResourceVersion
	before, after := managers(last.Raw), managers(now.Raw)
	var latest *meta.ManagedFields
	for _, changed := range [...]bool{true, false} {
		for i := range after {
			if m := &after[i]; (!changed || !contains(before, *m)) && (latest == nil || !at(*m).Before(at(*latest))) {
				latest = m
			}
		}
		if latest != nil {
			e.LostTo = *latest
			return
		}
	}
}

func at(m meta.ManagedFields) (t time.Time) {
	if m.Time != nil {
		t = m.Time.Time
	}
	return t
}

func contains(all []meta.ManagedFields, m meta.ManagedFields) bool {
	for _, o := range all {
		if o.Manager == m.Manager && o.Operation == m.Operation && o.Subresource == m.Subresource &&
			o.APIVersion == m.APIVersion && at(o).Equal(at(m)) && bytes.Equal(o.FieldsV1, m.FieldsV1) {
			return true
		}
	}
	return false
}

// managers returns the object's managedFields, or nil if they cannot be decoded.
func managers(object []byte) []meta.ManagedFields {
	var o struct {
		Metadata struct {
			ManagedFields []meta.ManagedFields `json:"managedFields"`
		} `json:"metadata"`
	}
	if json.Unmarshal(object, &o) != nil {
		return nil
	}
	return o.Metadata.ManagedFields
}
