package build

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/bowline-go/bowline/internal/controlplane/child"
)

// watch runs a build, reports its progress, and returns what the go command complains about if it fails.
func (b *builder) watch(ctx context.Context, cmd *exec.Cmd, programs []string) error {
	began := time.Now()
	said := &output{}
	cmd.Stdout, cmd.Stderr = said, said
	b.report("building %s of %s with %s into %s; this takes minutes, once", strings.Join(programs, ", "),
		releaseIn(b.files, b.minor), runtime.Version(), b.cache)
	if runtime.GOOS != "linux" {
		b.report("they are tested on Linux only, and this is %s", runtime.GOOS)
	}
	done := make(chan struct{})
	var reports sync.WaitGroup
	reports.Go(func() { b.reportEvery(done, began, said) })
	err := child.Run(ctx, cmd)
	close(done)
	reports.Wait()
	took := time.Since(began).Round(100 * time.Millisecond)
	switch {
	case err == nil:
		b.report("built in %s", took)
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("stopped after %s: %w; the Go build cache keeps the packages that were compiled", took, context.Cause(ctx))
	}
	return fmt.Errorf("go build, after %s: %w; it says:\n%s", took, err, child.Tail(said.complaints()))
}

// reportEvery reports the progress until done is closed.
func (b *builder) reportEvery(done <-chan struct{}, began time.Time, said *output) {
	ticker := time.NewTicker(10 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			b.report("%s after %s", said.progress(), time.Since(began).Round(time.Second))
		}
	}
}

// output is what the go command writes with -v: the modules that it downloads, the packages that it compiles, and
// complaints.
type output struct {
	mu         sync.Mutex // guards the rest
	rest       []byte     // of a line that is not complete
	downloaded int
	compiled   int
	last       string // the last package
	complains  bytes.Buffer
}

// maxComplaints bounds what is kept of the complaints.
const maxComplaints = 64 << 10

// Write takes a part of the output. It does not fail.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = append(o.rest, p...)
	for {
		line, after, found := bytes.Cut(o.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		o.line(string(bytes.TrimRight(line, "\r")))
		o.rest = after
	}
}

// line classifies a line of the output. The go command prints the path of a package alone on its line.
func (o *output) line(line string) {
	switch {
	case strings.HasPrefix(line, "go: downloading "):
		o.downloaded++
	case regexp.MustCompile(`^[\w./~-]+$`).MatchString(line):
		o.compiled++
		o.last = line
	case o.complains.Len() < maxComplaints:
		o.complains.WriteString(line + "\n")
	}
}

// progress says how far the build is.
func (o *output) progress() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var parts []string
	if o.downloaded > 0 {
		parts = append(parts, fmt.Sprintf("%d modules downloaded", o.downloaded))
	}
	switch {
	case strings.HasPrefix(o.last, "servers/"): // the main packages come last, and linking takes longer than compiling
		parts = append(parts, fmt.Sprintf("%d packages compiled, now linking", o.compiled))
	case o.compiled > 0:
		parts = append(parts, fmt.Sprintf("%d packages compiled, now %s", o.compiled, o.last))
	}
	if len(parts) == 0 {
		return "nothing compiled yet"
	}
	return strings.Join(parts, ", ")
}

// complaints returns the lines that are no progress.
func (o *output) complaints() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.complains.String() + string(o.rest)
}
