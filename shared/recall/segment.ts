import { z } from 'zod';
import { splitPassages } from '../search/passages.ts';
import type { TurnTexts } from '../search/turn-texts.ts';
import { withoutPause } from '../steps.ts';
import { cutHead } from '#shared/text/cut.ts';
import { extractTerms } from './index-terms.ts';
import { packPostings, postingStarts, type Posting } from './postings.ts';
import { utf8Length } from '../store/names.ts';

/** Bytes of a passage and of a term beside their texts; generous. */
const PASSAGE_BYTES = 120;
const TERM_BYTES = 40;

/** About what a segment takes in memory, bytes. */
export const segmentSize = ({ passages, terms, packed }: Segment): number =>
  passages.reduce((sum, { text }) => sum + PASSAGE_BYTES + utf8Length(text), 0) +
  terms.length * TERM_BYTES +
  packed.length;

/**
 * What of the folded turns is brought back with a message, uncalibrated tokens with their label: about 1,500 characters.
 * Chosen by what readers could answer (docs/decisions/compaction/0038).
 */
export const RECALL_TOKENS_DEFAULT = 500;
export const RECALL_TOKENS_MAX = 4_000;

/** Turns of one document of the index: from `1000 (k − 1) + 1` to `1000 k`. */
export const SEGMENT_TURNS = 1_000;

/** Which document, from 1, a turn stands in. */
export const segmentNumber = (seq: number): number => Math.ceil(seq / SEGMENT_TURNS);
export const firstOfSegment = (number: number): number => (number - 1) * SEGMENT_TURNS + 1;
export const lastOfSegment = (number: number): number => number * SEGMENT_TURNS;

/** Whose words a passage is; `tool`: what a tool was asked or answered. */
export type PassageRole = 'user' | 'model' | 'tool';

/** A part of a message that is found and shown by itself. */
export interface Passage {
  seq: number;
  role: PassageRole;
  at: Date;
  /** Passages of one message, joined, are the message as far as it is indexed. */
  text: string;
}

/** UTF-16 units of a message: a pasted book is found by its beginning. */
const MESSAGE_CHARACTERS = 20_000;
/** Of what tools were asked and answered in one turn: enough to find it, and to see what it was. */
const TOOL_CHARACTERS = 2_000;

const ROLES: readonly PassageRole[] = ['user', 'model', 'tool'];

/** UTF-16 units of each message, and of all that tools were asked and answered in a turn. */
interface Bounds {
  messages: number;
  tools: number;
}
const inIndex: Bounds = { messages: MESSAGE_CHARACTERS, tools: TOOL_CHARACTERS };
const whole: Bounds = { messages: Infinity, tools: Infinity };

/** What can be found of a turn: its messages, then its tools. */
function passagesOfTurn({ seq, time, messages, tools }: TurnTexts, bounds: Bounds): Passage[] {
  const at = messages[0]?.time ?? time ?? new Date(0);
  const said = messages.map(({ role, text, time: saidAt }) => ({
    role,
    text: cutHead(text, bounds.messages),
    at: saidAt,
  }));
  const ofTools = { role: 'tool' as const, text: cutHead(tools, bounds.tools), at };
  return [...said, ...(tools === '' ? [] : [ofTools])].flatMap((message) =>
    splitPassages(message.text).map((text) => ({ ...message, seq, text })),
  );
}

const segmentSchema = z.object({
  version: z.literal(1),
  /** Passages in order; of each its turn, its role (index), when it was said (seconds), its words, its text. */
  seqs: z.array(z.number().int()),
  roles: z.array(z.number().int()),
  times: z.array(z.number()),
  lengths: z.array(z.number()),
  texts: z.array(z.string()),
  /** Ascending, a line each. */
  terms: z.string(),
});

/** Passages of up to 1,000 turns, and where each term stands in them: ready to be asked. */
export interface Segment {
  passages: readonly Passage[];
  /** Words of each passage. */
  lengths: readonly number[];
  /** The sum of the lengths. */
  words: number;
  /** Ascending by UTF-16 units. */
  terms: readonly string[];
  packed: Uint8Array;
  starts: Uint32Array;
}

const sumOf = (lengths: readonly number[]): number => lengths.reduce((sum, each) => sum + each, 0);

/**
 * Makes passages findable. Yields after each, so that other work may come between: how many UTF-16 units it had.
 */
export function* segmentInSteps(passages: readonly Passage[]): Generator<number, Segment> {
  const postings = new Map<string, Posting>();
  const lengths: number[] = [];
  for (const [index, { text }] of passages.entries()) {
    const { counts, length } = extractTerms(text);
    for (const [term, count] of counts) {
      const posting = postings.get(term) ?? { texts: [], counts: [] };
      posting.texts.push(index);
      posting.counts.push(count);
      postings.set(term, posting);
    }
    lengths.push(length);
    yield text.length;
  }
  // Without a comparison of its own a sort goes by UTF-16 units.
  const terms = [...postings.keys()].toSorted();
  const packed = packPostings(terms.flatMap((term) => postings.get(term) ?? []));
  return {
    passages,
    lengths,
    words: sumOf(lengths),
    terms,
    packed,
    starts: postingStarts(packed, terms.length),
  };
}

/** The same without a pause, for passages of a known size. */
export const segmentOfPassages = (passages: readonly Passage[]): Segment =>
  withoutPause(segmentInSteps(passages));

/** The passages of turns in their order, as the index holds them or whole; of turns that do not count in a context none. */
export const passagesOfTurns = (
  turns: readonly TurnTexts[],
  { areWhole = false }: { areWhole?: boolean } = {},
): Passage[] =>
  turns.flatMap((turn) => (turn.inContext ? passagesOfTurn(turn, areWhole ? whole : inIndex) : []));

/** A segment as it is stored, before compression. */
interface SegmentBytes {
  /** JSON of all but the postings. */
  json: string;
  postings: Uint8Array;
}

export function encodeSegment({ passages, lengths, terms, packed }: Segment): SegmentBytes {
  const fields: z.infer<typeof segmentSchema> = {
    version: 1,
    seqs: passages.map(({ seq }) => seq),
    roles: passages.map(({ role }) => ROLES.indexOf(role)),
    times: passages.map(({ at }) => Math.floor(at.getTime() / 1_000)),
    lengths: [...lengths],
    texts: passages.map(({ text }) => text),
    terms: terms.join('\n'),
  };
  return { json: JSON.stringify(fields), postings: packed };
}

/** Reads a segment. Throws SyntaxError or ZodError for what is none. */
export function decodeSegment({ json, postings: packed }: SegmentBytes): Segment {
  const stored = segmentSchema.parse(JSON.parse(json));
  const terms = stored.terms === '' ? [] : stored.terms.split('\n');
  const passages = stored.texts.map((text, i) => ({
    seq: stored.seqs[i] ?? 0,
    role: ROLES[stored.roles[i] ?? 0] ?? 'tool',
    at: new Date((stored.times[i] ?? 0) * 1_000),
    text,
  }));
  return {
    passages,
    lengths: stored.lengths,
    words: sumOf(stored.lengths),
    terms,
    packed,
    starts: postingStarts(packed, terms.length),
  };
}
