//go:build unix

package main

import (
	"syscall"
	"testing"

	"github.com/bowline-go/bowline/examples/internal/hanging"
)

func TestMain(m *testing.M) { hanging.Main(m, main) }

// The program caught every signal, and ended only with SIGKILL.
func TestASecondSignalEndsTheProgram(t *testing.T) { hanging.Test(t, syscall.SIGTERM) }
