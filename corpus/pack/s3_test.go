package pack

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rclone/gofakes3"
	"github.com/rclone/gofakes3/s3mem"
)

const accessKey, secretKey = "teasel", "a secret/of+teasel"

// serveS3 starts the server of rclone serve s3, which verifies signatures, with one bucket, and returns its URL.
func serveS3(t *testing.T) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(t.Context(), "fuzzing"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend, gofakes3.WithV4Auth(map[string]string{accessKey: secretKey})).Server())
	t.Cleanup(server.Close)
	return server.URL
}

func TestS3(t *testing.T) {
	t.Parallel()
	url := serveS3(t)
	s := S3{Endpoint: url, Bucket: "fuzzing", Prefix: "my server/näme+1", AccessKey: accessKey, SecretKey: secretKey, page: "2"}
	if names, err := s.List(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("an empty bucket has %q, %v", names, err)
	}
	testStore(t, &s)
	top := s
	top.Prefix = ""
	if names, err := top.List(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("packs below a prefix are at the top too: %q, %v", names, err)
	}
	for name, test := range map[string]struct {
		change func(*S3)
		want   error
	}{
		"key":    {func(s *S3) { s.AccessKey = "stranger" }, ErrRefused},
		"secret": {func(s *S3) { s.SecretKey = "guessed" }, ErrRefused},
		"bucket": {func(s *S3) { s.Bucket = "nowhere" }, ErrNoBucket},
	} {
		wrong := s
		test.change(&wrong)
		if _, err := wrong.List(t.Context()); !errors.Is(err, test.want) {
			t.Errorf("another %s: listing: %v, want %v", name, err, test.want)
		}
		if err := wrong.Put(t.Context(), "x", nil); !errors.Is(err, test.want) {
			t.Errorf("another %s: storing: %v, want %v", name, err, test.want)
		}
	}
}

// A service that fails for a moment is asked again; one that answers with something else is an error.
func TestS3Failures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status, asked int
		body, want    string
	}{
		{http.StatusServiceUnavailable, attempts, "<Error><Code>SlowDown</Code><Message>wait</Message></Error>", "status 503 SlowDown wait"},
		{http.StatusBadRequest, 1, "<html>", "status 400"},
		{http.StatusForbidden, 1, "<Error><Code>RequestTimeTooSkewed</Code></Error>", "the access key is refused"},
		{http.StatusOK, 1, "<html>", "the answer is no listing of a bucket"},
	} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			w.WriteHeader(test.status)
			fmt.Fprint(w, test.body)
		}))
		s := S3{Endpoint: server.URL, Bucket: "b", AccessKey: "k", SecretKey: "s"}
		_, err := s.List(t.Context())
		server.Close()
		if err == nil || !strings.Contains(err.Error(), test.want) || asked != test.asked {
			t.Errorf("status %d: asked %d times, want %d: %v", test.status, asked, test.asked, err)
		}
	}
}

func TestParseS3(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"s3://b": "b ", "s3://b/": "b ", "s3://b/p/q/": "b p/q", "s3://b/p//r/../q": "b p/q",
		"s3://": "", "s3://b?x=1": "", "s3://k:s@b": "", "http://b/p": "", "b": "",
	} {
		s, err := ParseS3(text)
		if got := ""; err == nil {
			got = s.Bucket + " " + s.Prefix
			if got != want {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		} else if want != "" {
			t.Errorf("%s: %v", text, err)
		}
	}
}
