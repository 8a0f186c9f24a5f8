package explore

import (
	"context"

	"github.com/bowline-go/bowline/client/meta"
)

// plantedUnseen are bugs that show when a state was never seen.
func plantedUnseen() []planted {
	return []planted{
		{
			name: "what is done is kept by name, not by uid", by: []kind{unseen},
			do: remembersNames, mended: sweepsByServer, history: remade,
		},
		{
			name: "each generation is waited for", by: []kind{unseen},
			do: waitsForGenerations, mended: takesGenerations, history: generations,
		},
	}
}

// remade is a history in which a Box is deleted, and another one is made under its name.
func remade(h *History) {
	a := &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
	a.Spec.Text = "one"
	Create(h, boxType(), a)
	h.Rest()
	Delete(h, boxType(), a.Key())
	h.Rest()
	Create(h, boxType(), a)
	h.Rest()
}

// generations is a history in which a Box changes twice.
func generations(h *History) {
	a := &Box{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}
	a.Spec.Text = "one"
	Create(h, boxType(), a)
	h.Rest()
	for _, text := range []string{"two", "three"} {
		Modify(h, boxType(), a.Key(), func(b *Box) error { b.Spec.Text = text; return nil })
		h.Rest()
	}
}

func remembersNames(ctx context.Context, p *program, key meta.Key, box *Box) error {
	switch {
	case box == nil:
		delete(p.memory, key)
		if !p.isOrphan(key, nil) {
			return nil
		}
		return p.remove(ctx, key)
	case p.memory[key] > 0:
		return nil
	}
	if err := keepsAndSays(ctx, p, box); err != nil {
		return err
	}
	p.memory[key]++
	return nil
}

func waitsForGenerations(ctx context.Context, p *program, key meta.Key, box *Box) error {
	if box == nil || int64(box.Status.Count) == box.Generation {
		return nil
	}
	if last := p.memory[key]; last > 0 && int64(last)+1 != box.Generation {
		return nil // "the event of the generation in between comes soon"
	}
	p.memory[key] = int(box.Generation)
	return p.say(ctx, box, func(b *Box) { b.Status.Text, b.Status.Count = box.Spec.Text, int(box.Generation) })
}

func takesGenerations(ctx context.Context, p *program, _ meta.Key, box *Box) error {
	if box == nil || int64(box.Status.Count) == box.Generation {
		return nil
	}
	return p.say(ctx, box, func(b *Box) { b.Status.Text, b.Status.Count = box.Spec.Text, int(box.Generation) })
}

// countsGenerations says in the status how often the Box has changed, by what the server says.
func countsGenerations(ctx context.Context, p *program, key meta.Key, box *Box) error {
	return takesGenerations(ctx, p, key, box)
}
