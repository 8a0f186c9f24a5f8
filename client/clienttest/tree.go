package clienttest

import "iter"

// tree is a sorted map from storage paths to revisions that never changes: set and remove return a new tree, which
// shares all but the path to the change with the old one. So a root is a snapshot of a collection that costs nothing
// to keep and nothing to read without a lock, which is what consistent pages and lists at an exact version need.
//
// It is a treap: the priority of a node is a hash of its path, so its shape depends on what is in it and not on how
// that came there. The nil tree is empty.
type tree struct {
	rev         *revision
	priority    uint64
	size        int
	left, right *tree
}

// priority is FNV-1a, mixed once more: names that are counted up must not give priorities that go up.
func priority(path string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(path) {
		h = (h ^ uint64(path[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

func (t *tree) len() int {
	if t == nil {
		return 0
	}
	return t.size
}

func (t *tree) get(path string) *revision {
	for t != nil {
		switch {
		case path < t.rev.path:
			t = t.left
		case path > t.rev.path:
			t = t.right
		default:
			return t.rev
		}
	}
	return nil
}

// with returns a copy of t with other children.
func (t *tree) with(left, right *tree) *tree {
	return &tree{
		rev: t.rev, priority: t.priority,
		size: 1 + left.len() + right.len(), left: left, right: right,
	}
}

// set returns the tree with rev at its path.
func (t *tree) set(rev *revision) *tree {
	if t == nil {
		return &tree{rev: rev, priority: priority(rev.path), size: 1}
	}
	switch {
	case rev.path < t.rev.path:
		left := t.left.set(rev)
		if left.priority > t.priority {
			return left.with(left.left, t.with(left.right, t.right))
		}
		return t.with(left, t.right)
	case rev.path > t.rev.path:
		right := t.right.set(rev)
		if right.priority > t.priority {
			return right.with(t.with(t.left, right.left), right.right)
		}
		return t.with(t.left, right)
	}
	return &tree{rev: rev, priority: t.priority, size: t.size, left: t.left, right: t.right}
}

// remove returns the tree without path.
func (t *tree) remove(path string) *tree {
	if t == nil {
		return nil
	}
	switch {
	case path < t.rev.path:
		return t.with(t.left.remove(path), t.right)
	case path > t.rev.path:
		return t.with(t.left, t.right.remove(path))
	}
	return join(t.left, t.right)
}

// join returns the union of two trees; every path of left is less than every path of right.
func join(left, right *tree) *tree {
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

// below returns how many paths are less than path.
func (t *tree) below(path string) int {
	n := 0
	for t != nil {
		if path <= t.rev.path {
			t = t.left
			continue
		}
		n += 1 + t.left.len()
		t = t.right
	}
	return n
}

// between iterates over the revisions from the path from on and below to, in order. An empty to means no end.
func (t *tree) between(from, to string) iter.Seq[*revision] {
	return func(yield func(*revision) bool) { t.visit(from, to, yield) }
}

func (t *tree) visit(from, to string, yield func(*revision) bool) bool {
	if t == nil {
		return true
	}
	if from < t.rev.path && !t.left.visit(from, to, yield) {
		return false
	}
	if to != "" && t.rev.path >= to {
		return true
	}
	if from <= t.rev.path && !yield(t.rev) {
		return false
	}
	return t.right.visit(from, to, yield)
}
