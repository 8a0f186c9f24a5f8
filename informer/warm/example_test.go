package warm_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/warm"
)

// Lease has the fields of a lease that this program needs.
type Lease struct {
	meta.Identity `json:"metadata"`
	Spec          struct {
		HolderIdentity string `json:"holderIdentity,omitempty"`
	} `json:"spec"`
}

// Leases describes the resource.
var Leases = client.Type[*Lease]{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease", Resource: "leases"}

// A program runs, ends, and runs again. The second time the server sends only the lease that is new.
func Example() {
	server := clienttest.New(clienttest.Options{})
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	folder, err := os.MkdirTemp("", "warm")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	cacheDir := filepath.Join(folder, "caches")
	leases := client.For(c, Leases)

	create := func(ctx context.Context, name string) error {
		_, err := leases.Create(ctx, &Lease{Identity: meta.Identity{Namespace: "default", Name: name}})
		return err
	}
	errDone := errors.New("done")
	program := func(ctx context.Context) error { // one process
		inf := informer.New(leases, informer.Options{Warm: warm.New(warm.Options{Dir: cacheDir})})
		work := func(ctx context.Context) error {
			if err := inf.WaitSynced(ctx); err != nil {
				return err
			}
			status := inf.Status()
			fmt.Printf("%d leases, %d of them from the file and the changes since then, %d lists\n", status.Objects, status.Warm, status.Lists)
			return errDone
		}
		if err := informer.Run(ctx, inf, informer.RunnerFunc(work)); err != errDone {
			return err
		}
		return nil
	}
	cluster := func(ctx context.Context) error {
		for _, name := range []string{"a", "b", "c"} {
			if err := create(ctx, name); err != nil {
				return err
			}
			if name == "a" {
				continue
			}
			if err := program(ctx); err != nil {
				return err
			}
		}
		return errDone
	}
	if err := informer.Run(context.Background(), informer.RunnerFunc(server.Run), informer.RunnerFunc(cluster)); err != errDone {
		fmt.Println(err)
	}
	// Output:
	// 2 leases, 0 of them from the file and the changes since then, 1 lists
	// 3 leases, 3 of them from the file and the changes since then, 0 lists
}

// The caches of Secrets are encrypted. The key comes from outside the folder of the files.
func ExampleOptions_encryption() {
	key := make([]byte, 32) // read it from a mounted Secret, for example
	block, err := aes.NewCipher(key)
	if err != nil {
		fmt.Println(err)
		return
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		fmt.Println(err)
		return
	}
	files := warm.New(warm.Options{
		Dir:  "/var/cache/packer",
		Seal: func(plain []byte) ([]byte, error) { return aead.Seal(nil, nil, plain, nil), nil },
		Open: func(sealed []byte) ([]byte, error) { return aead.Open(nil, nil, sealed, nil) },
	})
	_ = informer.Options{Warm: files}
}
