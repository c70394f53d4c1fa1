package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os/exec"
)

// listed is how many locks stand among the ordinary keys.
const listed = 200

// scan lists 200 locks among many keys: names looked at and candidates read, and
// every key's shape looked at, beside a bare loop and redis-cli.
func (b *bench) scan() error {
	s, err := start()
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.c.Do(b.ctx, "debug", "populate", b.keys, "user", 0).Err(); err != nil {
		return err
	}
	if err := s.locks(b.ctx, listed); err != nil {
		return err
	}
	ways := []struct {
		name string
		do   func() error
		took []float64
		own  []float64 // the server's own processor time
	}{
		{name: "bare SCAN COUNT 1000", do: func() error { return b.bare(s) }},
		{name: "list, names looked at", do: func() error { return b.list(s, "--names") }},
		{name: "list, every key's shape looked at", do: func() error { return b.list(s, "--deep") }},
		{name: "redis-cli --scan --pattern lock:*", do: func() error {
			return exec.Command("redis-cli", "-p", s.port, "--scan", "--pattern", "lock:*").Run()
		}},
	}
	for range b.rounds {
		for i := range ways {
			before, err1 := s.processor(b.ctx)
			took, err2 := seconds(ways[i].do)
			after, err3 := s.processor(b.ctx)
			if err := cmp.Or(err1, err2, err3); err != nil {
				return fmt.Errorf("%s: %w", ways[i].name, err)
			}
			ways[i].took, ways[i].own = append(ways[i].took, took), append(ways[i].own, after-before)
		}
	}
	med := map[string]float64{}
	for i := range ways {
		med[ways[i].name] = median(ways[i].took)
		figure(ways[i].name, med[ways[i].name], "s")
		figure("  the server's own part of it", median(ways[i].own), "s")
	}
	bare, names := med[ways[0].name], med[ways[1].name]
	size := fmt.Sprintf(", %d keys", b.keys)
	b.target("names / bare loop"+size, names/bare, 1.3, "times")
	b.target("names / redis-cli --scan"+size, names/med[ways[3].name], 0.2, "times")
	// The server hands out one page after another: nobody is faster than that.
	figure("  of these the server's own part"+size, median(ways[1].own)/med[ways[3].name], "times")
	b.target("deep / bare loop"+size, med[ways[2].name]/bare, 6, "times")
	return nil
}

// bare is the loop that everything is measured by.
func (b *bench) bare(s *server) error {
	cursor := uint64(0)
	for {
		_, next, err := s.c.Scan(b.ctx, cursor, "", 1000).Result()
		if err != nil || next == 0 {
			return err
		}
		cursor = next
	}
}

// list has the program find the locks at full speed.
func (b *bench) list(s *server, depth string) error {
	out, err := exec.Command(b.fencepost, "list", "-p", s.port, depth, "--scan-rate", "0", "--json").Output()
	if err != nil {
		return err
	}
	var got struct {
		Coverage struct{ Complete bool }
		Locks    []struct{ Key string }
	}
	switch err := json.Unmarshal(out, &got); {
	case err != nil:
		return err
	case !got.Coverage.Complete || len(got.Locks) != listed:
		return fmt.Errorf("%d locks were found, and there are %d; complete: %v", len(got.Locks), listed, got.Coverage.Complete)
	}
	return nil
}
