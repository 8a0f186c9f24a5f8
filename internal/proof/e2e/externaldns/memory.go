package externaldns

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Memory is a provider for tests. The zero value has no records. Its methods may be called by several goroutines at
// once.
type Memory struct {
	mu      sync.Mutex // guards the rest
	records map[id]*Endpoint
	applied int
}

// Records returns the records, in order.
func (m *Memory) Records(context.Context) ([]*Endpoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.SortedFunc(maps.Values(m.records), compare), nil
}

// Apply makes the changes. It returns an error, and makes none, if a record to create exists, or if one to change or to
// delete is not as the changes say.
func (m *Memory) Apply(_ context.Context, c Changes) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	records := maps.Clone(m.records)
	if records == nil {
		records = make(map[id]*Endpoint)
	}
	for _, e := range slices.Concat(c.Old, c.Delete) {
		if had := records[e.id()]; had == nil || !slices.Equal(had.Targets, e.Targets) {
			return fmt.Errorf("record %s %s is not %v", e.Type, e.Name, e.Targets)
		}
		delete(records, e.id())
	}
	for _, e := range slices.Concat(c.Create, c.New) {
		if records[e.id()] != nil {
			return fmt.Errorf("record %s %s exists", e.Type, e.Name)
		}
		records[e.id()] = &Endpoint{Name: e.Name, Type: e.Type, Targets: slices.Clone(e.Targets), TTL: e.TTL}
	}
	m.records = records
	m.applied++
	return nil
}

// Applied returns how often Apply has made changes.
func (m *Memory) Applied() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.applied
}
