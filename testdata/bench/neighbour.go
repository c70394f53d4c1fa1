package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fencepost/lockcore/inspect"
)

// neighbour measures what the default pace costs somebody who saturates the
// server: redis-benchmark GET over ten connections, alone and beside a scan.
func (b *bench) neighbour() error {
	s, err := start()
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.c.Do(b.ctx, "debug", "populate", b.keys, "user", 0).Err(); err != nil {
		return err
	}
	var alone, beside, aloneTail, besideTail, share, tail []float64
	for range b.rounds {
		rps, p99, err := saturate(s)
		if err != nil {
			return err
		}
		stop := b.keepScanning(s)
		rps2, p992, err := saturate(s)
		stop()
		if err != nil {
			return err
		}
		alone, beside = append(alone, rps), append(beside, rps2)
		aloneTail, besideTail = append(aloneTail, p99), append(besideTail, p992)
		share, tail = append(share, 100*(1-rps2/rps)), append(tail, p992/p99)
	}
	figure("neighbour alone", median(alone), "requests/s")
	figure("neighbour beside a scan", median(beside), "requests/s")
	figure("neighbour's p99 alone", median(aloneTail), "ms")
	figure("neighbour's p99 beside a scan", median(besideTail), "ms")
	b.target("throughput that the neighbour loses", median(share), 15, "%")
	b.target("growth of the neighbour's p99", median(tail), 4, "times")
	return nil
}

// saturate runs redis-benchmark and returns requests a second and the p99 in ms.
func saturate(s *server) (rps, p99 float64, err error) {
	out, err := exec.Command("redis-benchmark", "-p", s.port, "-t", "get", "-c", "10", "-n", "300000", "--csv").Output()
	if err != nil {
		return 0, 0, err
	}
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil || len(rows) < 2 {
		return 0, 0, fmt.Errorf("redis-benchmark said %q", out)
	}
	at := func(name string) float64 {
		i := slices.Index(rows[0], name)
		v, _ := strconv.ParseFloat(rows[1][max(i, 0)], 64) // checked below
		return v
	}
	if rps, p99 = at("rps"), at("p99_latency_ms"); rps == 0 || p99 == 0 {
		return 0, 0, fmt.Errorf("redis-benchmark said %q", out)
	}
	return rps, p99, nil
}

// keepScanning scans by names at the default pace, again and again, until the
// returned function is called.
func (b *bench) keepScanning(s *server) (stop func()) {
	ctx, cancel := context.WithCancel(b.ctx)
	var all sync.WaitGroup
	all.Go(func() {
		in := inspect.New(s.node())
		for ctx.Err() == nil {
			_, _ = in.Scan(ctx, inspect.Query{Depth: inspect.ByName, Rate: -1}, func(inspect.Progress) bool { return true }) // ends with ctx
		}
	})
	return func() { cancel(); all.Wait() }
}
