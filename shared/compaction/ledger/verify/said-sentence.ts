import { precisionConstants } from '#shared/compaction/policy/precision-constants.ts';
import type { SaidSentence, CitedTurn, CitedTurns } from '../operations/cited-turns.ts';
import { textKey } from '#shared/text/one-line.ts';
import { overlapShare, distinctWords } from '#shared/text/words.ts';

interface Scored {
  sentence: SaidSentence;
  overlap: number;
}

/** The most alike; of equal ones the later: what was said last holds. */
function bestOf(scored: readonly Scored[], minimum: number): SaidSentence | undefined {
  let best: Scored | undefined;
  for (const one of scored)
    if (one.overlap >= minimum && one.overlap >= (best?.overlap ?? 0)) best = one;
  return best?.sentence;
}

function neighboursOf(cited: readonly CitedTurn[], turns: CitedTurns) {
  const seqs = new Set(cited.map(({ seq }) => seq));
  const near = new Set<CitedTurn>();
  const distance = precisionConstants.neighbourTurns.value;
  for (const seq of seqs)
    for (let other = seq - distance; other <= seq + distance; other++) {
      const turn = seqs.has(other) ? undefined : turns.get(other);
      if (turn !== undefined) near.add(turn);
    }
  return [...near];
}

/** What an unsupported statement is replaced from. */
interface Replacing {
  /** Of the item. */
  quote: string | undefined;
  cited: readonly CitedTurn[];
  turns: CitedTurns;
  /** Only the user's own words will do. */
  userOnly: boolean;
}

/**
 * The sentence that `statement` most likely gives with altered figures: one around the item's quote, else
 * the one of the cited turns that has the same words, else one of the turns next to them. Undefined when
 * none is alike. A heuristic: words count, their order does not.
 */
export function saidSentence(statement: string, replacing: Replacing): SaidSentence | undefined {
  const { sameSentenceOverlap, quotedSentenceOverlap } = precisionConstants;
  const words = distinctWords(statement);
  const scoredIn = (turns: readonly CitedTurn[]): Scored[] =>
    turns
      .flatMap((turn) => turn.sentences())
      // Nobody reads the JSON of a call.
      .filter(({ speaker }) => (replacing.userOnly ? speaker === 'user' : speaker !== 'call'))
      .map((sentence) => ({ sentence, overlap: overlapShare(words, sentence.words) }));
  const scored = scoredIn(replacing.cited);
  const quoteKey = textKey(replacing.quote ?? '');
  const quoted = scored.filter(
    ({ sentence }) => quoteKey !== '' && textKey(sentence.text).includes(quoteKey),
  );
  return (
    bestOf(quoted, quotedSentenceOverlap.value) ??
    bestOf(scored, sameSentenceOverlap.value) ??
    bestOf(scoredIn(neighboursOf(replacing.cited, replacing.turns)), sameSentenceOverlap.value)
  );
}
