package clienttest

// Bounded returns o with other bounds of the history and of a watch's lag.
func (o Options) Bounded(history, lag int) Options {
	o.history, o.lag = history, lag
	return o
}
