// Command server is the canned server as a process: it prints its URL in one line and serves until its input ends.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/bowline-go/bowline/internal/proof/bench/canned"
)

func main() {
	n := flag.Int("pods", 20_000, "how many `objects` it serves")
	name := flag.String("objects", canned.Plain, fmt.Sprintf("the `collection` that it serves, of %q", canned.Collections()))
	flag.Parse()
	if err := serve(*name, *n); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func serve(name string, n int) error {
	c, err := canned.Collect(name, n)
	if err != nil {
		return err
	}
	s, err := canned.Serve(c)
	if err != nil {
		return err
	}
	fmt.Println(s.URL)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return s.Close()
}
