package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// settings are the values of the flags and the arguments.
type settings struct {
	files       []string // empty for a server
	kinds       []string
	groups      []string
	versions    []string
	fields      []string
	imports     []assignment // the prefix of components, and a package
	types       []assignment // the path of a field, and a type with its package
	functions   bool
	definitions bool
	crd         bool
	structs     []string // the types whose comments -crd reads
	output      string
	packageName string
	kubeconfig  string
	context     string
	check       bool
	command     string // the command that the first line of the file names
}

// assignment is the value of a flag of the form NAME=VALUE.
type assignment struct{ name, value string }

func (a assignment) String() string { return a.name + "=" + a.value }

const usage = `typegen writes Go types for kinds: a struct and a client.Type for each.

	typegen -o sites.go sites.yaml                       all kinds of the definitions in a file
	typegen -o pods.go -kinds pods -fields spec.nodeName one kind of the server of the kubeconfig, with some fields
	typegen -o types.go -groups gateway.networking.k8s.io all kinds of a group of that server
	kubectl get crd sites.example.com -o json | typegen -o sites.go -
	typegen -definitions -o sites.go sites.yaml          with the tags that make the definitions again

	typegen -crd -o descriptions.go Site                 the comments of a Go type, for the definition of its resource

A FILE has CustomResourceDefinitions (YAML or JSON, any number of documents) or is an
OpenAPI v3 document of a server. Without a FILE it asks the server.

Flags:
`

// program is the command by which users run typegen.
const program = "go run github.com/bowline-go/bowline/client/typegen"

// parse reads the flags.
func parse(args []string, out io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("typegen", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		fmt.Fprint(out, usage)
		flags.PrintDefaults()
	}
	list := func(into *[]string) func(string) error {
		return func(text string) error {
			*into = append(*into, strings.Split(text, ",")...)
			if slices.Contains(*into, "") {
				return errors.New("it must be names with commas between them")
			}
			return nil
		}
	}
	flags.Func("kinds", "`NAMES` of kinds: Site, sites or sites.example.com; of a server also as kubectl takes them (default all of the files)", list(&s.kinds))
	flags.Func("groups", "`NAMES` of groups or group versions of the server whose kinds are all written: apps, apps/v1, or core for the group without a name", list(&s.groups))
	flags.Func("versions", "`NAMES` of the versions, or all (default the most stable one that is served)", list(&s.versions))
	flags.Func("fields", "`PATHS` of the fields that the struct has, such as spec.nodeName,metadata.labels (default all)", list(&s.fields))
	pairs := func(into *[]assignment, form string) func(string) error {
		return func(text string) error {
			name, value, _ := strings.Cut(text, "=")
			if name == "" || value == "" {
				return errors.New("it must have the form " + form)
			}
			*into = append(*into, assignment{name, value})
			return nil
		}
	}
	flags.Func("import", "`PREFIX=PACKAGE`: schemas whose name in an OpenAPI document is the prefix, a dot and one word have their Go types in the package: io.k8s.api.core.v1=github.com/bowline-go/bowline/client/builtin/core. May be repeated", pairs(&s.imports, "PREFIX=PACKAGE"))
	flags.Func("type", "`FIELD=PACKAGE.TYPE`: an object has a Go type that exists: spec.template=github.com/bowline-go/bowline/client/builtin/core.PodTemplateSpec. May be repeated", pairs(&s.types, "FIELD=PACKAGE.TYPE"))
	flags.BoolVar(&s.functions, "functions", false, "write a function for each client.Type, which importers cannot change, in the place of a variable")
	flags.BoolVar(&s.definitions, "definitions", false, "write the tags crd too, and a function for each definition of the files, with which package client/crd makes it again")
	flags.BoolVar(&s.crd, "crd", false, "read the comments of the Go types whose names are the arguments, in the package of the folder of -o, and write functions with them for crd.Options")
	flags.StringVar(&s.output, "o", "", "the `FILE` to write (default standard output)")
	flags.StringVar(&s.packageName, "package", "", "the `NAME` of the package (default that of the folder of -o)")
	flags.BoolVar(&s.check, "check", false, "write nothing, and fail if the file of -o differs")
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "the kubeconfig `FILE` (default: as kubectl finds it)")
	flags.StringVar(&s.context, "context", "", "the `NAME` of the context of the kubeconfig (default the current one)")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if s.crd {
		s.structs = flags.Args()
		flags.Visit(func(f *flag.Flag) {
			if !slices.Contains([]string{"crd", "o", "check"}, f.Name) && err == nil {
				err = fmt.Errorf("-%s must not be set beside -crd", f.Name)
			}
		})
		return s, cmp.Or(err, s.completeStructs())
	}
	s.files = flags.Args()
	err = s.complete()
	return s, err
}

// completeStructs checks the settings of -crd.
func (s *settings) completeStructs() error {
	switch {
	case len(s.structs) == 0:
		return errors.New("-crd needs the names of Go types, such as Site")
	case s.check && s.output == "":
		return errors.New("-o must name the file that -check checks")
	}
	for i, name := range s.structs {
		if !token.IsIdentifier(name) || slices.Index(s.structs, name) < i {
			return fmt.Errorf("-crd needs names of Go types, each once, got %q", name)
		}
	}
	words := []string{program, "-crd"}
	if s.output != "" {
		words = append(words, "-o", quoted(s.output))
	}
	s.command = strings.Join(append(words, s.structs...), " ")
	return nil
}

// complete checks the settings and sets the default of the package.
func (s *settings) complete() error {
	switch {
	case len(s.files) == 0 && len(s.kinds) == 0 && len(s.groups) == 0:
		return errors.New("-kinds must name a kind of the server, or -groups a group, since there is no FILE")
	case len(s.files) > 0 && len(s.groups) > 0:
		return errors.New("-groups is for a server, and must not be set beside a FILE")
	case len(s.files) > 0 && (s.kubeconfig != "" || s.context != ""):
		return errors.New("-kubeconfig and -context are for a server, and must not be set beside a FILE")
	case s.check && s.output == "":
		return errors.New("-o must name the file that -check checks")
	case len(s.fields) > 0 && len(s.files) == 0 && (len(s.kinds) > 1 || len(s.groups) > 0):
		return errors.New("-fields needs one kind, and -kinds or -groups name several")
	case len(s.fields) > 0 && len(s.types) > 0:
		return errors.New("-type needs whole kinds, and must not be set beside -fields")
	}
	if s.definitions {
		switch {
		case len(s.files) == 0:
			return errors.New("-definitions needs a FILE with the definitions")
		case len(s.fields) > 0 || len(s.types) > 0 || len(s.imports) > 0 || len(s.versions) > 0:
			return errors.New("-definitions needs whole kinds in all versions, and must not be set beside -fields, -type, -import or -versions")
		}
	}
	for _, t := range s.types {
		if !strings.Contains(path.Base(t.value), ".") {
			return fmt.Errorf("-type must have the form FIELD=PACKAGE.TYPE, got %q", t)
		}
	}
	s.command = s.commandLine()
	s.packageName = cmp.Or(s.packageName, packageOf(s.output))
	if !token.IsIdentifier(s.packageName) || s.packageName == "_" {
		return fmt.Errorf("-package must be the name of a package, got %q", s.packageName)
	}
	return nil
}

// commandLine returns the command without the flags that do not change the output.
func (s *settings) commandLine() string {
	words := []string{program}
	named := []assignment{
		{"-o", s.output},
		{"-package", s.packageName},
		{"-kinds", strings.Join(s.kinds, ",")},
		{"-groups", strings.Join(s.groups, ",")},
		{"-versions", strings.Join(s.versions, ",")},
		{"-fields", strings.Join(s.fields, ",")},
	}
	for _, i := range s.imports {
		named = append(named, assignment{"-import", i.String()})
	}
	for _, t := range s.types {
		named = append(named, assignment{"-type", t.String()})
	}
	for _, f := range named {
		if f.value != "" {
			words = append(words, f.name, quoted(f.value))
		}
	}
	if s.functions {
		words = append(words, "-functions")
	}
	if s.definitions {
		words = append(words, "-definitions")
	}
	for _, file := range s.files {
		words = append(words, quoted(file))
	}
	return strings.Join(words, " ")
}

// quoted returns an argument, quoted if a shell would change it.
func quoted(arg string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:="
	if strings.Trim(arg, plain) == "" {
		return arg
	}
	return strconv.Quote(arg)
}

// packageOf returns the name of the package in the folder of a file: the name in its Go files, or else the name of the
// folder.
func packageOf(output string) string {
	if output == "" {
		return "main"
	}
	folder := filepath.Dir(output)
	files, _ := filepath.Glob(filepath.Join(folder, "*.go")) // sorted; the only error is that of a bad pattern
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || filepath.Base(file) == filepath.Base(output) && len(files) > 1 {
			continue
		}
		if f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly); err == nil {
			return f.Name.Name
		}
	}
	full, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(filepath.Base(full)))
	return cmp.Or(strings.TrimLeft(name, "0123456789"), "main")
}
