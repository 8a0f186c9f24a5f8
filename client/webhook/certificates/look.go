package certificates

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"time"

	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/report"
)

// A look has three steps. It writes the next state of the Secret, makes the configurations trust the Secret's
// authorities, and then chooses the certificate that the server shows. A look can end anywhere: the next look, of any
// replica, continues.

// look does one look. It reports its errors, and returns the first one, which determines the pace of the next look.
func (i *Issuer) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := i.settle(ctx)
	i.note(ctx, "secret", i.String(), err)
	i.mu.Lock()
	i.err = err
	i.state = s
	i.mu.Unlock()
	if s.serving == nil {
		return err // there is no certificate to trust
	}
	i.choose(s)
	failed := i.bundle(ctx, s)
	i.choose(s)
	if err == nil {
		err = failed
	}
	return err
}

// settle reads the Secret, and writes the next state if it differs. If another replica writes at the same time, settle
// starts again. With an error, settle also returns the last seen state of the Secret.
func (i *Issuer) settle(ctx context.Context) (state, error) {
	i.mu.Lock()
	last := i.state
	i.mu.Unlock()
	var err error
	for range 5 { // another replica may write at the same time
		obj, failed := i.secrets.Get(ctx, i.o.Secret)
		is := last
		switch {
		case failed == nil:
			is, err = decode(obj.Data)
			i.note(ctx, "data", i.String()+": a part that cannot be read is replaced: reading it", err)
		case errors.Is(failed, apierrors.NotFound):
			// The state that this replica remembers is trusted, and stays in use until a new authority is trusted too.
			is.next = nil
			obj = &secret{ObjectMeta: i.o.Secret.ObjectMeta(), Type: "kubernetes.io/tls"}
			obj.Labels = maps.Clone(i.o.Labels)
		default:
			return last, failed
		}
		p := i.planner(time.Now())
		want, why, planned := p.plan(is)
		if obj.ResourceVersion == "" && why == "" && planned == nil {
			want, why, planned = p.announce(want, "the Secret was deleted")
		}
		if planned != nil {
			return is, fmt.Errorf("plan the next state of secrets %q: %w", i.o.Secret, planned)
		}
		data := want.encode(obj.Data)
		if maps.EqualFunc(data, obj.Data, bytes.Equal) {
			return want, nil
		}
		obj.Data = data
		if err = i.write(ctx, obj); err == nil {
			i.log.Logger().Info(i.String()+": the Secret is written", "reason", cmp.Or(why, "its data is completed"))
			return want, nil
		}
		last = is
		if !errors.Is(err, apierrors.Conflict) && !errors.Is(err, apierrors.AlreadyExists) {
			break
		}
	}
	return last, err
}

// write creates or updates the Secret. If another replica has written it since the read, the error is Conflict or
// AlreadyExists.
func (i *Issuer) write(ctx context.Context, obj *secret) (err error) {
	if obj.ResourceVersion == "" {
		_, err = i.secrets.Create(ctx, obj)
	} else {
		_, err = i.secrets.Update(ctx, obj)
	}
	return err
}

// planner returns the planner that decides the next state of the Secret.
func (i *Issuer) planner(now time.Time) planner {
	return planner{authority: i.name, names: i.o.names(), lifetime: i.o.Lifetime, now: now, settled: i.settled}
}

// bundle makes the configurations trust all authorities of the Secret, and the authority of the certificate that this
// replica shows. Our authorities that are already in a configuration stay until they have expired, because another
// replica may show a certificate of an authority that this replica does not know.
func (i *Issuer) bundle(ctx context.Context, s state) (first error) {
	authorities := s.trusted
	i.mu.Lock()
	if i.by != nil {
		_, authorities = bundle(append(authorities[:len(authorities):len(authorities)], i.by)...)
	}
	i.mu.Unlock()
	keep := func(c *x509.Certificate) bool { return isOurs(c, i.name) && !isOver(c, time.Now()) }
	for n, t := range i.targets {
		wrote, err := t.ensure(ctx, i.o, authorities, keep)
		i.note(ctx, t.what, i.String()+": "+t.what, err)
		if wrote {
			i.log.Logger().Info(i.String()+": the caBundle is written", "to", t.what)
		}
		_, absent := errors.AsType[*absentError](err)
		if err != nil && !absent && first == nil {
			first = err
		}
		i.mu.Lock()
		i.at[n].err = err
		if err == nil || absent {
			i.at[n].known, i.at[n].bundled = err == nil, t.bundled()
		}
		i.mu.Unlock()
	}
	i.noteTrust(s.trusted)
	return first
}

// noteTrust records since when all configurations have had each authority. It ignores a configuration that does not
// exist. A configuration that cannot be read may lack the authority, so it counts as one without it.
func (i *Issuer) noteTrust(authorities []*x509.Certificate) {
	i.mu.Lock()
	defer i.mu.Unlock()
	since := map[string]time.Time{}
	for _, c := range authorities {
		everywhere := true
		for _, at := range i.at {
			_, absent := errors.AsType[*absentError](at.err)
			everywhere = everywhere && (absent || at.err == nil && has(at.bundled, c))
		}
		if !everywhere {
			continue
		}
		since[string(c.Raw)] = time.Now()
		if before, ok := i.since[string(c.Raw)]; ok {
			since[string(c.Raw)] = before
		}
	}
	i.since = since
}

// settled reports whether all configurations have had an authority for settleTime.
func (i *Issuer) settled(c *x509.Certificate) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	since, ok := i.since[string(c.Raw)]
	return ok && time.Since(since) >= settleTime
}

// choose decides which certificate the server shows: the Secret's certificate, unless API servers may not trust that
// yet and the present certificate is still valid.
func (i *Issuer) choose(s state) {
	now, by := time.Now(), s.signer()
	if by == nil || !s.serving.isValid(now) {
		return
	}
	settled := i.settled(by)
	i.mu.Lock()
	defer i.mu.Unlock()
	same := i.served != nil && i.served.cert.Equal(s.serving.cert)
	if same || i.served.isValid(now) && !settled && !by.Equal(i.by) {
		return
	}
	i.served, i.by = s.serving, by
}

// note reports the error of a part of the work, or that the part works again.
func (i *Issuer) note(ctx context.Context, key, what string, err error) {
	if errors.Is(ctx.Err(), context.Canceled) { // the Run ends
		return
	}
	if i.told[key] == nil {
		i.told[key] = &report.Pace{}
	}
	due := i.told[key].Due(err)
	switch {
	case err == nil:
		i.log.Works(key)
	case i.o.OnError != nil:
		i.o.OnError(err)
	case due:
		i.log.Failed(report.Topic{Key: key, Fails: what + " fails", Works: what + " works again"}, err, nil)
	}
}
