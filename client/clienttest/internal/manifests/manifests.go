// Package manifests reads files and folders with Kubernetes objects in YAML or JSON.
package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// Each calls do with each object of a file, or of the files of a folder whose names end in .yaml, .yml or .json, but
// not of its kustomization.yaml or of inner folders. It goes on after an error, and returns all of them with their
// files. An empty document is an object without members.
func Each(path string, do func(jsontree.Object) error) error {
	files := []string{path}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		files, err = in(path)
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, doc := range documents(text) {
			v, _, err := jsontree.ParseYAML(doc)
			if err == nil {
				whole, _ := v.(jsontree.Object)
				err = do(whole)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", file, err))
			}
		}
	}
	return errors.Join(errs...)
}

// in returns the files of a folder that may have manifests.
func in(folder string) (files []string, _ error) {
	all, err := os.ReadDir(folder)
	for _, f := range all {
		if strings.HasPrefix(f.Name(), "kustomization.") { // it lists the others
			continue
		}
		if !f.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(f.Name())) {
			files = append(files, filepath.Join(folder, f.Name()))
		}
	}
	return files, err
}

// documents splits a stream of YAML documents, which also may be one of JSON.
func documents(text []byte) (docs [][]byte) {
	var doc []byte
	for line := range bytes.Lines(text) {
		if rest, found := bytes.CutPrefix(line, []byte("---")); found && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n")) {
			docs, doc, line = append(docs, doc), nil, rest
		}
		doc = append(doc, line...)
	}
	return append(docs, doc)
}
