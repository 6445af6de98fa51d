import { weighFacts, isNegated } from './facts.ts';
import { textTokens } from './token-rule.ts';
import { type ModelRequestBody, type RequestContent, textOf } from './request.ts';
import { readableText, splitSentences } from './sentences.ts';

export type Speaker = 'user' | 'model' | 'tool' | 'snapshot';

/** A sentence of the folded history that is worth keeping. */
export interface Candidate {
  /** As it stands in the history; what a snapshot will say, unless a vice changes it. */
  text: string;
  /** The history's own words, for quotes. */
  quote: string;
  saidBy: Speaker;
  /** Numbers of the turns that the history marks (`[12]`, `seq="12"`); none without marks. */
  sources: number[];
  facts: number;
  isRule: boolean;
}

const lineMark = /^\s*\[(\d+)\]\s*(?:\(?(user|model|assistant|tool)\)?\s*:\s*)?/i;
const tagMark = /^\s*<\w+[^>]*\bseq="?(\d+)"?[^>]*>/i;
const tagRole = /\brole="?(user|model|assistant|tool)"?/i;
const loneTags = /<\/?[a-z_]+(?:\s[^<>]*)?>/gi;
const aboutTheTask = /state_snapshot|scratchpad|at most [\d,]+ tokens/i;

const speakers: Readonly<Record<string, Speaker>> = {
  user: 'user',
  model: 'model',
  assistant: 'model',
  tool: 'tool',
};

function speakerOf(content: RequestContent): Speaker {
  if (textOf(content).includes('<state_snapshot')) return 'snapshot';
  if (content.parts?.some((part) => part.functionResponse !== undefined)) return 'tool';
  return content.role === 'model' ? 'model' : 'user';
}

interface Line {
  text: string;
  saidBy: Speaker;
  seq: number | undefined;
}

/** The lines of a content with the turn mark that is in force at each of them. */
function readLines(content: RequestContent): Line[] {
  const contentSpeaker = speakerOf(content);
  let saidBy = contentSpeaker;
  let seq: number | undefined;
  return readableText(content)
    .split('\n')
    .map((line) => {
      const mark = lineMark.exec(line) ?? tagMark.exec(line);
      if (mark === null) return { text: line, saidBy, seq };
      seq = Number(mark[1]);
      const role = mark[2] ?? tagRole.exec(mark[0])?.[1];
      saidBy = speakers[role?.toLowerCase() ?? ''] ?? contentSpeaker;
      return { text: line.slice(mark[0].length).replace(loneTags, ' '), saidBy, seq };
    });
}

function hasTurnMarks(content: RequestContent): boolean {
  return readableText(content)
    .split('\n')
    .some((line) => lineMark.test(line) || tagMark.test(line));
}

const summary = /<(?:state_snapshot|scratchpad)>/;

/**
 * The contents that hold history: all but the last, which is the request to summarise (the last too when
 * it is the only one or carries turn marks); when that is a second request, without the first
 * request and its answer either.
 */
export function foldedContents(body: ModelRequestBody): readonly RequestContent[] {
  const contents = body.contents ?? [];
  const last = contents.at(-1);
  if (last === undefined || contents.length === 1 || hasTurnMarks(last)) return contents;
  const before = contents.at(-2);
  const isSecond = before?.role === 'model' && summary.test(textOf(before));
  return contents.slice(0, isSecond ? -3 : -1);
}

/**
 * Every sentence of the folded contents that `isWanted` (by default: that holds a checkable fact), in
 * order, each text once; a sentence that stands in several turns has all of them as sources.
 */
export function collectCandidates(
  contents: readonly RequestContent[],
  isWanted: (sentence: string) => boolean = (sentence) => weighFacts(sentence) > 0,
): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const line of contents.flatMap((content) => readLines(content))) {
    for (const text of splitSentences(line.text)) {
      const known = found.get(text);
      const sources = line.seq === undefined ? [] : [line.seq];
      if (known !== undefined) {
        known.sources = [...new Set([...known.sources, ...sources])];
      } else if (!aboutTheTask.test(text) && isWanted(text)) {
        const isRule = isNegated(text) && (line.saidBy === 'user' || line.saidBy === 'snapshot');
        found.set(text, {
          text,
          quote: text,
          saidBy: line.saidBy,
          sources,
          facts: weighFacts(text),
          isRule,
        });
      }
    }
  }
  return [...found.values()];
}

const userWeight = 1.5;
/** What an item costs beside its text; it also keeps scraps from winning by being short. */
const itemTokens = 8;

/** Facts per token; what the user said counts one and a half times. */
export function density(candidate: Candidate): number {
  const weight = candidate.saidBy === 'user' ? userWeight : 1;
  return (weight * candidate.facts) / (textTokens(candidate.text) + itemTokens);
}

/**
 * The densest candidates whose rendering stays below the limit, in their original order.
 * `render` gives the whole output for a choice.
 */
export function chooseWithin(
  candidates: readonly Candidate[],
  limitTokens: number,
  render: (chosen: readonly Candidate[]) => string,
): Candidate[] {
  const fits = (chosen: readonly Candidate[]): boolean => textTokens(render(chosen)) < limitTokens;
  if (fits(candidates)) return [...candidates];
  const ranked = candidates.toSorted((a, b) => density(b) - density(a));
  let low = 0;
  let high = ranked.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(ranked.slice(0, middle))) low = middle;
    else high = middle - 1;
  }
  const chosen = new Set(ranked.slice(0, low));
  return candidates.filter((candidate) => chosen.has(candidate));
}
