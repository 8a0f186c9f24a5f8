package leader_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
)

// One process leads at a time. When it has finished, the next one leads at once.
func ExampleRun() {
	server := clienttest.New(clienttest.Options{})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = server.Run(ctx) }()
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	for _, identity := range []string{"first", "second"} {
		config := leader.Options{Namespace: "default", Name: "pages", Identity: identity} // a program leaves Identity empty
		err := leader.Run(ctx, c, config, func(ctx context.Context) error {
			term, _ := leader.TermOf(ctx)
			fmt.Printf("%s leads, term %d\n", term.Identity, term.Number)
			return nil
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// first leads, term 0
	// second leads, term 1
}

// A program that need not exit when it has lost the lease contends again.
func ExampleElector_Run() {
	server := clienttest.New(clienttest.Options{})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = server.Run(ctx) }()
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	elector := leader.New(c, leader.Options{Namespace: "default", Name: "pages"})
	leases := client.For(c, Leases)
	// An administrator forces a failover. Her requests do not end with the term.
	failover := func() error {
		lease, err := leases.Get(ctx, elector.Status().Lease)
		if err != nil {
			return err
		}
		if err := meta.SetNested(lease, "", "spec", "holderIdentity"); err != nil {
			return err
		}
		_, err = leases.Update(ctx, lease)
		return err
	}
	lead := func(ctx context.Context) error {
		term, _ := leader.TermOf(ctx)
		fmt.Println("leading:", elector.Status().Leading, "term", term.Number)
		if term.Number > 0 {
			return nil // all is done
		}
		if err := failover(); err != nil {
			return err
		}
		<-ctx.Done()
		fmt.Println("ended by a loss:", errors.As(context.Cause(ctx), new(*leader.LostError)))
		return ctx.Err()
	}
	for {
		err := elector.Run(ctx, lead)
		lost := (*leader.LostError)(nil)
		if !errors.As(err, &lost) {
			fmt.Println("end:", err)
			return
		}
		fmt.Println("lost:", lost.Reason)
	}
	// Output:
	// leading: true term 0
	// ended by a loss: true
	// lost: Emptied
	// leading: true term 1
	// end: <nil>
}

// A write that does not go through a client asks whether this process still leads.
func ExampleCheck() {
	server := clienttest.New(clienttest.Options{})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() { _ = server.Run(ctx) }()
	c, err := client.New(server.Config())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	save := func(ctx context.Context, text string) error { // to a database, say
		if err := leader.Check(ctx); err != nil {
			return fmt.Errorf("save: %w", err)
		}
		term, _ := leader.TermOf(ctx)
		fmt.Printf("save %q where the term is at most %d\n", text, term.Number)
		return nil
	}
	var late context.Context
	err = leader.Run(ctx, c, leader.Options{Namespace: "default", Name: "pages"}, func(ctx context.Context) error {
		late = ctx
		return save(ctx, "one")
	})
	fmt.Println(err)
	fmt.Println(save(late, "two"))
	// Output:
	// save "one" where the term is at most 0
	// <nil>
	// save: the term is over: lead has returned
}
