package kubectlscript

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed commands
var commands embed.FS

// Short is the name of the script that is run in every test of this module.
const Short = "short"

// Script is the commands of a file, which run one after the other in one namespace.
type Script struct {
	Name  string // that of the file, without .txt
	Steps []Step
}

// Step is a command, or a file that commands read.
type Step struct {
	File  string   // the name of the file to be written; empty for a command
	Name  string   // the command as it is written
	Env   []string // NAME=VALUE
	From  []string // the arguments of a kubectl whose output is the input, if there is one
	Args  []string // after kubectl
	Input string   // standard input, or the content of the file
}

// Scripts reads all scripts, in the order of their names.
func Scripts() ([]Script, error) {
	entries, err := commands.ReadDir("commands")
	if err != nil {
		return nil, err
	}
	var scripts []Script
	for _, e := range entries {
		text, err := commands.ReadFile(path.Join("commands", e.Name()))
		if err != nil {
			return nil, err
		}
		steps, err := parse(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		scripts = append(scripts, Script{Name: strings.TrimSuffix(e.Name(), ".txt"), Steps: steps})
	}
	return scripts, nil
}

// parse reads a script. The error names the line.
func parse(text string) ([]Step, error) {
	var steps []Step
	lines := map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		number := i + 1
		if input, found := strings.CutPrefix(line, "|"); found {
			if len(steps) == 0 {
				return nil, fmt.Errorf("line %d: there is no command above this input", number)
			}
			steps[len(steps)-1].Input += strings.TrimPrefix(input, " ") + "\n"
			continue
		}
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		words, err := split(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if words[0] == "file" {
			if len(words) != 2 || path.Base(words[1]) != words[1] {
				return nil, fmt.Errorf("line %d: file must be followed by one name without a directory", number)
			}
			steps = append(steps, Step{File: words[1]})
			continue
		}
		if first := lines[line]; first > 0 {
			return nil, fmt.Errorf("line %d: the same command is in line %d; a comment at its end would tell them apart", number, first)
		}
		lines[line] = number
		step := Step{Name: line}
		for len(words) > 0 && words[0] != "kubectl" {
			if !strings.Contains(words[0], "=") {
				break
			}
			step.Env, words = append(step.Env, words[0]), words[1:]
		}
		if pipe := slices.Index(words, "|"); pipe > 0 && words[0] == "kubectl" {
			step.From, words = words[1:pipe], words[pipe+1:]
		}
		if len(words) == 0 || words[0] != "kubectl" {
			return nil, fmt.Errorf("line %d: a command must be kubectl, after NAME=VALUE if need be", number)
		}
		step.Args = words[1:]
		steps = append(steps, step)
	}
	return steps, nil
}

// split returns the words of a command, without a comment at its end. Quotes, single and double, are as in a shell,
// except that a backslash stands for itself.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inside, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			inside, quote = true, r
		case r == ' ' || r == '\t':
			if inside {
				words = append(words, word.String())
				word.Reset()
				inside = false
			}
		case r == '#' && !inside:
			return words, nil
		default:
			inside = true
			word.WriteRune(r)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c must be closed", quote)
	}
	if inside {
		words = append(words, word.String())
	}
	return words, nil
}
