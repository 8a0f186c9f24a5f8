package workloads

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// The scenarios wait for a cluster most of their time, so many of them run together.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "24"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
