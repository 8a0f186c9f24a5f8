// Package copyscript has the shell scripts that package remote runs in containers to copy without tar, and to check
// copies. Package client/clienttest/containers knows them too.
//
// A script gets names as arguments and on its standard input, and no name is ever a part of its text. A name on
// standard input is a line in which a newline is \0012 and a backslash is \0134. A script that succeeds writes the
// nonce that it was given, which nobody in the container could know before, as the last of its output, so that an
// output that was cut off cannot be taken for a whole one.
package copyscript

import (
	"embed"
	"strings"
)

// The exit codes that scripts have for errors of their own. For all others it is 1.
const (
	Exists    = 81 // something is there that must not be replaced
	NoProgram = 83 // a program is missing, or cannot do what is needed
)

//go:embed *.sh
var files embed.FS

// Read returns the script with the arguments NAME NONCE, which writes a file to standard output.
func Read() string { return script("read.sh") }

// Write returns the script with the arguments TEMPORARY NAME REPLACE SUM, which makes TEMPORARY, says "ready", writes
// standard input to TEMPORARY, and says how many bytes it got and, if SUM is 1, their SHA-256.
func Write() string { return script("write.sh") }

// Remove returns the script with the arguments TEMPORARY, which removes it, also if Write has only begun.
func Remove() string { return script("remove.sh") }

// Commit returns the script with the arguments TEMPORARY NAME REPLACE MODE, which renames what Write has written. An
// empty MODE changes none.
func Commit() string { return script("commit.sh") }

// Check returns the script with the arguments FOLDER NONCE REPLACE, which makes the folder, and fails if something in
// it stands in the way of what is on standard input: names, each after a letter, d for a folder and f for all else. An
// empty line ends them.
func Check() string { return script("check.sh") }

// Sums returns the script with the arguments FOLDER NONCE, which writes, for each name on standard input, a line that
// begins with its SHA-256. An empty line ends the names.
func Sums() string { return script("sums.sh") }

// Pack returns the script with the arguments NONCE NAME, which writes a file, or a folder as "." and its content, to
// standard output: for each entry a header, which ends with a zero byte, then its name and, for a link, its target,
// which end likewise, and then the bytes of a file.
func Pack() string { return script("pack.sh") }

// Unpack returns the script with the arguments NONCE FOLDER REPLACE, which makes the entries that come on standard
// input.
func Unpack() string { return script("unpack.sh") }

// script returns a script without its comments and indentation, which need not travel: a command is a part of a URL.
func script(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the file is in the program
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
