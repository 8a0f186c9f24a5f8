// Modify has several clerks sell the seats of one show at the same time, and no seat is sold twice.
//
//	go run ./examples/modify               # with nothing but Go: the API server is in the process
//	go run ./examples/modify -kubeconfig FILE -namespace NAME   # it makes a config map there, and deletes it
//
// The seats are in a config map. Resource.Modify reads it, calls the clerk's function to change it and writes it back.
// If somebody else was faster, it does all of that again. So the function always sees the present state, and may be
// called several times for one seat. If it returns an error, nothing is written. Fields that Show does not name, such
// as the labels, stay.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/examples/internal/cluster"
)

// Show is the part of a config map that a clerk needs.
type Show struct {
	meta.Identity `json:"metadata"`
	Data          struct {
		Free string `json:"free"` // the seats that are left, with spaces between them
		Sold string `json:"sold"` // the others, each with its clerk
	} `json:"data"`
}

// Shows is the resource of config maps, read and written as Shows.
var Shows = client.Type[*Show]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

var errSoldOut = errors.New("the show is sold out")

// sell sells the next free seat and returns it.
func sell(ctx context.Context, shows client.Resource[*Show], key meta.Key, clerk string) (seat string, err error) {
	_, err = shows.Modify(ctx, key, func(s *Show) error {
		free := strings.Fields(s.Data.Free)
		if len(free) == 0 {
			return errSoldOut // nothing is written, and Modify returns it
		}
		seat = free[0] // of the last call, which is the one that was written
		s.Data.Free = strings.Join(free[1:], " ")
		s.Data.Sold = strings.TrimSpace(s.Data.Sold + " " + seat + ":" + clerk)
		return nil
	})
	// If the connection broke at the wrong moment, it is unknown whether the seat is sold. Selling another one could be
	// one too many, so a person must check.
	if lost, ok := errors.AsType[*client.ModifyError](err); ok && lost.MayHaveWritten {
		return "", fmt.Errorf("sell seat %s by %s: check whether it is sold: %w", seat, clerk, err)
	}
	return seat, err
}

// work has clerks sell until nothing is left, and prints what they have sold.
func work(ctx context.Context, c *client.Client, namespace string, clerks []string, out io.Writer) error {
	shows := client.For(c, Shows)
	show := &Show{Identity: meta.Identity{Namespace: namespace, Name: "bowline-example-show"}}
	show.Data.Free = "1a 1b 1c 2a 2b 2c 3a 3b 3c"
	if _, err := shows.Create(ctx, show); err != nil {
		return err
	}
	key := meta.KeyOf(show)
	var (
		all  sync.WaitGroup
		mu   sync.Mutex // guards sold and errs
		sold []string
		errs []error
	)
	for _, clerk := range clerks {
		all.Go(func() {
			for {
				seat, err := sell(ctx, shows, key, clerk)
				mu.Lock()
				switch {
				case err == nil:
					sold = append(sold, seat)
				case !errors.Is(err, errSoldOut):
					errs = append(errs, err)
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	slices.Sort(sold)
	fmt.Fprintf(out, "%d clerks have sold %s\n", len(clerks), strings.Join(sold, " "))
	return errors.Join(append(errs, shows.Delete(context.WithoutCancel(ctx), key, client.DeleteOptions{}))...)
}

func main() {
	namespace := flag.String("namespace", "default", "where the config map is made")
	cluster.Example{Work: func(ctx context.Context, c *client.Client) error {
		return work(ctx, c, *namespace, []string{"ann", "ben", "cem", "dot"}, os.Stdout)
	}}.Main()
}
