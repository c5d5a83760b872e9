package corpus

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
)

const (
	journalName     = "journal"
	previousName    = "journal.previous" // while a compaction is in progress
	journalVersion  = 1
	frameHeaderSize = 18       // "llllllll cccccccc "
	maxFrame        = 64 << 20 // a longer frame is damaged
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A journal is a file of frames: length and CRC-32C of a JSON text, both as eight hexadecimal digits, the text, and a
// newline. It can be read with less and grep. What was appended is whole or it is cut off.
type journal struct {
	file  *os.File
	size  int64
	limit int64 // size from which campaign.json is written anew
}

// opening is the first frame of a journal. A journal continues the campaign.json of the same epoch; a campaign.json of
// a later epoch contains it.
type opening struct {
	Version int   `json:"teasel-journal"`
	Epoch   int   `json:"epoch"`
	Meta    *Meta `json:"campaign,omitempty"` // in case campaign.json is lost
}

func appendFrame(b, text []byte) []byte {
	b = fmt.Appendf(b, "%08x %08x ", len(text), crc32.Checksum(text, castagnoli))
	return append(append(b, text...), '\n')
}

// frames calls each with every whole frame, and returns how many bytes those are and what is wrong with the next
// one: "" at a clean end.
func frames(data []byte, each func(text []byte, offset int64)) (good int64, wrong string) {
	for rest := data; len(rest) > 0; rest = data[good:] {
		if len(rest) < frameHeaderSize {
			return good, "the last record is cut off"
		}
		n, err1 := strconv.ParseUint(string(rest[:8]), 16, 32)
		sum, err2 := strconv.ParseUint(string(rest[9:17]), 16, 32)
		if err1 != nil || err2 != nil || rest[8] != ' ' || rest[17] != ' ' || n > maxFrame {
			return good, "expected the length and checksum of a record"
		}
		end := frameHeaderSize + int(n) + 1
		if len(rest) < end {
			return good, "the last record is cut off"
		}
		text := rest[frameHeaderSize : end-1]
		if rest[end-1] != '\n' || crc32.Checksum(text, castagnoli) != uint32(sum) {
			return good, fmt.Sprintf("the record does not match its checksum %08x", sum)
		}
		each(text, good)
		good += int64(end)
	}
	return good, ""
}

// startJournal replaces the journal of dir by a new one.
func startJournal(dir string, o opening, durable bool) (*journal, error) {
	text, err := marshal(o)
	if err != nil {
		return nil, fmt.Errorf("starting the journal: %w", err)
	}
	data := appendFrame(nil, text)
	path := filepath.Join(dir, journalName)
	if err := replace(path, data, durable); err != nil {
		return nil, fmt.Errorf("starting the journal: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("starting the journal: %w", err)
	}
	return &journal{file: f, size: int64(len(data))}, nil
}

// append adds a record in one write; it is on disk after the next sync.
func (j *journal) append(r *record) error {
	text, err := marshal(r)
	if err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	frame := appendFrame(nil, text)
	if _, err := j.file.Write(frame); err != nil {
		// Half a frame would hide all later ones.
		if terr := j.file.Truncate(j.size); terr != nil {
			return fmt.Errorf("writing the journal: %w, and then: %w", err, terr)
		}
		return fmt.Errorf("writing the journal: %w", err)
	}
	j.size += int64(len(frame))
	return nil
}
