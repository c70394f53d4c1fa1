package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Rule names one thing that must not happen.
type Rule string

// The rules. Exposure is the only class that does not decide the verdict: no
// lease can prevent it, what it leads to is what counts.
const (
	ForeignRelease   Rule = "foreign-release"
	StaleWrite       Rule = "stale-write"
	LostUpdate       Rule = "lost-update"
	UnlockedWork     Rule = "unlocked-work"
	RenewalAfterLoss Rule = "renewal-after-loss"
	FreshRefused     Rule = "fresh-refused"
	ImmortalLock     Rule = "immortal-lock"
	OrphanLock       Rule = "orphan-lock"
	MissedWakeup     Rule = "missed-wakeup"
	Starvation       Rule = "starvation"
	Herd             Rule = "herd"
	WaitContract     Rule = "wait-contract"
	FalseReport      Rule = "false-report"
	MutualExclusion  Rule = "mutual-exclusion"
	FenceOrder       Rule = "fence-order"
)

// Class says what kind of trouble a broken rule is.
type Class string

// The classes of rules.
const (
	Harm     Class = "harm"
	Stuck    Class = "stuck"
	Load     Class = "load"
	Untrue   Class = "report"
	Exposure Class = "exposure"
)

// Rules returns all rules, in the order in which a screen lists them.
func Rules() []Rule {
	return []Rule{MutualExclusion, ForeignRelease, StaleWrite, LostUpdate, UnlockedWork, RenewalAfterLoss,
		FreshRefused, ImmortalLock, OrphanLock, MissedWakeup, Starvation, Herd, WaitContract, FalseReport, FenceOrder}
}

// Class is the rule's class.
func (r Rule) Class() Class {
	switch r {
	case FreshRefused, ImmortalLock, OrphanLock, MissedWakeup, Starvation:
		return Stuck
	case Herd:
		return Load
	case WaitContract, FalseReport:
		return Untrue
	case MutualExclusion, FenceOrder:
		return Exposure
	}
	return Harm
}

// Violation is a broken rule, and the step that broke it.
type Violation struct {
	Rule Rule
	Step int
	// Aside: this story does not look at the rule (see Scenario.Aside), so it
	// is listed and does not decide.
	Aside bool
}

// String is the form of a story's file: "stale-write@8".
func (v Violation) String() string { return string(v.Rule) + "@" + strconv.Itoa(v.Step) }

// decides reports whether the violation makes the world unsafe.
func (v Violation) decides() bool { return v.Rule.Class() != Exposure && !v.Aside }

func parseViolation(s string) (Violation, error) {
	name, step, ok := strings.Cut(s, "@")
	n, err := strconv.Atoi(step)
	if !ok || err != nil || !slices.Contains(Rules(), Rule(name)) {
		return Violation{}, fmt.Errorf("%q is no rule at a step, as in stale-write@8; the rules are %s", s, ruleList())
	}
	return Violation{Rule: Rule(name), Step: n}, nil
}

// sortViolations orders by step, then as a screen lists the rules.
func sortViolations(v []Violation) {
	all := Rules()
	slices.SortStableFunc(v, func(a, b Violation) int {
		if a.Step != b.Step {
			return a.Step - b.Step
		}
		return slices.Index(all, a.Rule) - slices.Index(all, b.Rule)
	})
}

func ruleList() string {
	var names []string
	for _, r := range Rules() {
		names = append(names, string(r))
	}
	return strings.Join(names, ", ")
}

// Verdict is what became of a world.
type Verdict string

// The verdicts. Unsafe: a rule that decides was broken.
const (
	Safe   Verdict = "safe"
	Unsafe Verdict = "unsafe"
)

// Reach says how far a safe reaches.
type Reach string

// Always: in every schedule, as long as a condition holds. Here: in this
// schedule only, another timing breaks it.
const (
	Always Reach = "always"
	Here   Reach = "here"
)

// Judge is the verdict over what was broken.
func Judge(broken []Violation) Verdict {
	if slices.ContainsFunc(broken, Violation.decides) {
		return Unsafe
	}
	return Safe
}

// Signal is a counter that the reader's own metrics would show.
type Signal string

// Signals is the closed list of them.
func Signals() []Signal {
	return []Signal{"acquire-timeout", "work-failed", "acquire-latency", "release-owner-mismatch", "renewal-late",
		"renewal-failed", "lease-lost", "write-refused", "held-longer-than-ttl", "lock-without-ttl",
		"attempts-per-acquire", "pool-wait", "subscriptions", "pause-over-third-of-ttl", "evicted-keys",
		"replica-behind", "clock-offset"}
}
