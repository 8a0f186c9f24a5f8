package main

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bowline-go/bowline/internal/proof/e2e/cronjob"
	"github.com/bowline-go/bowline/internal/proof/e2e/sample"
)

// sampleController is the release of the original.
const sampleController = "k8s.io/sample-controller@v0.37.1"

func main() {
	tutorial := flag.String("tutorial", "", "the folder of the Kubebuilder tutorial's project; empty leaves it out")
	others := flag.Int("others", 10_000, "how many deployments or jobs of others the server has")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := run(ctx, *tutorial, *others); err != nil {
		log.Fatal(err)
	}
}

// program is one side of a comparison.
type program struct {
	name    string
	dir     string   // where it is built
	path    string   // its main package, relative to dir
	sources []string // files and folders with its code, relative to dir
	world   world
}

func run(ctx context.Context, tutorial string, others int) error {
	temp, err := os.MkdirTemp("", "originals")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	original, err := downloaded(ctx, temp, sampleController)
	if err != nil {
		return err
	}
	programs := []program{
		{"sample-controller", original, ".", []string{"main.go", "controller.go", "pkg"}, samples(sampleGroup)},
		{"the same with Bowline", ".", "./originals/sample", []string{"originals/sample", "sample"}, samples(sample.Foos.Group)},
	}
	if tutorial != "" {
		programs = append(programs,
			program{"CronJob of the tutorial", tutorial, "./cmd", []string{"cmd", "api", "internal/controller"}, cronJobs(cronGroup)},
			program{"the same with Bowline", ".", "./originals/cronjob", []string{"originals/cronjob", "cronjob"}, cronJobs(cronjob.CronJobs.Group)})
	}
	fmt.Print("| | lines | generated | modules | binary | memory | its peak |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for i, p := range programs {
		row, err := measure(ctx, p, filepath.Join(temp, fmt.Sprint("program", i)), others)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Println(row)
	}
	return nil
}

func measure(ctx context.Context, p program, binary string, others int) (string, error) {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, p.path)
	build.Dir, build.Stderr = p.dir, os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build it: %w", err)
	}
	file, err := os.Stat(binary)
	if err != nil {
		return "", err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return "", err
	}
	var written, generated int
	for _, source := range p.sources {
		w, g, err := countLines(filepath.Join(p.dir, source))
		if err != nil {
			return "", err
		}
		written, generated = written+w, generated+g
	}
	used, err := memory(ctx, binary, p.world, others)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %.1f MB | %d MB | %d MB |", p.name, written, generated, len(info.Deps),
		float64(file.Size())/1e6, used.resident>>20, used.peak>>20), nil
}

// downloaded copies a module of the module proxy to where it can be built.
func downloaded(ctx context.Context, temp, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = temp // this module's own requirements do not count
	out, err := cmd.Output()
	var answer struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &answer); jsonErr != nil || answer.Error != "" || answer.Dir == "" {
		return "", fmt.Errorf("download %s: %w: %s", module, errors.Join(err, jsonErr), answer.Error)
	}
	to := filepath.Join(temp, "original")
	return to, os.CopyFS(to, os.DirFS(answer.Dir)) // unlike the files in the module cache, the copy can be changed
}

// countLines counts the lines with code of the Go files at a path, those of generated files apart. Tests are left out.
func countLines(path string) (written, generated int, err error) {
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if strings.Contains(string(text), "\n// Code generated ") {
			generated += codeLines(string(text))
		} else {
			written += codeLines(string(text))
		}
		return err
	})
	return written, generated, err
}

// codeLines counts the lines that have more than white space and comments.
func codeLines(text string) int {
	n, comment := 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case comment:
			comment = !strings.HasSuffix(line, "*/")
		case strings.HasPrefix(line, "/*"):
			comment = !strings.Contains(line, "*/")
		case line != "" && !strings.HasPrefix(line, "//"):
			n++
		}
	}
	return n
}
