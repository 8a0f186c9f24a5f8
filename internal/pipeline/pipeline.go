package pipeline

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bowline-go/bowline/internal/jsonstream"
)

const (
	// batchSize is how many bytes of objects go to a decoder at once: enough that handing them over costs little
	// compared with decoding them, and few enough that several decoders have something to do within a page.
	batchSize = 32 << 10
	// maxBatches and maxFlight bound how many batches, and how many bytes, of one list or watch are on their way from
	// framing to the caller: enough to keep the decoders busy while the caller frames or does other work. Ordinary
	// objects reach the first bound, large ones the second. An object larger than half of maxFlight passes alone, and
	// is not copied.
	maxBatches = 2 * maxDecoders
	maxFlight  = 1 << 20
	// unitSize is what an event adds to the size of its batch, besides the bytes of its object.
	unitSize = 256
)

// Pipeline decodes objects on several goroutines and hands them on in the order in which they arrived.
//
// It belongs to one goroutine, its owner, which frames, adds and hands on. Batches travel
//
//	current -> a decoder -> flight[0] -> hand
//
// submit starts a decoder for a batch if the client may have one more, and otherwise leaves the batch in the queue, for
// running decoders and for the owner, which decodes while it waits. So a pipeline makes progress even without a
// decoder. A decoder ends when the queue is empty, and Stop waits for all of them. One goroutine at a time writes to a
// batch: the owner, then the goroutine that decodes it, then, after a signal on done, the owner again.
type Pipeline[E any] struct {
	decoders *Decoders
	// decode completes an event with its object. It is called by several goroutines at once.
	decode func(*E, jsonstream.Item)
	// hand passes an event to the caller. Its first error is final.
	hand func(E) error
	err  error
	one  E // the event that Pipeline.now decodes

	read  int   // how many bytes of bodies have been read
	ahead ahead // reads the body of a list

	current *batch[E]      // the batch that is being filled; nil if it would be empty
	flight  []*batch[E]    // submitted and not handed on, the oldest first
	size    int            // of all batches in flight, and of current
	free    []*batch[E]    // to be filled again
	queue   chan *batch[E] // submitted, without a decoder yet
	workers sync.WaitGroup
	stopped atomic.Bool // the rest need not be decoded
}

// New returns a pipeline; its owner must call Stop. decode completes an event with its object; several goroutines call
// it at once. hand passes an event to the caller, on the owner's goroutine. Its first error is final, and the method
// that called it returns that error.
func New[E any](d *Decoders, decode func(*E, jsonstream.Item), hand func(E) error) *Pipeline[E] {
	return &Pipeline[E]{decoders: d, decode: decode, hand: hand}
}

// batch is some events, and the bytes of those objects among them that must be decoded.
type batch[E any] struct {
	units []unit[E]
	bytes []byte
	size  int
	todo  int           // how many must still be decoded
	next  int           // the index of the next to look at
	done  chan struct{} // receives once when everything is decoded
}

type unit[E any] struct {
	event    E
	item     jsonstream.Item // without Raw, which is bytes[from:to]
	from, to int
	todo     bool
}

// idle reports whether everything has been handed on.
func (p *Pipeline[E]) idle() bool { return p.current == nil && len(p.flight) == 0 }

// pass hands on a complete event, after those before it.
func (p *Pipeline[E]) pass(e E) error {
	if p.idle() {
		return p.handOne(e)
	}
	return p.add(unit[E]{event: e}, nil)
}

// now decodes an event on this goroutine, and hands it on. No other event may be waiting.
func (p *Pipeline[E]) now(e E, item jsonstream.Item) error {
	p.one = e
	p.decode(&p.one, item)
	e = p.one
	p.one = *new(E) // or it would keep the object
	return p.handOne(e)
}

// later submits an event for decoding; it is handed on after those before it. later keeps nothing of item.Raw.
func (p *Pipeline[E]) later(e E, item jsonstream.Item) error {
	if len(item.Raw) > maxFlight/2 {
		if err := p.drain(); err != nil {
			return err
		}
		return p.now(e, item)
	}
	raw := item.Raw
	item.Raw = nil
	return p.add(unit[E]{event: e, item: item, todo: true}, raw)
}

func (p *Pipeline[E]) add(u unit[E], raw []byte) error {
	size := len(raw) + unitSize
	if p.current != nil && p.current.size+size > batchSize {
		p.submit()
	}
	for len(p.flight) > 0 && (len(p.flight) >= maxBatches || p.size+size > maxFlight || p.isDone()) {
		if err := p.handFirst(); err != nil {
			return err
		}
	}
	if p.current == nil {
		p.current = p.empty()
	}
	b := p.current
	u.from = len(b.bytes)
	b.bytes = append(b.bytes, raw...)
	u.to = len(b.bytes)
	b.units = append(b.units, u)
	b.size += size
	p.size += size
	if u.todo {
		b.todo++
	}
	return nil
}

// empty returns a batch to fill.
func (p *Pipeline[E]) empty() *batch[E] {
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return &batch[E]{bytes: make([]byte, 0, batchSize), done: make(chan struct{}, 1)}
}

// submit submits the current batch for decoding.
func (p *Pipeline[E]) submit() {
	if p.queue == nil {
		p.queue = make(chan *batch[E], maxBatches)
	}
	b := p.current
	p.current = nil
	p.flight = append(p.flight, b)
	switch {
	case b.todo == 0:
		b.done <- struct{}{}
	case p.decoders.acquire():
		p.workers.Go(func() { p.work(b) })
	default:
		p.queue <- b // never full, because it has only batches in flight
	}
}

// work is a decoder. It begins with b and continues with the batches in the queue.
func (p *Pipeline[E]) work(b *batch[E]) {
	defer func() {
		if b != nil { // the decoding of an object has called runtime.Goexit; the others must still be decoded
			p.workers.Go(func() { p.work(b) })
			return
		}
		p.decoders.release()
	}()
	for b != nil {
		p.run(b)
		select {
		case b = <-p.queue:
		default:
			b = nil
		}
	}
}

// run decodes the rest of a batch.
func (p *Pipeline[E]) run(b *batch[E]) {
	for b.next < len(b.units) && !p.stopped.Load() {
		u := &b.units[b.next]
		b.next++
		if u.todo {
			u.item.Raw = b.bytes[u.from:u.to:u.to]
			p.decode(&u.event, u.item)
		}
	}
	b.done <- struct{}{}
}

// isDone reports whether the oldest batch can be handed on without waiting.
func (p *Pipeline[E]) isDone() bool { return len(p.flight[0].done) > 0 }

// handFirst waits for the oldest batch and hands it on.
func (p *Pipeline[E]) handFirst() error {
	for {
		if p.isDone() { // then there is no reason to decode another one first
			<-p.flight[0].done
			return p.handBatch()
		}
		select {
		case <-p.flight[0].done:
			return p.handBatch()
		case b := <-p.queue:
			p.run(b)
		}
	}
}

// handBatch hands on the oldest batch, whose signal has been received.
func (p *Pipeline[E]) handBatch() error {
	b := p.flight[0]
	p.flight = slices.Delete(p.flight, 0, 1)
	for i := range b.units {
		if err := p.handOne(b.units[i].event); err != nil {
			return err
		}
	}
	p.size -= b.size
	clear(b.units) // or it would keep the objects
	*b = batch[E]{units: b.units[:0], bytes: b.bytes[:0], done: b.done}
	if cap(b.bytes) <= 2*batchSize {
		p.free = append(p.free, b)
	}
	return nil
}

func (p *Pipeline[E]) handOne(e E) error {
	p.err = p.hand(e)
	return p.err
}

// Until waits for ready. While it waits, it hands on decoded events.
func (p *Pipeline[E]) Until(ready <-chan struct{}) error {
	for {
		if len(p.flight) == 0 {
			if p.current == nil {
				<-ready
				return nil
			}
			// While a batch is being decoded, more objects may arrive and fill this one.
			p.submit()
		}
		select {
		case <-ready:
			return nil
		case <-p.flight[0].done:
			if err := p.handBatch(); err != nil {
				return err
			}
		case b := <-p.queue:
			p.run(b)
		}
	}
}

// drain hands on everything.
func (p *Pipeline[E]) drain() error {
	if b := p.current; b != nil { // the owner decodes it itself, because it would only wait
		p.current = nil
		p.flight = append(p.flight, b)
		p.run(b)
	}
	for len(p.flight) > 0 {
		if err := p.handFirst(); err != nil {
			return err
		}
	}
	return nil
}

// Finish hands on the events that came before err, and returns err. If hand has failed, or fails now, Finish returns
// its error instead.
func (p *Pipeline[E]) Finish(err error) error {
	if p.err != nil {
		return p.err
	}
	return cmp.Or(p.drain(), err)
}

// Stop drops the events that have not been handed on, and returns when no goroutine of the pipeline runs. It does not
// interrupt a read from a body, so the owner closes the body first.
func (p *Pipeline[E]) Stop() {
	p.stopped.Store(true)
	p.workers.Wait()
	p.ahead.stop()
}
