package informer

import "github.com/bowline-go/bowline/internal/filler"

// An informer with Options.Namespaces may never list some of them: they are forbidden, or their lists hang. This file
// tells a controller which namespaces are missing, so that it can go on with the others.

// ListedIn implements filler.Filler.
func (i *engine[T]) ListedIn(namespace string) (listed, followed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.o.Namespaces == nil:
		return i.allCurrent(), true
	case namespace == "":
		return i.allCurrent(), false
	case among(i.want, namespace):
		return i.isCurrent(namespace), true
	case i.listed[namespace], i.former[namespace]: // it is about to leave, or has left
		return true, true
	}
	return i.allCurrent(), false
}

// Namespaces implements filler.Filler.
func (i *engine[T]) Namespaces() filler.Namespaces {
	i.mu.Lock()
	if i.o.Namespaces == nil {
		i.mu.Unlock()
		return filler.Namespaces{}
	}
	n := filler.Namespaces{Missing: make(map[string]error), Changed: i.news, Partly: i.allowPart}
	scopes := make(map[string]*scope[T])
	for _, ns := range i.want {
		if i.isCurrent(ns) {
			n.Listed = append(n.Listed, ns)
			continue
		}
		scopes[ns] = i.scopes[ns]
	}
	i.mu.Unlock()
	for ns, s := range scopes {
		n.Missing[ns] = nil
		if s != nil {
			n.Missing[ns] = s.record.copy().Err
		}
	}
	return n
}

// allowPart notes that a controller works without the missing namespaces.
func (i *engine[T]) allowPart() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.partly = !i.allCurrent()
}

// renews tells the callers of Namespaces that its result has changed. The caller holds mu.
func (i *engine[T]) renews(all bool) {
	if all {
		clear(i.former)
		i.partly = false
	}
	close(i.news)
	i.news = make(chan struct{})
}

// fails notes that a list or a watch of a scope has failed. That matters while a wanted namespace is not listed.
func (i *engine[T]) fails() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.o.Namespaces != nil && !i.allCurrent() {
		i.renews(false)
	}
}
