package kubeconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/internal/regular"
)

// Options say what to load. The zero value loads the current context of the configuration that [Load] finds.
type Options struct {
	// Path is the file to load, which must exist (except for [Write]) and is not merged with any other. If it is empty,
	// Load searches as the package's documentation says.
	//
	// For [Parse] it is the origin of the bytes: errors name it, and relative paths start at its folder. If it is empty
	// there, the origin is unknown, and a relative path is an error.
	Path string

	// Context is the name of the context to use; empty means the current context.
	Context string

	// Plugins says which credential plugins may run, and how.
	Plugins Plugins
}

// Loaded is a loaded configuration.
type Loaded struct {
	// Config is ready for client.New; its other fields may be set before.
	Config client.Config

	// Namespace is the context's namespace, or "default"; in a pod, the pod's namespace.
	Namespace string

	// Context is the name of the context; empty in a pod, and never otherwise.
	Context string

	// Origin is the file that declares the context, as Options.Path or KUBECONFIG names it, or "in-cluster".
	Origin string

	// Warnings are findings that are not errors but should be looked at, each in one line without credentials:
	//
	//   - an unknown field, such as a misspelt one, in a used stanza (at most 20 of a stanza);
	//   - a file with a credential that others than its owner may read (not on Windows);
	//   - a file that KUBECONFIG names and that does not exist;
	//   - an entry without a name, which nothing can refer to (at most 20 of a file);
	//   - a mistake that kubectl accepts, as the package's documentation lists them;
	//   - a pod without a CA file.
	Warnings []string
}

// Format prints l for every verb, without secrets, even behind a pointer.
func (l Loaded) Format(f fmt.State, _ rune) {
	type plain Loaded
	_, _ = fmt.Fprintf(f, "%+v", plain(l))
}

// inClusterOrigin is the Origin of a configuration from a pod.
const inClusterOrigin = "in-cluster"

// Load finds the kubeconfig, or the pod's service account, and returns the configuration of its context. The package's
// documentation says where it searches and which errors it returns.
//
// It reads the kubeconfig once, and regular files only: a pipe is an error at once. It has no context, and nothing
// bounds the time that a file system takes: on a network mount whose server is gone Load waits as long as the system
// does. A program that must not wait calls it on a goroutine that it can abandon. Load checks that the files which the
// kubeconfig names can be read; the client reads them when it needs them, and a token file repeatedly.
func Load(o Options) (Loaded, error) { return load(o, serviceAccount) }

// load is Load with the folder of the pod's service account.
func load(o Options, account string) (Loaded, error) {
	if err := o.Plugins.validate(); err != nil {
		return Loaded{}, err
	}
	if o.Path != "" {
		m, err := readFile(o.Path)
		if err != nil {
			return Loaded{}, err
		}
		return m.pick(o.Context, o.Plugins)
	}

	files, listed := search()
	all := &merged{}
	var missing []string
	for _, file := range files {
		m, err := readFile(file)
		switch {
		case err == nil:
			all.add(m)
		case errors.Is(err, fs.ErrNotExist) && listed:
			missing = append(missing, where(file, "")+" does not exist, and was skipped")
		case errors.Is(err, fs.ErrNotExist):
		default:
			return Loaded{}, err
		}
	}
	var l Loaded
	var err error
	switch {
	case !all.empty():
		l, err = all.pick(o.Context, o.Plugins)
	case o.Context != "":
		err = all.explain(&EmptyError{files: files, err: &NotFoundError{What: "context", Name: o.Context}})
	default:
		if l, err = inCluster(account); err != nil {
			err = all.explain(&EmptyError{files: files, err: err})
		}
		l.Warnings = slices.Concat(all.ignored, l.Warnings)
	}
	if err != nil {
		return Loaded{}, err
	}
	l.Warnings = slices.Concat(missing, l.Warnings)
	return l, nil
}

// Parse returns the configuration of a context of the kubeconfig in data. It does no I/O: it does not read KUBECONFIG,
// look for a pod, or open the files that the kubeconfig names. Its errors are those of [Load].
func Parse(data []byte, o Options) (Loaded, error) {
	if err := o.Plugins.validate(); err != nil {
		return Loaded{}, err
	}
	src := &source{name: o.Path}
	if o.Path != "" {
		if err := src.locate(o.Path); err != nil {
			return Loaded{}, err
		}
	}
	m, err := parse(src, data)
	if err != nil {
		return Loaded{}, err
	}
	return m.pick(o.Context, o.Plugins)
}

// search returns the files that may hold the configuration, and whether KUBECONFIG lists them.
func search() (files []string, listed bool) {
	for _, file := range filepath.SplitList(os.Getenv("KUBECONFIG")) {
		if file != "" && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	if len(files) > 0 {
		return files, true
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, false // there is no home directory, as in many containers
	}
	return []string{filepath.Join(home, ".kube", "config")}, false
}

// source is the origin of a kubeconfig.
type source struct {
	name string // as the caller named it, for messages
	dir  string // the absolute folder at which relative paths start; empty if there is none
	open bool   // whether the files that it names must be readable

	// mode says who may read the file; 0 if it is unknown.
	mode fs.FileMode
}

// locate sets the folder, as an absolute path: the files in the folder are read later, when the program may have
// changed its working directory.
func (s *source) locate(file string) error {
	abs, err := filepath.Abs(file)
	if err != nil {
		return &FieldError{file: s.name, err: fmt.Errorf("cannot be located: %w", err)}
	}
	s.dir = filepath.Dir(abs)
	return nil
}

// readFile returns the configuration in one file.
func readFile(file string) (*merged, error) {
	src := &source{name: file, open: true}
	if err := src.locate(file); err != nil {
		return nil, err
	}
	data, info, err := readAll(file)
	if err != nil {
		return nil, &FieldError{file: file, err: fmt.Errorf("cannot be read: %w", withoutPath(err))}
	}
	src.mode = info.Mode()
	return parse(src, data)
}

// readAll reads a regular file, up to one byte more than the maximum size.
func readAll(file string) ([]byte, fs.FileInfo, error) { return regular.Read(file, maxSize) }

// readable returns why a file cannot be read; nil if it can.
func readable(file string) error {
	_, _, err := regular.Read(file, 0)
	return withoutPath(err)
}

// withoutPath returns the cause of an error of package os, for messages that name the file themselves.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
