// Package remote runs commands in the containers of pods, and reads their logs.
//
// [Command] and [Attach] return a [Cmd], which is used like an exec.Cmd:
//
//	out, err := remote.Command(pods, key, "cat", "/etc/hostname").Output(ctx)
//
// pods is a handle on core v1 pods, of any T. The client needs the permissions get and create on pods/exec or pods/attach; servers
// before 1.35 ask for get alone. The connection is a WebSocket, which a kube-apiserver speaks since 1.30 for both, and goes through the client
// with its credentials, proxies and hooks.
//
// # What a connection costs
//
// A running command has one connection and four goroutines, and one more for each of Stdin and Sizes. Nothing of it is left when Run,
// or Wait, has returned, with one exception: a goroutine that is in a call of the caller's Read or Write at the end of the context
// ends with that call.
//
// # Logs
//
// [Logs] is the log of one container as an io.ReadCloser, and [Lines] the same line by line. [Tail] follows many containers as one:
//
//	for line, err := range remote.Tail(ctx, pods, remote.TailOptions{LabelSelector: "app=web"}) {
//		if logErr := (*remote.LogError)(nil); errors.As(err, &logErr) {
//			continue // one container; the others go on
//		}
//		if err != nil {
//			return err
//		}
//		fmt.Println(line.Pod.Name, line.Container, line.Text)
//	}
//
// The client needs the permission get on pods/log, and Tail also list and watch on pods. Only Tail resumes a log that was cut.
package remote
