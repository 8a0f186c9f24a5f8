package clienttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/recording"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

// WaitReplayed waits until the server has played the last change of [Options.Replay]. It returns nil at once if that
// has already happened. The error is that of ctx, or says that the server has ended or could not read the file any
// more, or that Options.Replay is not set.
func (s *Server) WaitReplayed(ctx context.Context) error {
	if s.replay == nil {
		if s.invalid != nil {
			return s.invalid
		}
		return errors.New("clienttest: wait for the end of the replay: Options.Replay is not set")
	}
	select {
	case <-s.replay.ended:
		return s.replay.err
	default:
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("clienttest: wait for the end of the replay: %w", context.Cause(ctx))
	case <-s.replay.ended:
		return s.replay.err
	}
}

// start begins to play the changes. end stops the replay, and returns why the file could not be played as a whole. It
// is not an error if the server ends first. A server without a recording has a nil replay, and nothing to do.
func (p *replay) start(ctx context.Context) (end func() error) {
	if p == nil {
		return func() error { return nil }
	}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer close(p.ended)
		p.err = p.playFile(ctx)
	}()
	return func() error {
		stop()
		<-p.ended
		if errors.Is(p.err, errUnplayed) {
			return nil
		}
		return p.err
	}
}

// errUnplayed says that the server has ended before the recording.
var errUnplayed = errors.New("the server has ended before the last change")

func (p *replay) playFile(ctx context.Context) error {
	f, err := os.Open(p.path)
	if err == nil {
		err = p.play(ctx, f)
		_ = f.Close()
	}
	if err != nil {
		return fmt.Errorf("clienttest: replay %s: %w", p.path, err)
	}
	return nil
}

// play makes the changes at their times.
func (p *replay) play(ctx context.Context, f *os.File) error {
	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for changes := p.plan.Changes; len(changes) > 0; {
		n := p.together(changes)
		lines, err := p.lines(f, changes[:n])
		if err != nil {
			return err
		}
		timer.Reset(time.Until(start.Add(time.Duration(changes[0].At))))
		select {
		case <-ctx.Done():
			return errUnplayed
		case <-timer.C:
		}
		if err := p.apply(changes[:n], lines); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// together returns the number of changes that are one step: those that were found after a gap at the same time. Others
// come one by one.
func (p *replay) together(changes []recording.Change) int {
	n := 1
	for n < len(changes) && changes[n].Gap && changes[n-1].Gap && changes[n].At == changes[0].At {
		n++
	}
	return n
}

// recordedChange is a change that has been read.
type recordedChange struct {
	*recording.Line
	draft *object.Draft
}

// lines reads the lines of changes, which have been checked before.
func (p *replay) lines(f *os.File, changes []recording.Change) ([]recordedChange, error) {
	all := make([]recordedChange, len(changes))
	for i, c := range changes {
		l, err := recording.ReadChange(f, c)
		if err != nil {
			return nil, err
		}
		d, err := readRecorded(l)
		if err != nil {
			return nil, err
		}
		all[i] = recordedChange{l, d}
	}
	return all, nil
}

// apply commits changes as one transaction. They replace what clients have written.
func (p *replay) apply(changes []recording.Change, lines []recordedChange) error {
	tx := p.store.Begin()
	defer tx.End()
	for i, l := range lines {
		if l.Type == recording.Deleted {
			p.remove(tx, l, changes[i].Version)
		} else if err := p.put(tx, l, changes[i].Version); err != nil {
			return err
		}
	}
	return nil
}

// put commits an object. The error says that a client has defined another resource in the place of the recorded one.
func (p *replay) put(tx store.Tx, l recordedChange, version uint64) error {
	r, err := p.serving(tx, p.plan.Header.Resource(l.Resource))
	if err != nil {
		return err
	}
	cur := tx.Get(r.objects, l.draft.Key())
	if cur != nil && cur.Version == version && bytes.Equal(cur.Raw, l.draft.Revision(&r.Type, version).Raw) {
		return nil // another resource has the same objects, as with the two groups of Events
	}
	if ns := p.home(tx, l.draft); ns != nil {
		tx.PutFrom(0, p.namespaces.objects, ns)
	}
	tx.PutFrom(version, r.objects, l.draft)
	if r == p.crds {
		p.heed(tx, l.draft)
	}
	return nil
}

func (p *replay) remove(tx store.Tx, l recordedChange, version uint64) {
	r := p.registry.named(p.plan.Header.Resource(l.Resource).GVR())
	if r == nil {
		return // its definition has gone, and its objects with it
	}
	cur := tx.Get(r.objects, l.draft.Key())
	if cur == nil {
		return // a client has deleted it
	}
	tx.RemoveFrom(version, r.objects, cur)
	if r == p.crds {
		p.undefine(tx, l.draft.Meta.Name)
	}
}
