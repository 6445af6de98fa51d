import { type Repairs, addRepairs } from '../models/repairs.ts';
import {
  turnContents,
  assembleContext,
  type ContextSource,
} from '#shared/conversation/context/assemble-context.ts';
import { CALIBRATION_MAX } from '#shared/conversation/context/meter.ts';
import { type Content, type Part, readableParts } from '#shared/models/content.ts';
import {
  type CoveredThrough,
  nothingCovered,
} from '#shared/conversation/documents/conversation.ts';
import { withoutSurroundings, type Turn } from '#shared/conversation/documents/turn.ts';
import {
  type RepairedContents,
  repairContents,
} from '#shared/conversation/repair/repair-contents.ts';
import { once } from '#shared/lib/once.ts';
import {
  contentWeight,
  estimateContentTokens,
  tokensOfWeight,
  type TokenCounting,
} from '#shared/tokens/token-estimate.ts';
import { policyConstants, snapshotConstants } from './constants.ts';
import { noteTokens } from './hooks.ts';
import { neutraliseContent } from '#shared/conversation/neutralise-tags.ts';
import type { SummaryStrategy } from '#shared/conversation/documents/history.ts';
import type { OutputForms } from '#shared/conversation/context/sent-view.ts';
import { foldedContentCount, slicedTurn, sentContent, turnsAsSent } from './shown-turns.ts';
import { withoutFrame } from './snapshot-text.ts';
import { toBlocks, type Block } from './split-by-tail.ts';

interface SummariserSource {
  context: ContextSource;
  /** What is to be folded: all up to here. */
  point: CoveredThrough;
  /** In which tool outputs are sent, and how tokens are counted. */
  forms: OutputForms;
  /** From our estimate to what the model reports. */
  calibration: number;
  windowTokens: number;
  /** The ledger is written in several calls at once; the snapshot of `gemini-cli` in one, which may not get all. */
  strategy: SummaryStrategy;
}

/** What one call of a compaction reads. */
export interface Chunk {
  turns: Turn[];
}

export interface SummariserInput {
  /** How far it goes; short of the wanted point when not all could be read. */
  point: CoveredThrough;
  isPartial: boolean;
  /** The turns as they were, a turn that is folded inside with what goes of it. */
  folded: Turn[];
  /** Shortened where the whole would fill the window. */
  chunks: Chunk[];
  /** What all chunks hold, previous snapshot first; made when it is first asked for. */
  contents: () => Content[];
  /** What was mended of `folded`, where no model would have taken it as it was stored. */
  repairs?: Repairs | undefined;
}

/** How each strategy reads: what it takes at once, in how many chunks more than that, and what it writes around a content. */
const readingRules: Readonly<
  Record<
    SummaryStrategy,
    {
      atOnce: 'room' | 'partialRoom';
      maximumChunks: number;
      marginOf: (content: Content) => number;
    }
  >
> = {
  ledger: {
    atOnce: 'partialRoom',
    maximumChunks: policyConstants.maximumChunks,
    marginOf: marginTokens,
  },
  'gemini-cli': { atOnce: 'room', maximumChunks: 1, marginOf: () => 0 },
};

/**
 * What the summariser reads of everything up to `point`: the full turns where they fit its window, else with their
 * tool outputs shortened. Of what is more than it should read at once the ledger gets chunks, so that all is folded in
 * one compaction; `gemini-cli` gets the beginning, so that every compaction gets on and nothing is left out
 * unseen. Undefined when not even the first piece fits, or there is none.
 */
export function summariserInput(source: SummariserSource): SummariserInput | undefined {
  const { point } = source;
  const { atOnce, maximumChunks } = readingRules[source.strategy];
  const { fitFactor, weighing, readAll, tokensOf, contentsOf } = createReader(source);
  const rooms = summariserRooms(source.windowTokens);
  const wanted = wantedTurns(source);
  const whole = readAll(wanted);
  const folded = whole.map(({ slice }) => slice);
  const repairs = repairsOf(whole);
  const wholeTokens = tokensOf(whole);
  const reads = wholeTokens > rooms.room ? readAll(shortened(wanted, source)) : whole;
  if (tokensOf(reads) <= rooms[atOnce]) {
    const turns = reads.map(({ slice }) => slice);
    const contents = contentsOf(turns);
    return { point, isPartial: false, folded, chunks: [{ turns }], contents, repairs };
  }

  const { chunks, isWhole } = planChunks({
    turns: reads.map((read) => ({ read, ...turnToRead(read, weighing) })),
    partsOf: ({ read }) => partsOfTurn(read, weighing),
    from: wanted[0]?.from ?? 0,
    roomTokens: (rooms.partialRoom - tokensOf([])) / fitFactor,
    maximumChunks,
  });
  const last = chunks.at(-1)?.at(-1);
  if (last === undefined) return undefined;
  const slices = chunks.map((chunk) => slicedPieces(chunk, reads));
  return {
    point: pointBehind(wanted, last, point),
    isPartial: !isWhole,
    folded: foldedBy(wanted, chunks.flat()),
    chunks: slices.map((turns) => ({ turns })),
    contents: contentsOf(slices.flat()),
    repairs,
  };
}

function wantedTurns({ context, point }: SummariserSource): WantedTurn[] {
  const wanted: WantedTurn[] = [];
  for (const turn of context.turns) {
    if (!turn.inContext || turn.seq > point.seq) continue;
    const isCut = turn.seq === point.seq && point.contentIndex > 0;
    wanted.push({
      turn,
      from: foldedContentCount(turn, context.coveredThrough),
      end: isCut ? point.contentIndex : turn.contents.length,
    });
  }
  return wanted;
}

/** The same turns with their tool outputs as prompts show them. */
function shortened(
  wanted: readonly WantedTurn[],
  { context, forms }: SummariserSource,
): WantedTurn[] {
  const turns = wanted.map(({ turn }) => turn);
  const sent = turnsAsSent(turns, context.coveredThrough, forms);
  return wanted.map((item, index) => ({ ...item, turn: sent[index] ?? item.turn }));
}

function repairsOf(reads: readonly ReadTurn[]): Repairs | undefined {
  let repairs: Repairs | undefined;
  for (const read of reads) repairs = addRepairs(repairs, read.repairs);
  return repairs;
}

/** The fold point behind `piece`: within its turn, or before the next one; behind the last, `point`. */
function pointBehind(wanted: readonly WantedTurn[], piece: Piece, point: CoveredThrough) {
  const current = wanted[piece.turn];
  const next = wanted[piece.turn + 1];
  if (current === undefined) return point;
  if (piece.end < current.end) return { seq: current.turn.seq, contentIndex: piece.end };
  // Turns outside of the context in between go silently.
  return next === undefined ? point : { seq: next.turn.seq - 1, contentIndex: 0 };
}

/** What the pieces cover of each turn, as one; they come in order, so those of a turn are neighbours. */
function foldedBy(wanted: readonly WantedTurn[], pieces: readonly Piece[]): Turn[] {
  const ranges: { turn: number; from: number; end: number }[] = [];
  for (const { turn, from, end } of pieces) {
    const last = ranges.at(-1);
    if (last?.turn === turn) last.end = end;
    else ranges.push({ turn, from, end });
  }
  return ranges.flatMap(({ turn, ...range }) => {
    const item = wanted[turn];
    return item ? [slicedTurn(item.turn, range)] : [];
  });
}

/** Pieces as turns; a whole one is the same object that was read. */
const slicedPieces = (pieces: readonly Piece[], reads: readonly ReadTurn[]): Turn[] =>
  pieces.flatMap((piece) => {
    const read = reads[piece.turn];
    if (read === undefined) return [];
    const isAll = piece.from === read.from && piece.end === read.end;
    return isAll ? read.slice : slicedTurn(read.turn, piece);
  });

// How turns are read and weighed

interface Weighing {
  counting: TokenCounting;
  /** Tokens of what stands around a content where it is read, before calibration. */
  marginOf: (content: Content) => number;
}

/** One turn that is to be folded, with the answer contents that go. */
interface WantedTurn {
  turn: Turn;
  from: number;
  end: number;
}

/** What a summariser reads of a turn, weighed once, whatever is asked about it afterwards. */
interface ReadTurn extends WantedTurn {
  slice: Turn;
  /** Of its contents together, before rounding. */
  weight: number;
  /** Tokens of what stands around them. */
  margin: number;
  repairs: Repairs | undefined;
}

/** How turns are read and weighed: rather too heavy, with what the ledger writes around each content. */
function createReader({ context, forms, calibration, strategy }: SummariserSource) {
  const { counting } = forms;
  // Rather fewer turns than a refused call: a calibration below 1 earns no room here.
  const fitFactor = Math.min(CALIBRATION_MAX, Math.max(1, calibration));
  const weighing = { counting, marginOf: readingRules[strategy].marginOf };
  const snapshot = snapshotContents(context);
  return {
    fitFactor,
    weighing,
    readAll: (all: readonly WantedTurn[]) => all.map((item) => readTurn(item, weighing)),
    tokensOf: (reads: readonly ReadTurn[]) =>
      Math.ceil(fitFactor * tokensToRead(snapshot, reads, weighing)),
    contentsOf: (slices: readonly Turn[]) =>
      once(() => sanitizeHistory([...snapshot, ...slices.flatMap(contentsRead)])),
  };
}

/** What stands before the turns: our own snapshot is the one thing that may look like one. */
function snapshotContents(context: ContextSource): Content[] {
  const snapshotText = withoutFrame(context.history?.snapshotText ?? '');
  return assembleContext({
    ...context,
    history: { snapshotText },
    memory: undefined,
    pins: [],
    turns: [],
  }).map(({ content }) => content);
}

/** The mark before what somebody says, `[12345] model: `, and its line end. */
const MARK_TOKENS = 16;

/** The two blanks before each further line. */
const LINE_TOKENS = 0.5;

/** What the ledger writes around a content: much beside a short message. An upper bound, before calibration. */
function marginTokens({ parts }: Content): number {
  let tokens = 0;
  for (const { text = '' } of parts) tokens += MARK_TOKENS + LINE_TOKENS * linesIn(text);
  return tokens;
}

function linesIn(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** Reads a turn as it was said, mended where no model would take it as it was stored. */
function readTurn(wanted: WantedTurn, { counting, marginOf }: Weighing): ReadTurn {
  const { turn, from, end } = wanted;
  const slice = slicedTurn(turn, wanted);
  const { contents, repairs } = sentContents(slice);
  let weight = 0;
  let margin = 0;
  for (const content of contents) {
    const read = neutraliseContent(content);
    weight += contentWeight(read, counting);
    margin += marginOf(read);
  }
  return {
    turn,
    from,
    end,
    slice,
    weight,
    margin,
    repairs: contents.length === 0 ? undefined : repairs,
  };
}

const sentContents = (slice: Turn): RepairedContents =>
  turnContents(withoutSurroundings(slice), nothingCovered);

/** What is read of a turn, as it is read: made again each time, for it is seldom asked for. */
const contentsRead = (slice: Turn): Content[] =>
  sentContents(slice).contents.map(neutraliseContent);

/** Tokens of all that is read, `before` first; before calibration. */
function tokensToRead(
  before: readonly Content[],
  reads: readonly ReadTurn[],
  { counting, marginOf }: Weighing,
): number {
  let weight = 0;
  let margin = 0;
  for (const content of before) {
    weight += contentWeight(content, counting);
    margin += marginOf(content);
  }
  for (const read of reads) {
    weight += read.weight;
    margin += read.margin;
  }
  return tokensOfWeight(weight, counting.rule) + margin;
}

/** A turn as it is cut into chunks. */
const turnToRead = ({ weight, margin, end }: ReadTurn, { counting }: Weighing) => ({
  tokens: tokensOfWeight(weight, counting.rule) + margin,
  end,
});

/** What a turn that fits no chunk is cut between: its contents as they are stored. */
function partsOfTurn({ turn, from, end }: WantedTurn, { counting, marginOf }: Weighing) {
  const tokensOf = (content: Content): number =>
    estimateContentTokens(content, counting) + marginOf(content);
  const tokensOfSent = (content: Content): number => tokensOf(sentContent(content));
  const contents = turn.contents.slice(0, end);
  const blocks = toBlocks(contents, { from, tokensOf: tokensOfSent });
  return { userTokens: tokensOf(turn.user), blocks };
}

// What a window has room for

/**
 * Bound of one answer of a summariser: its thoughts, which models bill against the same bound, the scratchpad, and the
 * operations or the snapshot.
 */
export const summaryOutputTokens = (windowTokens: number): number =>
  Math.min(
    snapshotConstants.summaryOutputTokens,
    Math.floor(snapshotConstants.summaryOutputWindowFraction * windowTokens),
  );

/** System instruction, the request, and the critique of `gemini-cli`. */
const INSTRUCTION_TOKENS = 2_000;

/** What a summariser with this window may read when everything fits, and when it does not. */
function summariserRooms(windowTokens: number): { room: number; partialRoom: number } {
  // The second pass of `gemini-cli` reads the first answer and writes one of its own. Where a small window cannot hold
  // both, that call is refused and the first summary stands.
  const requestTokens =
    2 * summaryOutputTokens(windowTokens) + INSTRUCTION_TOKENS + noteTokens(windowTokens);
  const partialRoom = snapshotConstants.summariserPartialFraction * windowTokens;
  return { room: Math.max(windowTokens - requestTokens, partialRoom), partialRoom };
}

// Contents that any model takes

/**
 * Contents as the summariser gets them: without empty parts, thoughts and signatures, and mended; a lonely
 * call or response is told as text. Input is not changed. Only for the summariser: a chat call needs the
 * signatures back.
 */
export const sanitizeHistory = (contents: readonly Content[]): Content[] =>
  repairContents(contents.flatMap(withoutThoughts), toldAsText).contents;

/** A call or response that lost its partner is told as text: a bare one is refused by the API. */
function toldAsText(part: Part): Part {
  const { functionCall, functionResponse } = part;
  if (functionCall !== undefined)
    return {
      text: `[The tool ${functionCall.name} was called with ${JSON.stringify(functionCall.args ?? {})}; no result is recorded.]`,
    };
  if (functionResponse !== undefined)
    return {
      text: `[The tool ${functionResponse.name} returned ${JSON.stringify(functionResponse.response ?? {})}; its call is not recorded.]`,
    };
  return part;
}

/** The content without thoughts and empty parts; nothing if that is all of it. */
function withoutThoughts(content: Content): Content[] {
  const parts = readableParts(content).filter(hasPayload).map(withoutThought);
  return parts.length === 0 ? [] : [{ role: content.role, parts }];
}

function withoutThought(whole: Part): Part {
  if (!('thought' in whole || 'thoughtSignature' in whole)) return whole;
  const { thought: _thought, thoughtSignature: _signature, ...part } = whole;
  return part;
}

/** A part with something in it: any payload, known or not, except empty text. */
function hasPayload(part: Part): boolean {
  if (part.text !== undefined && part.text.trim() !== '') return true;
  return Object.entries(part).some(
    ([key, value]) =>
      value !== undefined && key !== 'text' && key !== 'thought' && key !== 'thoughtSignature',
  );
}

/** A turn that a summariser is to read, measured. */
export interface TurnToRead {
  tokens: number;
  /** Of the answer contents that are read, counted among all of the turn. */
  end: number;
}

/** What a turn may be cut between. */
interface TurnParts {
  userTokens: number;
  blocks: readonly Block[];
}

/** One turn of a chunk, or the part of it whose answer contents lie between `from` and `end`. */
interface Piece {
  /** Index of the turn in the list that was given. */
  turn: number;
  from: number;
  end: number;
  tokens: number;
}

interface ChunkPlan {
  /** What each call reads, in order. A turn in pieces comes with its user content each time. */
  chunks: Piece[][];
  /** False when something that fits no chunk, or the bound on chunks, ended it early. */
  isWhole: boolean;
}

/** A turn that is too large as one piece as pieces that fit; `isWhole` is false where a block fits none. */
function piecesOf(
  { userTokens, blocks }: TurnParts,
  options: { turn: number; from: number; roomTokens: number },
): { pieces: Piece[]; isWhole: boolean } {
  const { turn, from, roomTokens } = options;
  const pieces: Piece[] = [];
  let next = from;
  for (const block of blocks) {
    if (userTokens + block.tokens > roomTokens) return { pieces, isWhole: false };
    const last = pieces.at(-1);
    if (last && last.tokens + block.tokens <= roomTokens) {
      last.end = block.end;
      last.tokens += block.tokens;
    } else pieces.push({ turn, from: next, end: block.end, tokens: userTokens + block.tokens });
    next = block.end;
  }
  return { pieces, isWhole: pieces.length > 0 };
}

/** Fills chunks to about the same size, so that none of the calls takes much longer than the others. */
function fillChunks(
  pieces: readonly Piece[],
  { roomTokens, maximumChunks }: { roomTokens: number; maximumChunks: number },
): Piece[][] {
  const total = pieces.reduce((sum, { tokens }) => sum + tokens, 0);
  const needed = Math.ceil(total / roomTokens);
  // Where not all can be read, each chunk holds what it can.
  const evenTokens = needed > maximumChunks ? roomTokens : total / Math.max(1, needed);
  const chunks: Piece[][] = [];
  let used = Infinity;
  for (const piece of pieces) {
    const chunk = chunks.at(-1);
    if (chunk === undefined || used >= evenTokens || used + piece.tokens > roomTokens) {
      chunks.push([piece]);
      used = piece.tokens;
    } else {
      chunk.push(piece);
      used += piece.tokens;
    }
  }
  return chunks;
}

/**
 * Cuts turns (oldest first, `from` = answer contents of the first that are folded already) into chunks of
 * at most `roomTokens`, between turns; inside a turn, between its blocks, only where one fits no chunk. Ends
 * before the first block that fits none, and after `maximumChunks`. Nothing fits, or no turns → no chunks.
 */
export function planChunks<Measured extends TurnToRead>(input: {
  turns: readonly Measured[];
  /** Asked of turns that fit no chunk alone. */
  partsOf: (turn: Measured) => TurnParts;
  from: number;
  roomTokens: number;
  maximumChunks: number;
}): ChunkPlan {
  const { turns, partsOf, roomTokens, maximumChunks } = input;
  const pieces: Piece[] = [];
  let isWhole = true;
  for (const [turn, one] of turns.entries()) {
    const { end, tokens } = one;
    const from = turn === 0 ? input.from : 0;
    if (tokens <= roomTokens) {
      pieces.push({ turn, from, end, tokens });
      continue;
    }
    const found = piecesOf(partsOf(one), { turn, from, roomTokens });
    pieces.push(...found.pieces);
    isWhole = found.isWhole;
    if (!isWhole) break;
  }
  const chunks = fillChunks(pieces, { roomTokens, maximumChunks });
  return {
    chunks: chunks.slice(0, maximumChunks),
    isWhole: isWhole && chunks.length <= maximumChunks,
  };
}
