package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"

	"github.com/bowline-go/bowline/internal/proof/e2e/lifeline"
)

func main() {
	lifeline.Hold()
	etcdmain.Main(os.Args)
}
