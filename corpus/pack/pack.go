// Package pack carries corpora between machines that share nothing but a place to store files: a folder that some tool synchronises, or
// a bucket of S3-compatible storage.
//
// A corpus travels in packs of up to [MaxEntries] inputs, since a file or an object for each input would cost a request and a block
// on disk each. A pack is a zip archive, which --corpus reads as well:
//
//	.teasel-pack.json  the version of the format and the kind of target: {"teasel-pack":1,"kind":"mcp"}
//	PLACE/KEY.EXT      an input, named by its content; PLACE is where its campaign is below the directory that was pushed
//
// Its name says when it was made, for people, and what it holds: 20261127T054500Z-HASH.zip, where HASH is the beginning of the SHA-256
// of the file. A pack never changes, and two packs with the same name are the same pack, so that any number of machines may push and
// pull at once without locks. Clocks need not agree: which packs are new is known by their names alone.
package pack

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// Limits of a pack.
const (
	MaxEntries = 500       // inputs in it
	maxContent = 64 << 20  // bytes of its inputs after which a new pack is begun
	maxSize    = 160 << 20 // bytes of the file: content, one input that is as long as any may be, and what zip adds
)

const (
	version    = 1
	headerName = ".teasel-pack.json"
	nameTime   = "20060102T150405Z"
)

// Entry is an input of a corpus.
type Entry struct {
	Place     string // of its campaign below the directory, with slashes; "": the directory itself
	Extension string // of its file, with the dot; "": none
	Data      []byte // encoded
}

// name returns the name of an entry's file in a pack, and what makes an entry the same as another.
func (e *Entry) name() string { return path.Join(e.Place, teasel.Key(e.Data)) + e.Extension }

// id is the name without the extension, which a campaign chooses: the same input is the same entry.
func (e *Entry) id() string { return path.Join(e.Place, teasel.Key(e.Data)) }

// header is the file headerName of a pack.
type header struct {
	Version int    `json:"teasel-pack"`
	Kind    string `json:"kind,omitempty"` // of target; "": it comes from a plain folder
}

// validName matches the names of packs.
var validName = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z-([0-9a-f]{32})\.zip$`)

// packName returns the name of a pack that was made at a time.
func packName(now time.Time, data []byte) string {
	return now.UTC().Format(nameTime) + "-" + contentHash(data) + ".zip"
}

func contentHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// write returns the bytes of a pack. The same entries in the same order give the same bytes.
func write(kind string, entries []Entry) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	add := func(name string, data []byte) error {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	head, err := json.Marshal(header{Version: version, Kind: kind})
	if err == nil {
		err = add(headerName, append(head, '\n'))
	}
	for i := 0; i < len(entries) && err == nil; i++ {
		err = add(entries[i].name(), entries[i].Data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("writing a pack: %w", err)
	}
	return b.Bytes(), nil
}

// read returns the inputs of a pack and the kind of its target. What is wrong with single inputs, which are left out, is reported to
// wrong. An error says that nothing of the pack can be used.
func read(name string, data []byte, wrong func(name string, err error)) (kind string, entries []Entry, err error) {
	m := validName.FindStringSubmatch(name)
	if m == nil || contentHash(data) != m[1] {
		return "", nil, errors.New("is incomplete or damaged: its content does not match its name")
	}
	head, err := readHeader(data)
	if err != nil {
		return "", nil, err
	}
	n := 0
	err = corpus.ReadArchive(data, func(name string, data []byte) {
		if n++; n > MaxEntries {
			if n == MaxEntries+1 {
				wrong(name, fmt.Errorf("the pack has more than %d inputs: this one and those behind it are left out", MaxEntries))
			}
			return
		}
		e, err := parseEntry(name, data)
		if err != nil {
			wrong(name, err)
			return
		}
		entries = append(entries, e)
	}, wrong)
	return head.Kind, entries, err
}

// readHeader checks that bytes are a pack of a version that this program knows.
func readHeader(data []byte) (h header, err error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !(r != nil && errors.Is(err, zip.ErrInsecurePath)) {
		return h, fmt.Errorf("is no pack: %w", err)
	}
	if len(r.File) == 0 || r.File[0].Name != headerName {
		return h, fmt.Errorf("is no pack: expected %s as its first file", headerName)
	}
	f, err := r.File[0].Open()
	if err != nil {
		return h, fmt.Errorf("is no pack: %w", err)
	}
	defer f.Close()
	const most = 4096
	switch err := json.NewDecoder(io.LimitReader(f, most)).Decode(&h); {
	case err != nil || h.Version <= 0:
		return h, fmt.Errorf("is no pack: %s: expected an object with \"teasel-pack\"", headerName)
	case h.Version > version:
		return h, fmt.Errorf("is a pack of version %d, which a newer teasel has written: expected version %d: %w", h.Version, version, corpus.ErrVersion)
	}
	return h, nil
}

// parseEntry checks a file of a pack. Its name leads nowhere out of the pack, as [corpus.ReadArchive] sees to.
func parseEntry(name string, data []byte) (Entry, error) {
	place, file := path.Split(name)
	key, extension, dotted := strings.Cut(file, ".")
	e := Entry{Place: strings.TrimSuffix(place, "/"), Data: data}
	if dotted {
		e.Extension = "." + extension
	}
	switch {
	case e.Place != cleanPlace(e.Place):
		return e, errors.New("expected a folder that is not hidden, with a name that can be printed, at most " + fmt.Sprint(maxDepth) + " deep")
	case e.Extension != cleanExtension(e.Extension):
		return e, errors.New("expected an extension of letters and digits")
	case teasel.Key(data) != key:
		return e, fmt.Errorf("does not match its name: expected the content %.16s, found that of %s", key, teasel.Key(data))
	}
	return e, nil
}
