package kubeconfig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// FieldError says what is wrong in a kubeconfig, and where. It matches [errors.ErrUnsupported] if the field is valid
// but this package does not support it, and the operating system's error if a file cannot be read.
type FieldError struct {
	file   string // as the caller named it; empty for bytes without a name
	stanza string // such as users["admin"]; empty for the file as a whole
	field  string // such as "client-key-data"; empty for the stanza as a whole
	err    error
}

// Error implements error.
func (e *FieldError) Error() string {
	if e.field == "" {
		return where(e.file, e.stanza) + ": " + e.err.Error()
	}
	return where(e.file, e.stanza) + ": " + e.field + " " + e.err.Error()
}

// Unwrap returns the fault.
func (e *FieldError) Unwrap() error { return e.err }

// NotFoundError says that a referenced context, cluster or user does not exist.
type NotFoundError struct {
	What string // "context", "cluster" or "user"
	Name string // its name

	file    string // the file that refers to it; for Options.Context those that were searched, separated by ", "
	stanza  string // the part of file that refers to it, such as contexts["a"]; empty for Options.Context
	ignored string // a note about entries without a name, one of which may be the missing one
}

// Error implements error.
func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("%s %q not found", e.What, e.Name)
	if e.ignored != "" {
		text += " (" + e.ignored + ")"
	}
	if e.file == "" && e.stanza == "" {
		return text
	}
	return where(e.file, e.stanza) + ": " + text
}

// EmptyError says that there is no configuration: no kubeconfig exists, or all of them are empty.
type EmptyError struct {
	files []string // the searched files, existing or not
	err   error    // why the pod's service account was not usable; nil if it was not tried
}

// Error implements error.
func (e *EmptyError) Error() string {
	if e.err == nil {
		return where(strings.Join(e.files, ", "), "") + ": is empty"
	}
	none := "KUBECONFIG is not set, and the home directory is not known"
	if files := printable(strings.Join(e.files, ", ")); files != "" {
		none = "none in " + files
	}
	return fmt.Sprintf("find a kubeconfig: %s; %v", none, e.err)
}

// Unwrap returns why the pod's service account was not usable; nil if it was not tried.
func (e *EmptyError) Unwrap() error { return e.err }

// NotInClusterError says that the program does not run in a pod of a cluster.
type NotInClusterError struct {
	variable string // the environment variable that each pod has and this program lacks
}

// Error implements error.
func (e *NotInClusterError) Error() string { return "not in a cluster: " + e.variable + " is not set" }

// where describes a place for people.
func where(file, stanza string) string {
	place := "kubeconfig"
	if file != "" {
		place += " " + printable(file)
	}
	if stanza != "" {
		place += ": " + stanza
	}
	return place
}

// printable returns s unchanged, or quoted if it would affect a terminal.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// unsupported is the error of a field that this package does not support.
type unsupported string

func (u unsupported) Error() string { return string(u) }

func (u unsupported) Is(target error) bool { return target == errors.ErrUnsupported }
