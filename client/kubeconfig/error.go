package kubeconfig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// FieldError says what is wrong in a kubeconfig, and where. It matches [errors.ErrUnsupported] if the field is valid but
// this package does not support it, and the operating system's error if a file cannot be read.
type FieldError struct {
	File   string // the file, as the caller named it; empty for bytes without a name
	Stanza string // the part of it, such as users["admin"]; empty for the file as a whole
	Field  string // the field of the stanza, such as "client-key-data"; empty for the stanza as a whole
	Err    error  // the fault
}

// Error implements error.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return where(e.File, e.Stanza) + ": " + e.Err.Error()
	}
	return where(e.File, e.Stanza) + ": " + e.Field + " " + e.Err.Error()
}

// Unwrap returns Err.
func (e *FieldError) Unwrap() error { return e.Err }

// NotFoundError says that a referenced context, cluster or user does not exist.
type NotFoundError struct {
	What string // "context", "cluster" or "user"
	Name string // its name

	// File is the file that refers to it. If Options.Context does, these are the files that were searched, separated by ", ".
	File string

	// Stanza is the part of File that refers to it: "current-context" or contexts["..."]; empty for Options.Context.
	Stanza string

	// Ignored names the entries without a name, because one of them may be meant; empty if there are none.
	Ignored string
}

// Error implements error.
func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("%s %q not found", e.What, e.Name)
	if e.Ignored != "" {
		text += " (" + e.Ignored + ")"
	}
	if e.File == "" && e.Stanza == "" {
		return text
	}
	return where(e.File, e.Stanza) + ": " + text
}

// EmptyError says that there is no configuration: no kubeconfig exists, or all of them are empty.
type EmptyError struct {
	Files []string // the searched files, existing or not
	Err   error    // why the pod's service account was not usable; nil if it was not tried
}

// Error implements error.
func (e *EmptyError) Error() string {
	if e.Err == nil {
		return where(strings.Join(e.Files, ", "), "") + ": is empty"
	}
	files := printable(strings.Join(e.Files, ", "))
	if files == "" {
		files = "KUBECONFIG, which is not set, or in a home directory, which is not known"
	}
	return fmt.Sprintf("find a kubeconfig: none in %s; %v", files, e.Err)
}

// Unwrap returns Err.
func (e *EmptyError) Unwrap() error { return e.Err }

// NotInClusterError says that the program does not run in a pod of a cluster.
type NotInClusterError struct {
	Variable string // the environment variable that each pod has and this program lacks
}

// Error implements error.
func (e *NotInClusterError) Error() string { return "not in a cluster: " + e.Variable + " is not set" }

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
