import { isNegated, weighFacts, weighWords } from './facts.ts';
import type { Room } from '../summaries/room.ts';
import { textTokens } from './token-rule.ts';
import { type ModelRequestBody, type RequestContent, contentText } from '../server/request.ts';
import {
  type Candidate,
  hasTurnMarks,
  type Line,
  markedLines,
  type Speaker,
} from '../summaries/ledger-lines.ts';
import { readableText, splitSentences } from './sentences.ts';

const aboutTheTask = /state_snapshot|scratchpad|at most [\d,]+ (?:tokens|characters)/i;

function speakerOf(content: RequestContent): Speaker {
  if (contentText(content).includes('<state_snapshot')) return 'snapshot';
  if (content.parts?.some((part) => part.functionResponse !== undefined)) return 'tool';
  return content.role === 'model' ? 'model' : 'user';
}

/** Under a schema the turns of the history are marked; elsewhere such a mark is somebody's text. */
export const isLedger = ({ generationConfig }: ModelRequestBody): boolean =>
  (generationConfig?.responseJsonSchema ?? generationConfig?.responseSchema) !== undefined;

/** The lines of a content; with turn marks only what stands in a turn. */
function readLines(content: RequestContent, mayBeMarked: boolean): Line[] {
  if (mayBeMarked && hasTurnMarks(content)) return markedLines(content);
  const saidBy = speakerOf(content);
  return readableText(content)
    .split('\n')
    .map((text) => ({ text, saidBy, seq: undefined }));
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
  if (last === undefined || contents.length === 1) return contents;
  if (isLedger(body) && hasTurnMarks(last)) return contents;
  const before = contents.at(-2);
  const isSecond = before?.role === 'model' && summary.test(contentText(before));
  return contents.slice(0, isSecond ? -3 : -1);
}

/** Which sentences are collected, and whether turns may be marked in the contents. */
interface Collecting {
  /** Default: what holds a checkable fact. */
  isWanted?: (sentence: string) => boolean;
  /** Default: false. */
  mayBeMarked?: boolean;
}

const holdsFact = (sentence: string): boolean => weighFacts(sentence) > 0;

/**
 * Every wanted sentence of the contents, in order, each text once; a sentence that stands in several turns
 * has all of them as sources, and is the user's where the user says it too.
 */
export function collectCandidates(
  contents: readonly RequestContent[],
  { isWanted = holdsFact, mayBeMarked = false }: Collecting = {},
): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const line of contents.flatMap((content) => readLines(content, mayBeMarked))) {
    const { saidBy, seq } = line;
    // What a user shows of others' letters is not what the user wants.
    const isShown = /^\s*>/.test(line.text);
    for (const text of splitSentences(line.text)) {
      const isRule = !isShown && isNegated(text) && (saidBy === 'user' || saidBy === 'snapshot');
      const sources = seq === undefined ? [] : [seq];
      const known = found.get(text);
      if (known !== undefined) {
        known.sources = [...new Set([...known.sources, ...sources])];
        if (saidBy === 'user') Object.assign(known, { saidBy, isRule });
      } else if (!aboutTheTask.test(text) && isWanted(text)) {
        const facts = weighFacts(text) + weighWords(text);
        found.set(text, { text, quote: text, saidBy, sources, facts, isRule });
      }
    }
  }
  return [...found.values()];
}

const weights: Readonly<Record<Speaker, number>> = { user: 1.5, model: 1, tool: 0.5, snapshot: 1 };
/** What an item costs beside its text; it also keeps scraps from winning by being short. */
const itemTokens = 8;

/** Facts per token; what the user said counts one and a half times, what a tool returned half. */
function density(candidate: Candidate): number {
  return (weights[candidate.saidBy] * candidate.facts) / (textTokens(candidate.text) + itemTokens);
}

/**
 * The densest candidates whose rendering stays below the size of the room, in their original order.
 * `render` gives the whole output for a choice.
 */
export function chooseWithin<Chosen extends Candidate>(
  candidates: readonly Chosen[],
  { size, measure }: Room,
  render: (chosen: readonly Chosen[]) => string,
): Chosen[] {
  const fits = (chosen: readonly Chosen[]): boolean => measure(render(chosen)) < size;
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
