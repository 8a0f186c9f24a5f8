package explore

import (
	"bytes"
	"hash/maphash"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Two points of two runs are equal if everything that the future can depend on is equal: the writes that the server has
// done, the virtual time, the steps of the history, the answers that each replica has received since its start, and the
// disturbances that have effects beyond the state. The search compares points by a hash of these. Uids are random, so
// the hash has their order of appearance instead. Other random values, such as generated names, make points differ, and
// the search then tries both.

// hashSeed is the seed of all hashes of this process.
var hashSeed = sync.OnceValue(maphash.MakeSeed)

// hashOf returns the hash of comparable values.
func hashOf(values ...any) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed())
	for _, v := range values {
		maphash.WriteComparable(&h, v)
	}
	return h.Sum64()
}

// digest summarizes the past of a world, as far as the future depends on it.
type digest struct {
	mu      sync.Mutex
	uids    map[string]int
	written uint64           // hash of the program's requests that have changed the server, in their order
	heard   map[*life]uint64 // sum of the hashes of all answers to this life
	deaths  map[*life]int64  // the virtual time at which each life ended
	lasting []disturbance    // those with effects beyond the state
}

func newDigest() *digest {
	return &digest{uids: map[string]int{}, heard: map[*life]uint64{}, deaths: map[*life]int64{}}
}

// sum extends the given hash by a text, and returns the new hash. It replaces each uid in the text by the uid's number.
func (d *digest) sum(before uint64, text []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed())
	maphash.WriteComparable(&h, before)
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		at := findUID(text)
		if at < 0 {
			break
		}
		_, _ = h.Write(text[:at])
		uid := string(text[at : at+uidLength])
		if d.uids[uid] == 0 {
			d.uids[uid] = len(d.uids) + 1
		}
		_, _ = h.WriteString("uid " + strconv.Itoa(d.uids[uid]))
		text = text[at+uidLength:]
	}
	_, _ = h.Write(text)
	return h.Sum64()
}

const uidLength = 36

// findUID returns where the first uid in a text begins, or -1.
func findUID(text []byte) int {
	for from := 0; ; {
		dash := bytes.IndexByte(text[from:], '-')
		if dash < 0 {
			return -1
		}
		begin := from + dash - 8
		if begin >= 0 && begin+uidLength <= len(text) && isUID(text[begin:begin+uidLength]) {
			return begin
		}
		from += dash + 1
	}
}

// isUID reports whether a text of uidLength bytes is a uid.
func isUID(text []byte) bool {
	for i, c := range text {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}

// wrote records a request that has changed the server.
func (d *digest) wrote(p *point) {
	request := d.sum(p.body, []byte(p.method+" "+p.path))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.written = hashOf(d.written, request)
}

// died records the present time as the end of a life: when the life crashes, and again when its program returns.
func (d *digest) died(l *life) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.deaths[l] = int64(time.Since(l.world.begin))
}

// at returns the hash of all that the future of the world depends on. The caller holds w.mu.
func (d *digest) at(w *world) uint64 {
	last := map[string]*life{}
	for _, l := range w.lives {
		last[l.name] = l
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	values := []any{d.written, w.server.ResourceVersion(), time.Since(w.begin), w.steps, w.rests}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		values = append(values, name)
		if l := last[name]; l.dead {
			values = append(values, "dead", d.deaths[l])
		} else {
			values = append(values, d.heard[l])
		}
	}
	for _, d := range d.lasting {
		values = append(values, d)
	}
	return hashOf(values...)
}

// future returns the hash of the future after a disturbance at the request.
func (p *point) future(d disturbance) uint64 {
	if leaves := effectOf(d.kind).leaves; leaves != nil {
		if what := leaves(p); what != "" {
			return hashOf(p.past, what)
		}
	}
	return hashOf(p.past, d.kind, d.argument, p.life.name, p.method, p.path, p.body)
}

// listener passes the answer of a request to the program and hashes it.
type listener struct {
	http.ResponseWriter
	life *life
	sum  uint64 // of this answer so far
}

// listen returns a writer for the answer of a request.
func listen(rw http.ResponseWriter, p *point) *listener {
	return &listener{rw, p.life, hashOf(p.method, p.path, p.body)}
}

// Write implements http.ResponseWriter.
func (l *listener) Write(b []byte) (int, error) {
	l.add(l.life.world.digest.sum(l.sum, b))
	return l.ResponseWriter.Write(b)
}

// WriteHeader implements http.ResponseWriter.
func (l *listener) WriteHeader(code int) {
	l.add(hashOf(l.sum, code))
	l.ResponseWriter.WriteHeader(code)
}

// add replaces the hash of this answer. The sum does not depend on the order in which bytes of different answers arrive
// between two requests of the program, because that order differs from run to run.
func (l *listener) add(sum uint64) {
	sum = hashOf(sum, l.life.world.granted.Load())
	d := l.life.world.digest
	d.mu.Lock()
	defer d.mu.Unlock()
	d.heard[l.life] += sum - l.sum
	l.sum = sum
}

// Flush implements http.Flusher.
func (l *listener) Flush() { _ = http.NewResponseController(l.ResponseWriter).Flush() }

// Unwrap lets a http.ResponseController reach the original.
func (l *listener) Unwrap() http.ResponseWriter { return l.ResponseWriter }
