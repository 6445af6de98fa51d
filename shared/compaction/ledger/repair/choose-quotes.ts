import { chooseSentences, type Candidate, type Choice } from './choose-sentences.ts';

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
