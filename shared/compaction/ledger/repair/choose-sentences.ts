import type { VerbatimSentence } from '../items/verbatim-item.ts';

/**
 * Whole sentences; where not all facts fit, only words around them, if that brings more weight back. Facts
 * are named by `factId`; each has a weight.
 */
export function chooseQuotes(
  weights: ReadonlyMap<string, number>,
  candidatesIn: (form: 'sentence' | 'short') => readonly Candidate[],
  roomTokens: number,
): { choice: Choice; sentences: readonly Candidate[] } {
  const sentences = candidatesIn('sentence');
  const whole = chooseSentences(sentences, weights, roomTokens);
  if (whole.covered.size === weights.size) return { choice: whole, sentences };
  const short = chooseSentences(candidatesIn('short'), weights, roomTokens);
  return { choice: short.weight > whole.weight ? short : whole, sentences };
}

/** A sentence that would bring facts back. */
export interface Candidate {
  sentence: VerbatimSentence;
  section: string;
  /** Keys of the facts that it says. */
  facts: ReadonlySet<string>;
  tokens: number;
  /** Which part of the weight of its facts it brings, 0–1: a question says less than a statement. */
  share: number;
}

export interface Choice {
  chosen: Candidate[];
  /** Keys of the facts that the chosen sentences say. */
  covered: Set<string>;
  tokens: number;
  weight: number;
}

/** What each candidate would still bring; kept up to date as facts are covered. */
function gainsOf(candidates: readonly Candidate[], weights: ReadonlyMap<string, number>) {
  const gains = candidates.map(({ facts }) =>
    [...facts].reduce((sum, key) => sum + (weights.get(key) ?? 0), 0),
  );
  const holders = new Map<string, number[]>();
  candidates.forEach(({ facts }, at) => {
    for (const key of facts) {
      const known = holders.get(key);
      if (known === undefined) holders.set(key, [at]);
      else known.push(at);
    }
  });
  return { gains, holders };
}

/**
 * The sentences that bring the most weight a token, one after the other, until no other one fits: a
 * greedy choice. A fact that a chosen sentence says counts for no further one. Work: candidates × chosen,
 * and the room bounds the chosen.
 */
function chooseSentences(
  candidates: readonly Candidate[],
  weights: ReadonlyMap<string, number>,
  roomTokens: number,
): Choice {
  const { gains, holders } = gainsOf(candidates, weights);
  const choice: Choice = { chosen: [], covered: new Set(), tokens: 0, weight: 0 };
  for (;;) {
    let best: Candidate | undefined;
    let bestRatio = 0;
    let bestAt = 0;
    candidates.forEach((candidate, at) => {
      const ratio = (candidate.share * (gains[at] ?? 0)) / Math.max(1, candidate.tokens);
      if (ratio <= bestRatio || choice.tokens + candidate.tokens > roomTokens) return;
      best = candidate;
      bestRatio = ratio;
      bestAt = at;
    });
    if (best === undefined) return choice;
    const taken: Candidate = best;
    choice.chosen.push(taken);
    choice.tokens += taken.tokens;
    choice.weight += gains[bestAt] ?? 0;
    for (const key of taken.facts) {
      if (choice.covered.has(key)) continue;
      choice.covered.add(key);
      for (const at of holders.get(key) ?? [])
        gains[at] = (gains[at] ?? 0) - (weights.get(key) ?? 0);
    }
  }
}
