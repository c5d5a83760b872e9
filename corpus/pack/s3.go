package pack

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go/encoding/httpbinding"
)

// S3 is a [Store] in a bucket of S3-compatible storage, in objects whose keys begin with a prefix. It needs three requests only, so
// that it is a client of net/http with the signatures of AWS's own package, and not one of their SDK, which is ten times as big.
type S3 struct {
	Endpoint string // URL of the service; "": AWS's, in the region
	Region   string // "": us-east-1, which servers that know no regions take
	Bucket   string
	Prefix   string // without slashes at its ends; "": the packs are at the top of the bucket

	AccessKey, SecretKey string
	SessionToken         string       // of temporary keys; "": none
	Client               *http.Client // nil: http.DefaultClient, which waits for ever

	page string // keys in one answer to a listing; "": as many as the service gives
}

var _ Store = (*S3)(nil)

// ErrRefused is wrapped by the error of a request whose keys the service does not accept.
var ErrRefused = errors.New("the access key is refused")

// ErrNoBucket is wrapped by the error of a request to a bucket that does not exist.
var ErrNoBucket = errors.New("there is no such bucket")

// ParseS3 returns the store that a URL such as s3://bucket/prefix names. Its client gives up on a service that says nothing for a minute.
func ParseS3(text string) (*S3, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "s3" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%.200q: expected s3://BUCKET or s3://BUCKET/PREFIX", text)
	}
	patient := http.DefaultTransport.(*http.Transport).Clone()
	patient.ResponseHeaderTimeout = time.Minute // a service that takes a connection and says nothing holds up nobody for longer
	return &S3{Bucket: u.Host, Prefix: strings.Trim(path.Clean("/"+u.Path), "/"), Client: &http.Client{Transport: patient}}, nil
}

// listing is the answer to ListObjectsV2.
type listing struct {
	Contents []struct {
		Key string `xml:"Key"`
	} `xml:"Contents"`
	IsTruncated           bool
	NextContinuationToken string
}

// List returns the names of the packs below the prefix.
func (s *S3) List(ctx context.Context) (names []string, err error) {
	for token := ""; ; {
		q := url.Values{"list-type": {"2"}, "prefix": {s.key("")}, "delimiter": {"/"}}
		if s.page != "" {
			q.Set("max-keys", s.page)
		}
		if token != "" {
			q.Set("continuation-token", token)
		}
		data, err := s.request(ctx, http.MethodGet, "", q, nil)
		if err != nil {
			return nil, fmt.Errorf("listing packs: %w", err)
		}
		var l listing
		if err := xml.Unmarshal(data, &l); err != nil {
			return nil, fmt.Errorf("listing packs: the answer is no listing of a bucket: %w", err)
		}
		for _, o := range l.Contents {
			if name := strings.TrimPrefix(o.Key, s.key("")); validName.MatchString(name) {
				names = append(names, name)
			}
		}
		if !l.IsTruncated || l.NextContinuationToken == "" || l.NextContinuationToken == token {
			slices.Sort(names)
			return names, nil
		}
		token = l.NextContinuationToken
	}
}

// Get fetches a pack.
func (s *S3) Get(ctx context.Context, name string) ([]byte, error) {
	data, err := s.request(ctx, http.MethodGet, s.key(name), nil, nil)
	if err != nil {
		return nil, fmt.Errorf("fetching pack %s: %w", name, err)
	}
	return data, nil
}

// Put stores a pack.
func (s *S3) Put(ctx context.Context, name string, data []byte) error {
	if _, err := s.request(ctx, http.MethodPut, s.key(name), nil, data); err != nil {
		return fmt.Errorf("storing pack %s: %w", name, err)
	}
	return nil
}

// key returns the key of an object with a name.
func (s *S3) key(name string) string {
	if s.Prefix == "" {
		return name
	}
	return s.Prefix + "/" + name
}

// attempts is how often a request is sent before its failure counts; the pause before another doubles each time.
const (
	attempts   = 4
	firstPause = 250 * time.Millisecond
)

// request sends a request and returns the body of its answer. It is sent again where the service or the network has failed: all three
// requests can be repeated.
func (s *S3) request(ctx context.Context, method, key string, query url.Values, body []byte) (data []byte, err error) {
	pause := firstPause
	for n := 1; ; n++ {
		var again bool
		if data, again, err = s.send(ctx, method, key, query, body); err == nil || !again || n == attempts || ctx.Err() != nil {
			return data, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// send sends a request once. again says that it may succeed later.
func (s *S3) send(ctx context.Context, method, key string, query url.Values, body []byte) (data []byte, again bool, err error) {
	region := cmp.Or(s.Region, "us-east-1")
	u, err := url.Parse(cmp.Or(s.Endpoint, "https://s3."+region+".amazonaws.com"))
	if err != nil {
		return nil, false, err
	}
	u = u.JoinPath(s.Bucket, key)                     // the style of path that every compatible service takes
	u.RawPath = httpbinding.EscapePath(u.Path, false) // as signatures want it: net/url leaves a plus sign and others as they are
	u.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	r.Header.Set("X-Amz-Content-Sha256", hash)
	keys := aws.Credentials{AccessKeyID: s.AccessKey, SecretAccessKey: s.SecretKey, SessionToken: s.SessionToken}
	sign := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }) // S3 escapes a path once, not twice
	if err := sign.SignHTTP(ctx, keys, r, hash, "s3", region, time.Now()); err != nil {
		return nil, false, fmt.Errorf("signing a request: %w", err)
	}
	answer, err := cmp.Or(s.Client, http.DefaultClient).Do(r)
	if err != nil {
		return nil, true, err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return nil, answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests, failure(answer)
	}
	data, err = readLimited(answer.Body)
	return data, err != nil && !errors.Is(err, errTooLong), err
}

// failure returns the error that an answer describes.
func failure(answer *http.Response) error {
	var e struct{ Code, Message string }
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
	_ = xml.Unmarshal(text, &e) // other things than S3 answer with other things
	err := fmt.Errorf("%s answered with status %d %s", answer.Request.URL.Host, answer.StatusCode, strings.TrimSpace(e.Code+" "+e.Message))
	switch {
	case e.Code == "NoSuchBucket":
		return fmt.Errorf("%w: %w", ErrNoBucket, err)
	case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}
