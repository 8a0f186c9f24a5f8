// Package copyscript has the shell scripts that package remote runs in containers to copy without tar, and to check
// copies. Package client/clienttest/containers knows them too.
//
// A script gets names as arguments and on its standard input; no name is ever part of its text. A name on standard
// input is a line in which a newline is \0012 and a backslash is \0134. A script with a NONCE argument ends its output
// with the nonce when it succeeds. Nobody in the container could know the nonce before, so a truncated output is
// detected.
package copyscript

import (
	"embed"
	"strings"
)

// The scripts' own exit codes. The exit code of other errors is 1.
const (
	Exists    = 81 // a file or folder exists that must not be replaced
	NoProgram = 83 // a program is missing, or lacks a needed feature
)

//go:embed *.sh
var files embed.FS

// Read returns the script with the arguments NAME NONCE, which writes a file to standard output.
func Read() string { return script("read.sh") }

// Write returns the script with the arguments TEMPORARY NAME REPLACE SUM, which makes TEMPORARY, prints "ready",
// copies standard input to TEMPORARY, and prints the number of bytes and, if SUM is 1, their SHA-256.
func Write() string { return script("write.sh") }

// Remove returns the script with the argument TEMPORARY, which removes that file, even if Write has only begun.
func Remove() string { return script("remove.sh") }

// Commit returns the script with the arguments TEMPORARY NAME REPLACE MODE, which renames the file that Write has
// written. An empty MODE leaves the mode unchanged.
func Commit() string { return script("commit.sh") }

// Check returns the script with the arguments FOLDER NONCE REPLACE, which makes the folder, and fails if a name on
// standard input exists in it and must not be replaced. Each name follows a letter, d for a folder and f for anything
// else. An empty line ends the names.
func Check() string { return script("check.sh") }

// Sums returns the script with the arguments FOLDER NONCE, which prints, for each name on standard input, a line that
// begins with the SHA-256 of the file. An empty line ends the names.
func Sums() string { return script("sums.sh") }

// Pack returns the script with the arguments NONCE NAME, which writes a file, or a folder as "." and its content, to
// standard output: for each entry a header, its name and, for a link, its target, each ended by a zero byte, and then
// the bytes of a file.
func Pack() string { return script("pack.sh") }

// Unpack returns the script with the arguments NONCE FOLDER REPLACE, which makes the entries described on standard
// input.
func Unpack() string { return script("unpack.sh") }

// script returns a script without comments and indentation, because the command is part of a URL.
func script(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // cannot happen: the file is embedded
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

var escaper = strings.NewReplacer("\n", `\0012`, `\`, `\0134`)

// Line returns a name as a line of standard input.
func Line(name string) string { return escaper.Replace(name) + "\n" }

var unescaper = strings.NewReplacer(`\0012`, "\n", `\0134`, `\`)

// Name returns the name that a line stands for.
func Name(line string) string { return unescaper.Replace(strings.TrimSuffix(line, "\n")) }
