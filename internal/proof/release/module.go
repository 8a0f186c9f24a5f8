package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// publicModule is a module that users can require.
type publicModule struct {
	path string // of its packages
	dir  string // in the repository, with slashes; empty for the root
}

// tag returns the tag of a version.
func (m publicModule) tag(version string) string { return path.Join(m.dir, version) }

// modules returns the public modules, the root first.
func (r repository) modules(ctx context.Context) (found []publicModule, err error) {
	files, err := r.git(ctx, "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	for _, file := range strings.Fields(files) {
		dir := strings.TrimSuffix(strings.TrimSuffix(file, "go.mod"), "/")
		if top, _, _ := strings.Cut(dir, "/"); top == "internal" || top == "examples" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		name := modfile.ModulePath(text)
		if name == "" {
			return nil, fmt.Errorf("%s names no module", file)
		}
		found = append(found, publicModule{name, dir})
	}
	slices.SortFunc(found, func(a, b publicModule) int { return strings.Compare(a.dir, b.dir) })
	if len(found) == 0 || found[0].dir != "" {
		return nil, fmt.Errorf("there is no module in %s", r.dir)
	}
	return found, nil
}

// require makes the go.mod of a module require this version of each other public module that it requires.
func (r repository) require(m publicModule, all []publicModule, version string) error {
	file := filepath.Join(r.dir, filepath.FromSlash(m.dir), "go.mod")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	mod, err := modfile.Parse(file, text, nil)
	if err != nil {
		return err
	}
	for _, other := range all {
		if slices.ContainsFunc(mod.Require, func(r *modfile.Require) bool { return r.Mod.Path == other.path }) {
			if err := mod.AddRequire(other.path, version); err != nil {
				return err
			}
		}
	}
	if text, err = mod.Format(); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// packAll writes every module of a tagged version into a folder, as MODULE-VERSION.zip.
func (r repository) packAll(ctx context.Context, version, dir string) error {
	modules, err := r.modules(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, m := range modules {
		if err := r.zip(ctx, m, version, filepath.Join(dir, path.Base(m.path)+"-"+version+".zip")); err != nil {
			return fmt.Errorf("pack %s: %w", m.path, err)
		}
	}
	return nil
}

// pack writes a tagged version of a module into the folder proxy, in the layout of a module proxy.
func (r repository) pack(ctx context.Context, m publicModule, version, proxy string) error {
	escaped, err := module.EscapePath(m.path)
	if err != nil {
		return err
	}
	dir := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := r.zip(ctx, m, version, filepath.Join(dir, version+".zip")); err != nil {
		return err
	}
	mod, err := r.git(ctx, "show", m.tag(version)+":"+path.Join(m.dir, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		version + ".mod": mod, version + ".info": fmt.Sprintf(`{"Version":%q}`, version), "list": version + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// zip writes the file in which a module proxy serves a version, and checks it.
func (r repository) zip(ctx context.Context, m publicModule, version, file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	err = zip.CreateFromVCS(f, module.Version{Path: m.path, Version: version}, r.dir, m.tag(version), m.dir)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return r.checkFiles(ctx, m, version, file)
}

// checkFiles returns an error unless the packed module has a licence, and the same files as the commit.
func (r repository) checkFiles(ctx context.Context, m publicModule, version, packed string) error {
	checked, err := zip.CheckZip(module.Version{Path: m.path, Version: version}, packed)
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, name := range checked.Valid {
		has[strings.TrimPrefix(name, m.path+"@"+version+"/")] = true
	}
	if !has["LICENSE"] {
		return fmt.Errorf("it has no LICENSE")
	}
	names, err := r.git(ctx, "ls-tree", "-r", "--name-only", "--full-tree", m.tag(version))
	if err != nil {
		return err
	}
	var nested []string // the folders of nested modules, whose files are not packed with m
	all := strings.Split(strings.TrimSuffix(names, "\n"), "\n")
	for _, name := range all {
		if dir, ok := strings.CutSuffix(name, "/go.mod"); ok && dir != m.dir {
			nested = append(nested, dir+"/")
		}
	}
	for _, name := range all {
		in, ok := strings.CutPrefix(name, m.dir)
		if m.dir != "" {
			in, ok = strings.CutPrefix(name, m.dir+"/")
		}
		if !ok || slices.ContainsFunc(nested, func(dir string) bool { return strings.HasPrefix(name, dir) && !strings.HasPrefix(m.dir+"/", dir) }) {
			continue
		}
		if !has[in] {
			return fmt.Errorf("it lacks %s", name)
		}
	}
	return nil
}
