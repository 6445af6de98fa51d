import { splitPassages } from '#shared/search/find-in-text.ts';
import { cutHead } from '#shared/text/cut.ts';
import { piecesWithoutPlaces, stopWords, stemWord } from '../search/search-words.ts';
import type { TurnTexts } from '../search/turn-texts.ts';
import { z } from 'zod';

/** Longer words are data (keys, encoded files); their beginnings tell them apart. UTF-16 units. */
const TERM_CHARACTERS = 40;

export const asTerm = (text: string): string => text.slice(0, TERM_CHARACTERS);

/** Overlapping pairs of the characters of a run, and the last one alone: any stretch of it is the beginning of one. */
function* runTerms(run: string): Generator<string> {
  const characters = Array.from(run);
  for (const [i, character] of characters.entries()) yield character + (characters[i + 1] ?? '');
}

/** What a text is found by, and its length in words as a search counts it. */
interface TextTerms {
  /** Each with how often it stands in the text. */
  counts: Map<string, number>;
  length: number;
}

/** The terms of a text: stems of its words that say something, pairs of characters in runs. */
export function extractTerms(text: string): TextTerms {
  const counts = new Map<string, number>();
  const add = (term: string) => counts.set(term, (counts.get(term) ?? 0) + 1);
  let length = 0;
  for (const piece of piecesWithoutPlaces(text)) {
    if (piece.kind === 'word') {
      length += 1;
      if (!stopWords.has(piece.text)) add(asTerm(stemWord(piece.text)));
    } else {
      length += piece.text.length / 2;
      for (const term of runTerms(piece.text)) add(term);
    }
  }
  return { counts, length: Math.ceil(length) };
}

/*
 * Where each term stands: how many texts have it, then their numbers, ascending, as the differences between them with one
 * bit for "more than once"; all in bytes of seven bits.
 */

/** Of a byte: another one of the same number follows. */
const CONTINUES = 0x80;
/** The bits of a byte that belong to its number. */
const LOW_BITS = 0x7f;

function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest > LOW_BITS) {
    bytes.push((rest & LOW_BITS) | CONTINUES);
    rest >>>= 7;
  }
  bytes.push(rest);
}

/** Texts with a term, ascending, and how often each has it: once, or more (2). */
export interface Posting {
  texts: number[];
  counts: number[];
}

/** The postings of terms in the order given. */
function packPostings(postings: readonly Posting[]): Uint8Array {
  const bytes: number[] = [];
  for (const { texts, counts } of postings) {
    pushNumber(bytes, texts.length);
    let last = -1;
    for (const [i, text] of texts.entries()) {
      pushNumber(bytes, ((text - last) << 1) | ((counts[i] ?? 1) > 1 ? 1 : 0));
      last = text;
    }
  }
  return Uint8Array.from(bytes);
}

/** The number that begins at `at`, and where the next one does. */
function numberAt(packed: Uint8Array, at: number): { value: number; next: number } {
  let value = 0;
  for (let shift = 0, next = at; ; shift += 7, next++) {
    const byte = packed[next] ?? 0;
    value |= (byte & LOW_BITS) << shift;
    if (byte < CONTINUES) return { value, next: next + 1 };
  }
}

/** Where the list of each of `terms` terms begins. */
function postingStarts(packed: Uint8Array, terms: number): Uint32Array {
  const starts = new Uint32Array(terms);
  let at = 0;
  for (let term = 0; term < terms; term++) {
    starts[term] = at;
    const { value: texts, next } = numberAt(packed, at);
    at = next;
    for (let left = texts; left > 0 && at < packed.length; at++)
      if ((packed[at] ?? 0) < CONTINUES) left--;
  }
  return starts;
}

/** The list that begins at `start`, of texts before `end` alone. */
export function readPosting(packed: Uint8Array, start: number, end: number): Posting {
  const posting: Posting = { texts: [], counts: [] };
  const { value: length, next } = numberAt(packed, start);
  let at = next;
  let text = -1;
  for (let left = length; left > 0 && at < packed.length; left--) {
    // As `numberAt`, which would make an object for each text.
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = packed[at++] ?? 0;
      value |= (byte & LOW_BITS) << shift;
      if (byte < CONTINUES) break;
    }
    text += value >>> 1;
    if (text >= end) break;
    posting.texts.push(text);
    posting.counts.push((value & 1) + 1);
  }
  return posting;
}

/** Bytes of a passage and of a term beside their texts; generous. */
const PASSAGE_BYTES = 120;
const TERM_BYTES = 40;

/** About what a segment takes in memory, bytes. */
export const segmentSize = ({ passages, terms, packed }: Segment): number =>
  passages.reduce((sum, { text }) => sum + PASSAGE_BYTES + Buffer.byteLength(text), 0) +
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

/** What can be found of a turn: its messages, then its tools. */
function passagesOfTurn(
  { seq, time, messages, tools }: TurnTexts,
  { areWhole }: { areWhole: boolean },
): Passage[] {
  const most = areWhole ? Infinity : MESSAGE_CHARACTERS;
  const mostOfTools = areWhole ? Infinity : TOOL_CHARACTERS;
  const at = messages[0]?.time ?? time ?? new Date(0);
  const ofMessages = messages.map(({ role, text, time: saidAt }) => ({
    role,
    text: cutHead(text, most),
    at: saidAt,
  }));
  const ofTools = { role: 'tool' as const, text: cutHead(tools, mostOfTools), at };
  return [...ofMessages, ...(tools === '' ? [] : [ofTools])].flatMap((message) =>
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

/** Makes passages findable. */
export function segmentOfPassages(passages: readonly Passage[]): Segment {
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

/** The passages of turns in their order, as the index holds them or whole; of turns that do not count in a context none. */
export const passagesOfTurns = (
  turns: readonly TurnTexts[],
  { areWhole = false }: { areWhole?: boolean } = {},
): Passage[] => turns.flatMap((turn) => (turn.inContext ? passagesOfTurn(turn, { areWhole }) : []));

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

/** Which message a passage belongs to. */
const messageOf = ({ seq, role }: Passage) => `${seq}/${role}`;

/** The largest length at which messages of these lengths, the longer ones cut to it, take at most `most` together. */
function commonLength(lengths: readonly number[], most: number): number {
  const ascending = lengths.toSorted((a, b) => a - b);
  let room = most;
  for (const [i, length] of ascending.entries()) {
    const share = Math.floor(room / (ascending.length - i));
    if (length > share) return share;
    room -= length;
  }
  return Infinity;
}

/**
 * The passages with at most `characters` UTF-16 units together: the longest messages lose their ends, all to the same
 * length, short ones nothing.
 */
export function shortened(passages: readonly Passage[], characters: number): Passage[] {
  const lengths = new Map<string, number>();
  for (const passage of passages) {
    const message = messageOf(passage);
    lengths.set(message, (lengths.get(message) ?? 0) + passage.text.length);
  }
  const most = commonLength([...lengths.values()], characters);
  const used = new Map<string, number>();
  return passages.flatMap((passage) => {
    const message = messageOf(passage);
    const before = used.get(message) ?? 0;
    used.set(message, before + passage.text.length);
    const text = cutHead(passage.text, most - before);
    return text === '' ? [] : [{ ...passage, text }];
  });
}
