package packing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/internal/packed"
)

// text returns the i-th text of a collection. Those of one kind are similar, and each has something of its own.
func text(kind string, i int) []byte {
	rnd := rand.New(rand.NewPCG(uint64(i), uint64(len(kind))))
	labels, env := map[string]string{}, map[string]string{}
	for n := range 6 {
		labels[fmt.Sprintf("%s.example.com/label-%d", kind, n)] = fmt.Sprint(kind, "-", n)
		env[strings.ToUpper(fmt.Sprintf("%s_SETTING_%d", kind, n))] = fmt.Sprintf("https://%s-%d.svc.cluster.local:%d", kind, n, 8000+n)
	}
	raw, _ := json.Marshal(map[string]any{
		"metadata": map[string]any{"name": fmt.Sprintf("%s-%d", kind, i), "uid": fmt.Sprintf("%016x", rnd.Uint64()), "labels": labels},
		"spec":     map[string]any{"env": env, "node": rnd.IntN(100)},
	})
	return raw
}

func mustUnpack(t *testing.T, packed packed.Text, want []byte, mark byte) {
	t.Helper()
	got, m, err := packed.Unpack([]byte("before "))
	if err != nil || m != mark || string(got) != "before "+string(want) {
		t.Errorf("unpacked %q with mark %d and error %v, want %q with mark %d", got, m, err, want, mark)
	}
}

func TestUnpackedTextsEqualThePackedOnes(t *testing.T) {
	p := New()
	texts := [][]byte{{}, []byte("a"), bytes.Repeat([]byte("a"), 1<<20)}
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	texts = append(texts, noise)
	for i := range 2 * enoughTexts {
		texts = append(texts, text("pod", i))
	}
	var all []packed.Text
	for i, raw := range texts {
		all = append(all, p.Pack(raw, byte(i%packed.Marks)))
	}
	for i, raw := range texts {
		mustUnpack(t, all[i], raw, byte(i%packed.Marks))
	}
}

// share returns how large packed texts are compared with the texts.
func share(p *Packer, kind string, from, to int) float64 {
	in, out := 0, 0
	for i := from; i < to; i++ {
		raw := text(kind, i)
		in += len(raw)
		out += p.Pack(raw, 0).Size()
	}
	return float64(out) / float64(in)
}

func TestADictionaryIsLearntFromTheFirstTexts(t *testing.T) {
	p := New()
	before := share(p, "pod", 0, enoughTexts)
	after := share(p, "pod", enoughTexts, 2*enoughTexts)
	if after > before/3 {
		t.Errorf("texts are %.3f of their size with a dictionary, and %.3f without", after, before)
	}
	if large := New(); share(large, "pod", 0, 2*enoughTexts) == 0 || large.best.Load() == large.plain {
		t.Error("nothing was learnt")
	}
}

func TestADictionaryIsLearntAnewWhenTheTextsChange(t *testing.T) {
	p := New()
	share(p, "pod", 0, enoughTexts+2*window)
	first := p.best.Load()
	kept := p.Pack(text("pod", 1), 3)
	old := share(p, "deployment", 0, window)
	share(p, "deployment", window, 3*window+enoughTexts)
	if p.best.Load() == first {
		t.Fatal("the dictionary is still the first one")
	}
	if now := share(p, "deployment", 5*window, 6*window); now > old/2 {
		t.Errorf("texts are %.3f of their size with the new dictionary, and %.3f with the old one", now, old)
	}
	mustUnpack(t, kept, text("pod", 1), 3) // by the old dictionary
}

// Texts that no dictionary fits are not learnt from again and again.
func TestVainLearningBecomesRare(t *testing.T) {
	p := New()
	share(p, "pod", 0, enoughTexts+2*window)
	first := p.best.Load()
	noise := make([]byte, 200)
	for range 8 * window {
		for i := range noise {
			noise[i] = byte(rand.Uint32())
		}
		p.Pack(noise, 0)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.best.Load() != first {
		t.Error("a dictionary of noise replaced another one")
	}
	if p.fit.wait == 0 || p.samples.wanted {
		t.Errorf("after a vain try it goes on to learn: %+v", p.fit)
	}
}

func TestSeveralGoroutinesPack(t *testing.T) {
	p := New()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 2 * enoughTexts {
				raw := text(fmt.Sprint("kind-", g), i)
				got, _, err := p.Pack(raw, 0).Unpack(nil)
				if err != nil || !bytes.Equal(got, raw) {
					t.Errorf("unpacked %q and error %v, want %q", got, err, raw)
				}
			}
		})
	}
	wg.Wait()
}

// A packed text that somebody has changed is an error or another text, and never a panic.
func FuzzUnpack(f *testing.F) {
	p := New()
	share(p, "pod", 0, enoughTexts)
	if p.best.Load() == p.plain {
		f.Fatal("nothing was learnt")
	}
	way := &p.best.Load().way
	f.Add([]byte{})
	f.Add([]byte{packedBit})
	f.Add([]byte("\x03stored"))
	for _, raw := range [][]byte{text("pod", 1), bytes.Repeat([]byte("a"), 1<<18)} {
		var frame []byte
		e := p.best.Load().encoder()
		frame = e.EncodeAll(raw, nil)
		f.Add(append([]byte{packedBit}, frame[len(magic):]...))
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		text, mark, err := packed.New(way, string(bytes)).Unpack(nil)
		if err == nil && (len(bytes) == 0 || mark >= packed.Marks) {
			t.Errorf("unpacked %q with mark %d", text, mark)
		}
	})
}
