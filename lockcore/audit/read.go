package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Bounds of what is read of a file, however long it has grown.
const (
	readMost = 16 << 20 // bytes, from the end
	lineMost = 1 << 20  // bytes of one line
)

// Act is one act: its intent and what came of it.
type Act struct {
	Intent *Line // nil where it lies before what was read
	Result *Line // nil where none was written
}

// Acts are the acts of a file, oldest first, at most n of them from its end.
type Acts struct {
	List []Act
	// Torn is how many lines cannot be read: a program died while it wrote one.
	Torn int
	// More says that there are older ones.
	More bool
}

// Read reads the last n acts of a file; n below 1: all that fit into the bounds.
// A file that does not exist holds none.
func Read(path string, n int) (Acts, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Acts{}, nil
	}
	if err != nil {
		return Acts{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	return read(f, n)
}

func read(f io.ReadSeeker, n int) (Acts, error) {
	var acts Acts
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return acts, err
	}
	start := max(0, size-readMost)
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return acts, err
	}
	r := bufio.NewReaderSize(f, 64<<10)
	if start > 0 {
		acts.More = true
		if _, err := nextLine(r); err != nil { // the rest of a line
			return acts, ignoreEOF(err)
		}
	}
	byID := map[string]int{}
	for {
		data, err := nextLine(r)
		if len(bytes.TrimSpace(data)) > 0 {
			acts.add(data, byID)
		}
		if err != nil {
			acts.keep(n)
			return acts, ignoreEOF(err)
		}
	}
}

func (a *Acts) add(data []byte, byID map[string]int) {
	var l Line
	if json.Unmarshal(data, &l) != nil || l.Schema != Schema || l.ID == "" {
		a.Torn++
		return
	}
	i, ok := byID[l.ID]
	if !ok {
		i = len(a.List)
		byID[l.ID] = i
		a.List = append(a.List, Act{})
	}
	switch {
	case l.Line == Intent && l.What != nil:
		a.List[i].Intent = &l
	case l.Line == Outcome && l.Result != nil:
		a.List[i].Result = &l
	}
}

func (a *Acts) keep(n int) {
	if n > 0 && len(a.List) > n {
		a.List, a.More = a.List[len(a.List)-n:], true
	}
}

// nextLine reads a line; of one that is too long only that it was there.
func nextLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= lineMost {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if len(line) > lineMost {
				line = []byte("too long")
			}
			return line, err
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
