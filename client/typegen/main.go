// Command typegen writes Go types for the kinds of a server: a struct and a client.Type for each kind, from the
// manifests of CustomResourceDefinitions, from OpenAPI v3 documents, or from a server:
//
//	go run github.com/bowline-go/bowline/client/typegen -o sites.go sites.yaml
//	go run github.com/bowline-go/bowline/client/typegen -o pods.go -kinds pods -fields spec.nodeName,status.phase
//
// The first command writes the whole kinds of the definitions in a file. The second reads the server of the kubeconfig,
// and writes a struct for a cache. The whole kinds of Kubernetes itself are in client/builtin. Either command can stand
// in a go:generate line, so that go generate runs it again. With -check a command fails if the file would change.
//
// # Output
//
// For each kind typegen writes a struct with the fields of its schema, or those of -fields, and a variable of type
// client.Type with the name of the resource, such as Sites. Whole kinds embed meta.TypeMeta and meta.ObjectMeta. With
// -fields the metadata is meta.Identity and the parts that -fields names, such as metadata.labels. A kind without a
// schema becomes meta.Raw.
//
//	schema                                       Go
//	integer, number, string, boolean             int64 (int32 if the format says so), float64, string, bool
//	format date-time                             meta.Time; of a built-in kind also meta.MicroTime
//	format byte                                  []byte
//	int-or-string                                meta.IntOrString, or meta.Quantity if the pattern is that of quantities
//	string with an enum                          a string type and its constants
//	object with properties                       a struct
//	object with additionalProperties, array      a map with string keys, a slice
//	x-kubernetes-preserve-unknown-fields         json.RawMessage; beside properties a struct with a field Unknown, which
//	                                             keeps the other members
//	x-kubernetes-embedded-resource               meta.Unstructured; a struct if it has properties
//	anything else                                json.RawMessage
//	a condition, a label selector, a reference   meta.Condition, meta.LabelSelector, meta.ObjectReference
//
// A list whose elements have one key has the tags patchStrategy and patchMergeKey, which Ensure and patches read. An
// atomic object has the tag patchStrategy:"replace". Descriptions, defaults, unions and messages of CEL rules become
// comments.
//
// A field distinguishes an absent value from a zero value where they differ: it is a pointer unless it is required, or
// its zero value is not valid. A required field has no omitempty. Lists and maps use nil for absent.
//
// # Types of other packages
//
// The flag -import io.k8s.api.core.v1=PACKAGE is about the schemas of an OpenAPI document whose names are the prefix, a
// dot and one word. Such a schema becomes the struct of that name in the package, if the struct and the structs in it
// have a field for each property. Otherwise typegen writes a struct, as without the flag. With -type
// spec.template=PACKAGE.TYPE an object within the kinds, or each element of a list or a map of objects, has that type;
// a property without a field is an error. Typegen does not look into types that the package takes from further
// packages. It can read the packages that the module of the current folder can import, such as client/builtin/core, or
// those of k8s.io/api. The tags of such a type determine how its objects are encoded.
//
// With -functions the client.Type is the result of a function, for packages that others import.
//
// # Definitions
//
// With -definitions typegen also writes a tag for each field that needs one, and a function for each definition, such
// as SitesDefinition for Sites. From these package client/crd makes the definitions of the files again. This is for a
// program that owns a resource whose manifest existed first; from then on its types are the source. The file has all
// versions of each kind. Typegen names each part of a definition that client/crd cannot express, such as oneOf, and the
// comment of the function names it too. If client/meta has a type with another schema, typegen writes a separate
// struct.
//
// The other direction needs a command only for the descriptions, because a program does not contain its comments:
//
//	go run github.com/bowline-go/bowline/client/typegen -crd -o descriptions.go Site
//
// reads the package in the folder of -o, and writes the function SiteDescriptions. The function returns the comments of
// the struct Site and of all fields in it, including fields from other packages, for the field Descriptions of
// crd.Options. A field without a comment gets the comment of its type.
//
// # Choice of kinds
//
// Typegen writes the kinds of -kinds. Without that flag it writes all kinds of the files; of a server it also writes
// all kinds of -groups. It writes the most stable served version of a kind, by the rules of Kubernetes, or the versions
// of -versions. If it writes several versions of a kind, the names of the types end in the version. Types of one
// package must not collide, so write files of several commands into several packages, or name all kinds in one command.
//
// # Guarantees
//
// The same input gives the same bytes, which gofmt does not change. No text of a schema becomes code: it stays in
// comments and string literals, whatever it contains. Objects that a server returns keep their bytes through the types,
// except that
//
//   - an explicit null in an optional field becomes absent, and so does a spec or a status with nothing but zeros;
//   - times, quantities and selectors are in the canonical form that the server uses for its own kinds, and a time has
//     no fraction of a second;
//   - values that the schema does not allow are errors, as are numbers of int-or-string beyond 32 bits.
//
// # Errors and limits
//
// A schema that contradicts itself (an enum or a default of another type, properties of a string, bounds without a
// value), that has no finite value, or that refers to a missing schema, is an error that names the place. So is a name
// of a member that a struct tag cannot have. A file has at most 64 MiB, a document 100,000 schemas, at most 100 deep,
// and one command writes at most 20,000 types. The exit code is 1 after an error, also of -check, and 2 for wrong
// flags.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/bowline-go/bowline/client/typegen/internal/comments"
	"github.com/bowline-go/bowline/client/typegen/internal/source"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs the program and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "typegen:", err)
		return 2
	}
	if err := generate(ctx, s, stdin, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "typegen:", err)
		return 1
	}
	return 0
}

// generate writes or checks the file.
func generate(ctx context.Context, s settings, stdin io.Reader, stdout, stderr io.Writer) error {
	if s.crd {
		text, err := descriptions(ctx, s, stderr)
		if err != nil {
			return err
		}
		return s.write(text, stdout)
	}
	kinds, err := read(ctx, s, stdin, stderr)
	if err != nil {
		return err
	}
	hints, err := source.BuiltinHints()
	if err != nil {
		return err
	}
	o, err := s.options(ctx)
	if err != nil {
		return err
	}
	o.Hints = hints
	o.Note = func(line string) { fmt.Fprintln(stderr, "typegen:", line) }
	text, err := source.Write(kinds, o)
	if err != nil {
		return err
	}
	return s.write(text, stdout)
}

// descriptions returns the source with the comments of Go types.
func descriptions(ctx context.Context, s settings, stderr io.Writer) ([]byte, error) {
	texts := make(map[string]map[string]string)
	pkg := ""
	for _, name := range s.structs {
		all, of, notes, err := comments.Of(ctx, filepath.Dir(s.output), filepath.Base(s.output), name)
		if err != nil {
			return nil, err
		}
		for _, note := range notes {
			fmt.Fprintf(stderr, "typegen: %s: %s\n", name, note)
		}
		texts[name], pkg = all, of
	}
	return comments.Write(s.command, pkg, s.structs, texts)
}

// write writes the text, or checks that the file has it.
func (s *settings) write(text []byte, stdout io.Writer) error {
	switch {
	case s.check:
		had, err := os.ReadFile(s.output)
		if err != nil {
			return fmt.Errorf("check: %w", err)
		}
		if !bytes.Equal(had, text) {
			return fmt.Errorf("check: %s differs from what this command writes; run it without -check", s.output)
		}
		return nil
	case s.output == "":
		_, err := stdout.Write(text)
		return err
	}
	return write(s.output, text)
}

// write replaces a file, unless it has the text already, so that its time does not change.
func write(path string, text []byte) error {
	if had, err := os.ReadFile(path); err == nil && bytes.Equal(had, text) {
		return nil
	}
	const mode = 0o644
	return os.WriteFile(path, text, mode)
}
