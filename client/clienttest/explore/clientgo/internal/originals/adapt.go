package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dropped are lines of a module, or a whole file, that do not compile with the Kubernetes modules of this one.
type dropped struct {
	module string
	file   string
	words  []string // the lines with one of these go; empty means that the whole file goes
}

// from changes a copy of the module, and lets an operator use it.
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

// place downloads a module in the version that an operator requires, and returns its folder.
func place(ctx context.Context, operator, module string) (string, error) {
	var out strings.Builder
	if err := command(ctx, operator, &out, "list", "-m", module); err != nil {
		return "", fmt.Errorf("find %s: %w", module, err)
	}
	_, version, _ := strings.Cut(strings.TrimSpace(out.String()), " ")
	return download(ctx, module+"@"+version)
}
