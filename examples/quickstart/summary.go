package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/informer"
)

// summary is the result of a run.
type summary struct {
	Objects          int     `json:"objects"` // sources at the end, each of which must have a mirror
	InSync           int     `json:"inSync"`
	Wrong            int     `json:"wrong"`
	Orphans          int     `json:"orphans"`
	Relists          int     `json:"relists"`
	ListMode         string  `json:"listMode"` // how the cache was filled: Streaming or Paged
	Encoding         string  `json:"encoding"` // of what the server sent last: protobuf or JSON
	Watches          int     `json:"watches"`
	Events           int     `json:"events"`
	Reconciles       int     `json:"reconciles"`
	ConflictsRetried int     `json:"conflictsRetried"`
	Seconds          float64 `json:"seconds"`
	PeakRSSBytes     int64   `json:"peakRSSBytes"`

	relists  map[informer.Cause]int
	problems []string
}

// count adds what the controller has seen.
func (s *summary) count(m *Mirrors, conflicts int, began time.Time) {
	st := m.informer.Status()
	s.ListMode, s.Watches, s.Events, s.relists = st.Mode.String(), st.Watches, st.Events, st.Relists
	s.Encoding = "JSON"
	if st.Protobuf {
		s.Encoding = "protobuf"
	}
	for _, n := range st.Relists {
		s.Relists += n
	}
	s.Reconciles = m.controller.Status().Reconciles
	s.ConflictsRetried = conflicts
	s.Seconds = time.Since(began).Seconds()
	s.PeakRSSBytes = peakRSS()
}

func (s *summary) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(s)
	}
	causes := make([]string, 0, len(s.relists))
	for _, cause := range slices.Sorted(maps.Keys(s.relists)) {
		causes = append(causes, fmt.Sprintf("%s %d", cause, s.relists[cause]))
	}
	if len(causes) == 0 {
		causes = append(causes, "none")
	}
	_, err := fmt.Fprintf(w, `objects      %d: %d in sync, %d wrong, %d orphaned
lists        %s, %s, relists: %s
watches      %d opened, %d events
reconciles   %d, %d conflicts retried
time         %.1f s
peak memory  %.1f MiB
`, s.Objects, s.InSync, s.Wrong, s.Orphans, s.ListMode, s.Encoding, strings.Join(causes, ", "), s.Watches, s.Events,
		s.Reconciles, s.ConflictsRetried, s.Seconds, float64(s.PeakRSSBytes)/(1<<20))
	return err
}

// printProblems lists the first problems, and how many more there are.
func (s *summary) printProblems(w io.Writer) {
	const most = 20
	for _, problem := range s.problems[:min(len(s.problems), most)] {
		fmt.Fprintln(w, "quickstart:", problem)
	}
	if more := len(s.problems) - most; more > 0 {
		fmt.Fprintf(w, "quickstart: and %d more\n", more)
	}
}
