package object

import "iter"

// Tree is a sorted map from storage paths to revisions. It never changes: Set and Remove return a new tree, which
// shares everything with the old one except the path to the change. So a root is a snapshot of a collection, which
// costs nothing to keep and can be read without a lock. Consistent pages and lists at an exact version need such
// snapshots.
//
// It is a treap: the priority of a node is a hash of its path, so the tree's shape depends only on its contents. The
// nil tree is empty.
type Tree struct {
	rev         *Revision
	priority    uint64
	size        int
	left, right *Tree
}

// priority is FNV-1a, mixed once more, so that ascending names do not get ascending priorities.
func priority(path string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(path) {
		h = (h ^ uint64(path[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

// Len returns how many revisions there are.
func (t *Tree) Len() int {
	if t == nil {
		return 0
	}
	return t.size
}

// Get returns the revision at a path, or nil.
func (t *Tree) Get(path string) *Revision {
	for t != nil {
		switch {
		case path < t.rev.Path:
			t = t.left
		case path > t.rev.Path:
			t = t.right
		default:
			return t.rev
		}
	}
	return nil
}

// with returns a copy of t with other children.
func (t *Tree) with(left, right *Tree) *Tree {
	return &Tree{
		rev: t.rev, priority: t.priority,
		size: 1 + left.Len() + right.Len(), left: left, right: right,
	}
}

// Set returns the tree with rev at its path.
func (t *Tree) Set(rev *Revision) *Tree {
	if t == nil {
		return &Tree{rev: rev, priority: priority(rev.Path), size: 1}
	}
	switch {
	case rev.Path < t.rev.Path:
		left := t.left.Set(rev)
		if left.priority > t.priority {
			return left.with(left.left, t.with(left.right, t.right))
		}
		return t.with(left, t.right)
	case rev.Path > t.rev.Path:
		right := t.right.Set(rev)
		if right.priority > t.priority {
			return right.with(t.with(t.left, right.left), right.right)
		}
		return t.with(t.left, right)
	}
	return &Tree{rev: rev, priority: t.priority, size: t.size, left: t.left, right: t.right}
}

// Remove returns the tree without path.
func (t *Tree) Remove(path string) *Tree {
	if t == nil {
		return nil
	}
	switch {
	case path < t.rev.Path:
		return t.with(t.left.Remove(path), t.right)
	case path > t.rev.Path:
		return t.with(t.left, t.right.Remove(path))
	}
	return join(t.left, t.right)
}

// join returns the union of two trees; every path of left is less than every path of right.
func join(left, right *Tree) *Tree {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case left.priority > right.priority:
		return left.with(left.left, join(left.right, right))
	}
	return right.with(join(left, right.left), right.right)
}

// Below returns how many paths are less than path.
func (t *Tree) Below(path string) int {
	n := 0
	for t != nil {
		if path <= t.rev.Path {
			t = t.left
			continue
		}
		n += 1 + t.left.Len()
		t = t.right
	}
	return n
}

// Between iterates in order over the revisions whose paths are at least from and less than to. An empty to means no
// end.
func (t *Tree) Between(from, to string) iter.Seq[*Revision] {
	return func(yield func(*Revision) bool) { t.visit(from, to, yield) }
}

func (t *Tree) visit(from, to string, yield func(*Revision) bool) bool {
	if t == nil {
		return true
	}
	if from < t.rev.Path && !t.left.visit(from, to, yield) {
		return false
	}
	if to != "" && t.rev.Path >= to {
		return true
	}
	if from <= t.rev.Path && !yield(t.rev) {
		return false
	}
	return t.right.visit(from, to, yield)
}
