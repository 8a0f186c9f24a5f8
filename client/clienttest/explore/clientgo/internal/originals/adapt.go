package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dropped names lines of a module, or a whole file, that do not compile with the versions of the Kubernetes modules
// that this module requires.
type dropped struct {
	module string
	file   string
	words  []string // lines with one of these words are removed; empty removes the whole file
}

// from copies the module, removes the lines or the file from the copy, and makes an operator use the copy.
func (d dropped) from(ctx context.Context, operator string) error {
	directory, err := place(ctx, operator, d.module)
	if err != nil {
		return err
	}
	copied := operator + "-" + strings.ReplaceAll(d.module, "/", "-")
	if err := os.CopyFS(copied, os.DirFS(directory)); err != nil {
		return err
	}
	if err := command(ctx, operator, nil, "mod", "edit", "-replace="+d.module+"="+copied); err != nil {
		return err
	}
	path := filepath.Join(copied, filepath.FromSlash(d.file))
	if len(d.words) == 0 {
		return os.Remove(path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := slices.DeleteFunc(strings.SplitAfter(string(text), "\n"), func(line string) bool {
		return slices.ContainsFunc(d.words, func(word string) bool { return strings.Contains(line, word) })
	})
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600)
}

// place downloads the version of a module that an operator requires, and returns its folder.
func place(ctx context.Context, operator, module string) (string, error) {
	var out strings.Builder
	if err := command(ctx, operator, &out, "list", "-m", module); err != nil {
		return "", fmt.Errorf("find %s: %w", module, err)
	}
	_, version, _ := strings.Cut(strings.TrimSpace(out.String()), " ")
	return download(ctx, module+"@"+version)
}
