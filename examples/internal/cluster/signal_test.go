//go:build unix

package cluster

import (
	"context"
	"syscall"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/examples/internal/hanging"
)

func TestMain(m *testing.M) {
	hanging.Main(m, Example{Work: func(context.Context, *client.Client) error {
		hanging.Forever()
		return nil
	}}.Main)
}

// The examples caught every interrupt, and ended only with SIGKILL.
func TestASecondSignalEndsAnExample(t *testing.T) { hanging.Test(t, syscall.SIGINT) }
