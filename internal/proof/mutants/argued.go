package main

import (
	"fmt"
	"strings"
)

// parseArguments reads argued.txt: for each mutant that may survive, a line with its identity and an indented line
// that says why. Lines that begin with # and empty lines are ignored.
func parseArguments(text string) (map[string]string, error) {
	arguments := map[string]string{}
	identity := ""
	for i, line := range strings.Split(text, "\n") {
		why := strings.TrimSpace(line)
		switch {
		case why == "" || strings.HasPrefix(line, "#"):
		case line[0] != ' ' && line[0] != '\t':
			if identity != "" {
				return nil, fmt.Errorf("argued.txt:%d: the mutant before has no argument", i+1)
			}
			if _, twice := arguments[why]; twice {
				return nil, fmt.Errorf("argued.txt:%d: this mutant is argued for twice", i+1)
			}
			identity = why
		case identity == "":
			return nil, fmt.Errorf("argued.txt:%d: an argument without a mutant", i+1)
		default:
			arguments[identity] = why
			identity = ""
		}
	}
	if identity != "" {
		return nil, fmt.Errorf("argued.txt: the last mutant has no argument")
	}
	return arguments, nil
}
