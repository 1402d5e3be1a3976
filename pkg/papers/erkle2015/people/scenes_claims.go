package people

import (
	"cmp"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
)

// scenesReadings are those with both totals and both rules for τ.
func scenesReadings() (out []batch.Reading) {
	for place, count := range []string{"3,600 answers", "5,200 answers"} {
		for _, rule := range []string{protocol.ByValidation, protocol.ByTest} {
			out = append(out, scenesBy(askedAdaptive, place, rule).As(count+", "+rule, batch.AtAll))
		}
	}
	return out
}

// sceneClaim is a claim of Fig. 4, of questions asked as in Section 5.4, at 5 sizes in place of 12; in other words if a statement is given.
func sceneClaim(id, view, title, statement string, what batch.Compares) experiment.Claim {
	c := batch.Again(batch.Fig4Claims, "fig4-"+id, "scenes-"+id, view, "the findings of erkle2015/fig4 on the same people's answers, drawn at random", "",
		" Questions are asked as in Section 5.4. Readings: of 3,600 collected answers (the paper's total) or 5,200 (the sum of its rounds), τ by validation or best on test."+batch.StandInNote, batch.OnStandIns(scenesReadings(), what))
	c.Sentence, c.Title, c.Statement = "released-fig4-"+id, title, cmp.Or(statement, strings.TrimSuffix(c.Statement, ".")+" (questions asked as in Section 5.4).")
	c.Predicate = strings.Replace(c.Predicate, "the 12 sizes", "the 5 sizes", 1)
	return c
}

var scenesClaims = experiment.Claims([]experiment.Claim{
	sceneClaim("ste", "scenes", "", "", batch.SteConsistently),
	sceneClaim("ste-few", "scenes", "", "", batch.SteOnFew),
	sceneClaim("pa", "scenes",
		"PA-ERKLE is comparable to GNMDS-Batch or outperforms it, given at least 500 triplets (asked as in Section 5.4).",
		"PA-ERKLE is comparable or outperforms its batch counterpart in GNMDS-Batch, given enough triplets (at least 500; questions asked as in Section 5.4).", batch.PaOnEnough),
	sceneClaim("train", "scenes-train", "", "", batch.PaTrainsWell),
	{
		ID: "scenes-challenging", View: "scenes",
		Statement: "The experiment is especially challenging: the adaptive selection intentionally chooses triplets that give disparate information.",
		Where:     batch.Section54, Theirs: "no number",
		Predicate: "Averaged over the 5 sizes, the test error on 3,600 answers asked adaptively minus that on as many asked at random, paired by trial, is > 0 for each of the 7 methods on both stand-ins; each is trained, validated and tested on parts of its own answers. Readings: τ by validation or best on test." + batch.StandInNote,
		Test:      scenesAsked(protocol.TestErrors, askedAdaptive, askedRandom).StandIn("stand-ins"),
	},
	{
		ID: "scenes-teach", View: "scenes-random",
		Ours:      true,
		Statement: "Ours: of equally many answers, those to adaptively chosen questions teach more about answers to random questions.",
		Where:     "not in the paper, which tests on adaptively chosen triplets", Theirs: "not in the paper", Afterwards: "the errors of PA-ERKLE, STE-Batch and CKL-Batch in erkle2015/active on points",
		Predicate: "Averaged over the 5 sizes, the error on random answers that are never asked for, with training triplets from 3,600 answers asked at random minus that with triplets from as many asked adaptively, paired by trial, is > 0 for each of the 7 methods on both data sets. Readings: τ by validation or best on test.",
		Test:      scenesAsked(heldErrors, askedRandom, askedAdaptive),
	},
})

// scenesAsked tests, with both rules for τ, that a method's errors are larger with triplets that were asked for in one way.
func scenesAsked(of frame.Measure, more, less string) frame.Test {
	return frame.UnderNames([]string{protocol.ByValidation, protocol.ByTest}, func(rule string) frame.Test {
		return frame.Positive(protocol.Points, frame.Over(protocol.Pairs(batch.StandIns, learning.AllMethods), func(p [2]string) (string, frame.Measure) {
			by := func(how string) frame.Measure { return scenesBy(how, 0, rule).On(p[0]).Of(p[1], of) }
			return p[0] + ", " + p[1], by(more).Minus(by(less)).Where("cell", p[0])
		}))
	})
}
