package certificates

import (
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// planner decides the next state of the Secret. Apart from new keys, the decision depends only on the present state and
// the planner's fields.
type planner struct {
	authority string // the name of the authorities
	names     []string
	lifetime  time.Duration // of certificates of servers
	now       time.Time
	// settled reports whether all configurations have had an authority long enough for each API server to know it.
	settled func(*x509.Certificate) bool
}

// authorityLifetimes is how many lifetimes of a certificate an authority is valid. The last quarter of it is the time
// for its successor to reach the configurations.
const authorityLifetimes = 8

// plan returns the state that should follow s, and the reason, which is empty if s should stay. It makes at most one
// step: each is safe on its own, whatever happens before the next one.
func (p planner) plan(s state) (state, string, error) {
	s.trusted = slices.DeleteFunc(slices.Clone(s.trusted), func(c *x509.Certificate) bool { return isOver(c, p.now) })
	if s.next != nil && p.now.After(s.next.after) {
		s.next = nil // from an old backup
	}
	s.trust(s.authority, s.next)
	switch {
	case s.authority != nil && p.now.Before(s.authority.notBefore):
		return s, "", fmt.Errorf("its authority is valid only from %s on: the clock of this replica is wrong, or was that of another one; "+
			"if the clocks are right, delete the Secret", s.authority.notBefore.UTC().Format(time.RFC3339))
	case !s.authority.isValid(p.now) && s.next.isValid(p.now):
		return p.promote(s, "the authority has expired")
	case !s.authority.isValid(p.now):
		next, err := newAuthority(p.authority, p.now, authorityLifetimes*p.lifetime)
		if err != nil {
			return s, "", err
		}
		s.authority, s.next = next, nil
		s.trust(next)
		return p.sign(s, "there is no valid authority", nil)
	case s.next != nil && s.next.isValid(p.now) && p.settled(s.next.cert):
		return p.promote(s, "all configurations trust the next authority")
	case !s.serving.isValid(p.now) || !s.serving.signed(s.authority.cert):
		return p.sign(s, "there is no valid certificate", nil)
	case !s.serving.isFor(p.names):
		return p.sign(s, "the certificate lacks a name", s.serving.names())
	case s.next == nil && s.authority.left(p.now) < s.authority.period()/4:
		return p.announce(s, "the authority expires")
	case s.serving.left(p.now) < s.serving.period()/3 && s.authority.after.After(s.serving.after):
		return p.sign(s, "the certificate expires", nil)
	}
	return s, "", nil
}

// announce begins a rotation: it adds a new authority, which signs nothing yet.
func (p planner) announce(s state, why string) (state, string, error) {
	next, err := newAuthority(p.authority, p.now, authorityLifetimes*p.lifetime)
	if err != nil {
		return s, "", err
	}
	s.next = next
	s.trust(next)
	return s, why + "; the next authority is announced", nil
}

// promote makes the next authority the present one, which signs the certificate of the servers. The former authority
// stays trusted.
func (p planner) promote(s state, why string) (state, string, error) {
	s.authority, s.next = s.next, nil
	return p.sign(s, why, nil)
}

// sign makes a certificate for the servers, for the wanted names and further ones. Replicas with different options,
// as while a Deployment is rolled out, add names and remove none, so they do not undo each other's writes.
func (p planner) sign(s state, why string, further []string) (state, string, error) {
	names := slices.Clone(p.names)
	for _, name := range further {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	serving, err := s.authority.sign(names, p.now, p.lifetime)
	if err != nil {
		return s, "", err
	}
	s.serving = serving
	return s, why + "; a new certificate is signed", nil
}
