package sample

// The job of patches, without a server.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"time"
)

// Documents are an object before and after an edit, and the patches between them.
type Documents struct {
	Old, New               []byte
	JSON, Merge, Strategic []byte // patches from one to the other
	// Original and Modified are the configurations before and after the edit. Configured is the result of applying the
	// change to Current.
	Original, Modified, Current, Configured []byte
}

// Patches are one side's functions on documents in bytes. A side has each of them.
type Patches struct {
	Settings                              string
	Documents                             func() (Documents, error)
	ApplyJSON, ApplyMerge, ApplyStrategic func(doc, patch []byte) ([]byte, error)
	DiffJSON, DiffMerge, DiffStrategic    func(from, to []byte) ([]byte, error)
	ThreeWay                              func(original, modified, current []byte) ([]byte, error)
}

// Patch is the job of patches: each operation is repeated for the bench time. The figures are the CPU time of one,
// including garbage collection, and its allocations and allocated bytes. Before that, the result is checked: a patch,
// whether given or computed, must give the edited object.
func Patch(s Patches) Job {
	return func(_ context.Context, p Params) (Report, error) {
		d, err := s.Documents()
		if err != nil {
			return Report{}, err
		}
		long, err := time.ParseDuration(p.BenchTime)
		if err != nil {
			return Report{}, err
		}
		applied := func(patch []byte, apply func(doc, patch []byte) ([]byte, error)) operation {
			return operation{
				run:   func() ([]byte, error) { return apply(d.Old, patch) },
				check: func(result []byte) error { return sameJSON(result, d.New) },
			}
		}
		computed := func(diff, apply func(a, b []byte) ([]byte, error)) operation {
			return operation{
				run: func() ([]byte, error) { return diff(d.Old, d.New) },
				check: func(result []byte) error {
					doc, err := apply(d.Old, result)
					if err != nil {
						return err
					}
					return sameJSON(doc, d.New)
				},
			}
		}
		r := Report{Settings: s.Settings, Counts: map[string]int{}, Figures: map[string]float64{}}
		for _, o := range []struct {
			name string
			operation
		}{
			{"apply json", applied(d.JSON, s.ApplyJSON)},
			{"apply merge", applied(d.Merge, s.ApplyMerge)},
			{"apply strategic", applied(d.Strategic, s.ApplyStrategic)},
			{"diff json", computed(s.DiffJSON, s.ApplyJSON)},
			{"diff merge", computed(s.DiffMerge, s.ApplyMerge)},
			{"diff strategic", computed(s.DiffStrategic, s.ApplyStrategic)},
			{"three-way", operation{
				run: func() ([]byte, error) { return s.ThreeWay(d.Original, d.Modified, d.Current) },
				check: func(result []byte) error {
					doc, err := s.ApplyStrategic(d.Current, result)
					if err != nil {
						return err
					}
					return sameJSON(doc, d.Configured)
				},
			}},
		} {
			result, err := o.run()
			if err == nil {
				err = o.check(result)
			}
			if err == nil {
				r.Counts["checked"]++
				err = o.measure(long, func(figure string, v float64) { r.Figures[o.name+" "+figure] = v })
			}
			if err != nil {
				return Report{}, fmt.Errorf("%s: %w", o.name, err)
			}
		}
		return r, nil
	}
}

// operation is a measured operation, and its expected result.
type operation struct {
	run   func() ([]byte, error)
	check func(result []byte) error
}

// measure repeats the operation for a while.
func (o operation) measure(long time.Duration, report func(figure string, v float64)) error {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, used := 0, cpu()
	for began := time.Now(); time.Since(began) < long; n++ {
		if _, err := o.run(); err != nil {
			return err
		}
	}
	used = cpu() - used
	runtime.ReadMemStats(&after)
	report("cpu", used.Seconds()/float64(n))
	report("allocs", float64(after.Mallocs-before.Mallocs)/float64(n))
	report("bytes", float64(after.TotalAlloc-before.TotalAlloc)/float64(n))
	return nil
}

// sameJSON compares documents, numbers digit by digit.
func sameJSON(got, want []byte) error {
	var docs [2]any
	for i, doc := range [...][]byte{got, want} {
		d := json.NewDecoder(bytes.NewReader(doc))
		d.UseNumber()
		if err := d.Decode(&docs[i]); err != nil {
			return fmt.Errorf("decode the result: %w", err)
		}
	}
	if !reflect.DeepEqual(docs[0], docs[1]) {
		return fmt.Errorf("got %s, want %s", got, want)
	}
	return nil
}
