package sample

// The requests of a sample to the canned server. The paths are those of package canned, which is not imported, because
// it links k8s.io/api, and one side does not.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// modify makes the server send events. It returns the version of the last.
func modify(ctx context.Context, p Params) (last int, err error) {
	return control(ctx, p.Server, fmt.Sprintf("modify?events=%d&rate=%d", p.Events, p.Rate))
}

// expire makes the server end the watch with 410. It returns the version of the list that follows.
func expire(ctx context.Context, p Params) (version string, err error) {
	v, err := control(ctx, p.Server, "expire")
	return strconv.Itoa(v), err
}

func control(ctx context.Context, server, what string) (version int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server+"/control/"+what, nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: the canned server said %s: %s", what, response.Status, body)
	}
	var answer struct{ Version int }
	return answer.Version, json.Unmarshal(body, &answer)
}
