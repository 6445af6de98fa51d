import { isQuestion, questionTerms, type Term, toLower } from './question-terms.ts';
import { lastQuestionIndex, type RequestContent, contentText } from '../server/request.ts';
import { readableText, splitSentences } from './sentences.ts';

const acknowledgement = 'Noted.';
const ignorance = 'I do not know.';

/** A sentence of the prompt, by its place in the searched text, and the terms found in it. */
interface Candidate {
  start: number;
  end: number;
  terms: Set<Term>;
}

const wordCharacter = /[\p{L}\p{M}\p{N}]/u;
const longestSearchedSentence = 2_000;
const mostHitsPerTerm = 50_000;

function isWordAt(text: string, index: number): boolean {
  return index >= 0 && index < text.length && wordCharacter.test(text.charAt(index));
}

/** Whether the term stands at `index` as a word, or as a stem with up to three letters after it. */
function standsAt(text: string, index: number, term: Term): boolean {
  if (!term.isStem) return true;
  if (isWordAt(text, index - 1)) return false;
  let end = index + term.text.length;
  while (isWordAt(text, end) && end - index - term.text.length <= 3) end += 1;
  return end - index - term.text.length <= 3;
}

function endsSentence(text: string, index: number): boolean {
  const mark = text.charAt(index);
  if (mark === '\n' || mark === '。' || mark === '！' || mark === '？') return true;
  if (mark !== '.' && mark !== '!' && mark !== '?') return false;
  return /\s/.test(text.charAt(index + 1));
}

/** The bounds of the sentence around a hit, at most 2,000 characters to either side. */
function sentenceAround(text: string, index: number): { start: number; end: number } {
  let start = index;
  const lowest = Math.max(0, index - longestSearchedSentence);
  while (start > lowest && !endsSentence(text, start - 1)) start -= 1;
  let end = index;
  const highest = Math.min(text.length, index + longestSearchedSentence);
  while (end < highest && !endsSentence(text, end)) end += 1;
  return { start, end: text.charAt(end) === '\n' ? end : Math.min(text.length, end + 1) };
}

/** Every sentence in which a term occurs. Linear in the text: one native search per term. */
function findCandidates(text: string, terms: readonly Term[]): Candidate[] {
  const lower = toLower(text);
  const found = new Map<number, Candidate>();
  for (const term of terms) {
    let from = 0;
    for (let hits = 0; hits < mostHitsPerTerm; hits += 1) {
      const index = lower.indexOf(term.text, from);
      if (index < 0) break;
      from = index + term.text.length;
      if (!standsAt(lower, index, term)) continue;
      const bounds = sentenceAround(text, index);
      const candidate = found.get(bounds.start) ?? { ...bounds, terms: new Set<Term>() };
      candidate.terms.add(term);
      found.set(bounds.start, candidate);
      from = Math.max(from, bounds.end);
    }
  }
  return [...found.values()];
}

const charactersPerSentence = 60;

/** What each term is worth: the rarer in this prompt, the more. */
function weigh(candidates: readonly Candidate[], textLength: number): Map<Term, number> {
  const counts = new Map<Term, number>();
  for (const candidate of candidates) {
    for (const term of candidate.terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  const sentences = textLength / charactersPerSentence;
  return new Map([...counts].map(([term, count]) => [term, Math.log(1 + sentences / count)]));
}

function trimBullet(sentence: string): string {
  return sentence.trim().replace(/^[-*•]\s+/u, '');
}

/** At most this many sentences make an answer, */
const mostSentences = 3;
/** and only those that match nearly as well as the best one. */
const nearlyAsGood = 0.7;

interface Scored {
  sentence: string;
  score: number;
  start: number;
}

/**
 * The sentences of `text` that share most with the question, verbatim, best first: the best one and up to
 * two that match nearly as well; none when none shares a content word. Questions are no answers.
 * Among equals the newest comes first.
 */
function bestSentences(text: string, question: string): string[] {
  const candidates = findCandidates(text, questionTerms(question));
  const weights = weigh(candidates, text.length);
  const scored = candidates.map(
    ({ start, end, terms }): Omit<Scored, 'sentence'> & { end: number } => {
      const overlap = [...terms].reduce((sum, term) => sum + (weights.get(term) ?? 0), 0);
      return { score: overlap / (1 + (end - start) / longestSearchedSentence), start, end };
    },
  );
  const best: Scored[] = [];
  for (const { start, end, score } of scored.toSorted(
    (a, b) => b.score - a.score || b.start - a.start,
  )) {
    if (best.length === mostSentences || score < nearlyAsGood * (best[0]?.score ?? 0)) break;
    const sentence = trimBullet(text.slice(start, end));
    const isNew = !best.some((each) => each.sentence === sentence);
    if (sentence !== '' && isNew && !isQuestion(sentence)) best.push({ sentence, score, start });
  }
  return best.map(({ sentence }) => sentence);
}

/**
 * What an honest model with no other knowledge would say: the best matching sentences of the prompt
 * for a question, "I do not know." when nothing matches, "Noted." for a statement. What a compaction
 * lost can therefore be seen to be lost.
 */
export function answerFromContext(contents: readonly RequestContent[]): string {
  const questionIndex = lastQuestionIndex(contents);
  const asked = splitSentences(contentText(contents[questionIndex])).filter((each) =>
    isQuestion(each),
  );
  if (asked.length === 0) return acknowledgement;
  const context = contents
    .filter((_, index) => index !== questionIndex)
    .map((content) => readableText(content))
    .join('\n');
  const found = bestSentences(context, asked.join('\n'));
  return found.length === 0 ? ignorance : found.join('\n');
}
