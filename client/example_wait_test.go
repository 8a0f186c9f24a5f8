package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// WaitFor makes one list and one watch. Its error has the last state that it saw.
func ExampleWaitFor() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings)
		key := meta.Key{Namespace: "default", Name: "web"}
		made, err := settings.Create(ctx, &Settings{Identity: meta.Identity{Namespace: key.Namespace, Name: key.Name}})
		if err != nil {
			return err
		}
		deleted := make(chan error, 1)
		go func() { deleted <- settings.Delete(ctx, key, client.DeleteOptions{}) }()
		if _, err := client.WaitFor(ctx, settings, key, client.UntilDeleted(made.UID)); err != nil {
			return err
		}
		fmt.Println("it is gone")

		soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		_, err = client.WaitFor(soon, settings, key, client.Until("green", func(s *Settings) (bool, error) {
			return s.Data["color"] == "green", nil
		}))
		var late *client.WaitError
		fmt.Println(errors.As(err, &late), errors.Is(err, context.DeadlineExceeded), late.State)
		return <-deleted
	})
	// Output:
	// it is gone
	// true true it does not exist
}

// A custom condition is a function of the object as it is on the wire.
func ExampleCondition() {
	large := client.Condition{Name: "large", Met: func(obj *meta.Raw) (bool, string, error) {
		if obj == nil {
			return false, "", nil
		}
		size, _, err := meta.Nested[int](obj, "spec", "replicas")
		return size >= 10, fmt.Sprintf("%d replicas", size), err
	}}
	var obj meta.Raw
	if err := obj.UnmarshalJSON([]byte(`{"metadata":{"name":"web"},"spec":{"replicas":3}}`)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(large.Met(&obj))
	// Output:
	// false 3 replicas <nil>
}

// A table has the columns that kubectl prints.
func ExampleResource_Table() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings)
		if _, err := settings.Create(ctx, &Settings{
			Identity: meta.Identity{Namespace: "default", Name: "web"}, Data: map[string]string{"color": "green"},
		}); err != nil {
			return err
		}
		table, err := settings.Table(ctx, client.ListOptions{Namespace: "default"}, client.TableOptions{})
		if err != nil {
			return err
		}
		for i, column := range table.Columns[:2] {
			fmt.Println(column.Name, table.Rows[0].Cells[i])
		}
		return nil
	})
	// Output:
	// Name web
	// Data 1
}

// A watch of tables brings a row for each event, as kubectl get --watch prints it.
func ExampleResource_WatchTable() {
	withServer(func(ctx context.Context, c *client.Client) error {
		settings := client.For(c, AllSettings).In("default")
		if _, err := settings.Create(ctx, &Settings{Identity: meta.Identity{Name: "web"}}); err != nil {
			return err
		}
		for event, err := range settings.WatchTable(ctx, client.WatchOptions{InitialEvents: true}, client.TableOptions{}) {
			if err != nil {
				return err
			}
			for _, row := range event.Table.Rows {
				fmt.Println(event.Type, row.Cells[0], row.Cells[1])
			}
			if event.Type == client.Modified {
				break
			}
			if event.InitialEventsEnd { // all that exists has come
				if _, err := settings.Modify(ctx, meta.Key{Name: "web"}, func(s *Settings) error {
					s.Data = map[string]string{"color": "green"}
					return nil
				}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	// Output:
	// ADDED web 0
	// MODIFIED web 1
}

// Raw reaches paths that are not resources.
func ExampleClient_Raw() {
	withServer(func(ctx context.Context, c *client.Client) error {
		resp, err := c.Raw(ctx, client.RawRequest{Path: "/api"})
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		if err != nil {
			return err
		}
		fmt.Println(resp.Header.Get("Content-Type"), len(body) > 0)

		_, err = c.Raw(ctx, client.RawRequest{Path: "/nothing"})
		fmt.Println(err)
		return nil
	})
	// Output:
	// application/json true
	// get "/nothing": server said NotFound (404): the answer is not a Status but text/plain; charset=utf-8: 404 page not found
}
