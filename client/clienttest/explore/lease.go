package explore

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// A life has a lease from the moment at which it has the answer to its first write of the lease. It has the lease until
// leaseDurationSeconds after it sent the last write of the lease whose answer it has. It loses the lease earlier if it
// sends a write that gives the lease up, or if the answer to a write or a get shows another holder. A life that has
// ever had a lease may write to other objects only while it has one. All replicas of a run share one clock.

// tenure is what a life knows about a lease that it has written.
type tenure struct {
	until   time.Time // when it ends
	holder  string
	version string // of the lease
	share   share
}

// share is the ranges that a replica of package client/shards has written to its lease.
type share struct {
	ranges meta.Ranges
	by     meta.ShardBy // empty for other leases
}

// leaseText has the fields that are read of a Lease.
type leaseText struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		HolderIdentity       string `json:"holderIdentity"`
		LeaseDurationSeconds int64  `json:"leaseDurationSeconds"`
	} `json:"spec"`
}

// isLease reports whether the request is about leases.
func (p *point) isLease() bool {
	q := p.request.Resource
	return q.Group == "coordination.k8s.io" && q.Resource == "leases"
}

// checkSent reports a finding if the request must not be sent. It is called when the program sends the request, however
// late the request arrives.
func (w *world) checkSent(p *point, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := p.request.Resource
	switch {
	case !p.writes():
		return
	case p.isLease():
		p.giveUp(body)
		return
	}
	if of.Resource == "" || slices.Contains(ignored(), of.Resource) || slices.Contains(w.plan.Ignore, of) {
		return
	}
	why := ""
	switch {
	case p.life.returned:
		why = "after Program has returned"
	case len(p.life.leases) > 0:
		why = w.withoutLease(p)
	}
	if why != "" && !p.life.accused {
		p.life.accused = true
		w.findings = append(w.findings, fmt.Sprintf("%s is sent %s", p, why))
		w.story.add(line{at: time.Since(w.begin), text: fmt.Sprintf("%s is sent %s", p, why)})
	}
}

// giveUp ends the tenure of a lease that the request gives up.
func (p *point) giveUp(body []byte) {
	var text leaseText
	gone := p.request.Verb == "delete"
	if p.request.Verb == "update" {
		gone = json.Unmarshal(body, &text) == nil && text.Spec.HolderIdentity == ""
	}
	if t := p.life.leases[p.request.Key]; t != nil && gone && p.sent.Before(t.until) {
		t.until = p.sent
	}
}

// withoutLease returns why a life must not send a write; "" if it may. The caller holds w.mu.
func (w *world) withoutLease(p *point) string {
	var valid []meta.Key
	ended := ""
	for key, t := range p.life.leases {
		if p.sent.Before(t.until) {
			valid = append(valid, key)
		} else {
			ended = fmt.Sprintf("%v after its lease %s has ended", p.sent.Sub(t.until).Round(time.Millisecond), key)
		}
	}
	if len(valid) == 0 {
		return ended
	}
	for _, other := range w.lives {
		if other == p.life || other.dead {
			continue
		}
		for key, t := range other.leases {
			if slices.Contains(valid, key) && p.sent.Before(t.until) && t.holder != p.life.leases[key].holder {
				return fmt.Sprintf("while replica %s has the lease %s too", other.name, key)
			}
			if namespace := p.request.Key.Namespace; p.life.lacks(namespace) && p.sent.Before(t.until) && t.share.has(namespace) {
				return fmt.Sprintf("in namespace %q, whose range is in the lease of replica %s", namespace, other.name)
			}
		}
	}
	return ""
}

// has reports whether the share is divided by namespaces and has the range of this namespace.
func (s share) has(namespace string) bool {
	return namespace != "" && s.by == meta.ShardByNamespace && s.ranges.Has(s.by.Range(meta.Identity{Namespace: namespace}))
}

// lacks reports whether the life has a share that is divided by namespaces, but no share with the range of this
// namespace.
func (l *life) lacks(namespace string) bool {
	divided := false
	for _, t := range l.leases {
		if t.share.has(namespace) {
			return false
		}
		divided = divided || t.share.by == meta.ShardByNamespace
	}
	return divided
}

// readLease records the lease that a get returns, or that the server has after a write of the lease.
func (p *point) readLease(answer *httptest.ResponseRecorder) {
	if !p.isLease() || answer.Code >= 300 || !p.writes() && p.request.Verb != "get" {
		return
	}
	if p.request.Key.Name != "" && p.request.Verb != "delete" { // the answer may be in another encoding
		answer = httptest.NewRecorder()
		p.server().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, p.path, nil))
	}
	text := new(leaseText)
	if json.Unmarshal(answer.Body.Bytes(), text) == nil && text.Name != "" {
		p.lease = text
	}
}

// had updates the tenure after the program has received the answer to a get or a write of a lease.
func (p *point) had() {
	text := p.lease
	if text == nil || text.Spec.HolderIdentity == "" {
		return
	}
	w := p.life.world
	w.mu.Lock()
	defer w.mu.Unlock()
	was := p.life.leases[meta.KeyOf(text)]
	switch {
	case was != nil && p.sent.Before(was.until) && was.holder != text.Spec.HolderIdentity:
		if isNewer(text.ResourceVersion, was.version) {
			was.until = time.Now()
		}
	case p.writes():
		if p.life.leases == nil {
			p.life.leases = map[meta.Key]*tenure{}
		}
		p.life.leases[meta.KeyOf(text)] = &tenure{
			until:  p.sent.Add(time.Duration(text.Spec.LeaseDurationSeconds) * time.Second),
			holder: text.Spec.HolderIdentity, version: text.ResourceVersion,
			share: shareOf(text.Annotations["shards.bowline-go.github.io/share"]),
		}
	}
}

// isNewer reports whether a version of the server is newer than another one. Versions are decimal numbers.
func isNewer(version, than string) bool {
	return cmp.Or(cmp.Compare(len(version), len(than)), strings.Compare(version, than)) > 0
}

// shareOf reads the annotation in which package client/shards writes the ranges of a replica.
func shareOf(text string) (s share) {
	for _, word := range strings.Fields(text) {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "ranges":
			if err := s.ranges.UnmarshalText([]byte(value)); err != nil {
				return share{}
			}
		case "by":
			s.by = meta.ShardBy(value)
		}
	}
	return s
}
