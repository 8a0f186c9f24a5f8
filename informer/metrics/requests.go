package metrics

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bowline-go/bowline/client"
)

// requestBuckets are the buckets of Kubernetes' own components.
var requestBuckets = []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}

// requests has the metrics of requests.
type requests struct {
	group
	total, retries   *prometheus.CounterVec
	duration, limits *prometheus.HistogramVec
}

func newRequests() *requests {
	r := &requests{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rest_client_requests_total",
			Help: "HTTP requests, by status code, method and host.",
		}, []string{"code", "method", "host"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "rest_client_request_retries_total",
			Help: "Retried requests, by the status code of the attempt that failed, verb and host.",
		}, []string{"code", "verb", "host"}),
		duration: histogram("rest_client_request_duration_seconds",
			"Time until the headers of the answer, in seconds, by verb and host.", requestBuckets, "verb", "host"),
		limits: histogram("rest_client_rate_limiter_duration_seconds",
			"Time that a request waited for a limit of the client, in seconds, by verb and host.", requestBuckets, "verb", "host"),
	}
	r.group = group{r.total, r.retries, r.duration, r.limits}
	return r
}

// histogram returns a histogram that is also a native histogram, for servers that accept those.
func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
	}, labels)
}

func (r *requests) hooks() client.Hooks {
	return client.Hooks{
		Request: func(_ context.Context, i client.RequestInfo) {
			r.total.WithLabelValues(code(i), i.Method, i.Host).Inc()
			if i.Verb != "watch" {
				r.duration.WithLabelValues(i.Method, i.Host).Observe(i.Duration.Seconds())
				r.limits.WithLabelValues(i.Method, i.Host).Observe(i.Waited.Seconds())
			}
		},
		Retry: func(_ context.Context, i client.RequestInfo) {
			r.retries.WithLabelValues(code(i), i.Method, i.Host).Inc()
		},
	}
}

// code is the label of an attempt's outcome, as in client-go.
func code(i client.RequestInfo) string {
	if i.Code == 0 {
		return "<error>"
	}
	return strconv.Itoa(i.Code)
}
