package lockcore

import (
	"bufio"
	"context"
	"strconv"
	"strings"
)

// Risk is a setting of the server under which locks are less safe than they
// look.
type Risk string

// The risks that Risks looks for.
const (
	// RiskEviction: with its memory full the server may evict locks, and under
	// an allkeys policy fence counters too, which begin again at 1: a guard then
	// refuses every new holder. Use noeviction, or a Redis of its own.
	RiskEviction Risk = "eviction"
	// RiskReplica: this server is a replica. It refuses writes.
	RiskReplica Risk = "replica"
	// RiskFailover: there are replicas, and a write counts before any of them
	// has it. A failover may forget the newest locks; see WithReplicas and Guard.
	RiskFailover Risk = "failover"
	// RiskRestart: there is no append-only file, so a restart forgets what came
	// after the last snapshot, or everything: locks and counters.
	RiskRestart Risk = "restart"
)

// Risks asks the server for settings that lessen what a lock promises: once, by
// whoever starts a service. In a Cluster it asks one node. An error means that
// nothing is known: INFO is often forbidden.
func (l *Locker) Risks(ctx context.Context) ([]Risk, error) {
	var text string
	err := l.send.do(ctx, l.cfg.timeout(), func(ctx context.Context) (err error) {
		text, err = l.send.rdb.Info(ctx).Result()
		return err
	})
	if err != nil {
		return nil, &OpError{Op: "info", Outcome: outcome(err), Err: err}
	}
	info := parseInfo(text)
	var risks []Risk
	if policy := info["maxmemory_policy"]; info["maxmemory"] != "0" && policy != "" && policy != "noeviction" {
		risks = append(risks, RiskEviction)
	}
	if info["role"] == "slave" {
		risks = append(risks, RiskReplica)
	}
	if n, _ := strconv.Atoi(info["connected_slaves"]); n > 0 {
		risks = append(risks, RiskFailover)
	}
	if info["aof_enabled"] == "0" {
		risks = append(risks, RiskRestart)
	}
	return risks, nil
}

// parseInfo reads the "key:value" lines of INFO.
func parseInfo(text string) map[string]string {
	info := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if key, value, ok := strings.Cut(strings.TrimSpace(lines.Text()), ":"); ok {
			info[key] = value
		}
	}
	return info
}
