import { continueHistory, readPresent, type Present } from '#functions/context/continue-history.ts';
import { createRenderer } from '#functions/context/snapshot-rendering.ts';
import { sentPrompt } from '#shared/compaction/next-context.ts';
import { askReadable } from '#shared/compaction/summariser.ts';
import type { ContextSource } from '#shared/conversation/context/assemble-context.ts';
import { newestHistoryThrough } from '#shared/conversation/context/find-history.ts';
import { leftOutParts, withoutFiles } from '#shared/conversation/context/left-out-files.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { workingItems, type Item, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { withoutTurns } from '#shared/conversation/writes/erased-history.ts';
import { generationFields } from '#shared/conversation/writes/next-generation.ts';
import { callModel } from './ask-summariser.ts';
import {
  AttemptEnded,
  runContext,
  withoutSwap,
  toWork,
  type ClaimedRun,
  type Outcome,
} from './run.ts';
import type { GenerationChange } from './swap.ts';

/** The next generation, and what putting it into use comes to. */
interface BlockedTurnsOut {
  change: GenerationChange;
  outcome: Outcome;
}

/**
 * Finds what of the context a filter of the model blocks, and makes the generation without it. Throws AttemptEnded where
 * there is nothing to take out, what the model and the quota throw, GuardLostError, StoreUnavailableError.
 */
export async function leaveOutBlocked(run: ClaimedRun): Promise<BlockedTurnsOut> {
  const { reading, dependencies } = run;
  const noop = (reason: string, searchedPrefix?: string) =>
    new AttemptEnded(withoutSwap(reading.tokens, { state: 'NOOP', reason, searchedPrefix }));
  if (run.noModelReason) throw noop(run.noModelReason);
  const { conversationId } = reading;
  const conversation = reading.conversation.value;
  const present = await readPresent(dependencies, { conversationId, conversation });
  const prefix = prefixOf(run, present);
  const earlierReason = reasonOfEarlierSearch(run, present, prefix);
  if (earlierReason !== undefined) throw noop(earlierReason, prefix);
  let blockReason = '';
  const search = await findBlocked(unitsOf(present), async (units) => {
    const reason = await blockReasonOf(run, present, units);
    blockReason = reason ?? blockReason;
    return reason !== undefined;
  });
  if (search.kind !== 'found') throw noop(nothingFound[search.kind], prefix);
  if (present.history?.isUnreadable) throw noop(nothingFound.notFound, prefix);
  return generationWithout(run, present, { seqs: search.seqs, blockReason });
}

/**
 * Why a search changed nothing, by how it ended. None is made again before the context has changed, or what stands in every
 * prompt.
 */
const nothingFound: Readonly<Record<Exclude<SearchResult['kind'], 'found'>, string>> = {
  clear: 'MESSAGE_BLOCKED',
  always: 'INSTRUCTION_BLOCKED',
  notFound: 'BLOCK_NOT_FOUND',
};
const searchReasons: ReadonlySet<string | undefined> = new Set(Object.values(nothingFound));

/** The reason that an earlier search gave, where the context and this prefix are still the same. */
function reasonOfEarlierSearch(
  { reading }: ClaimedRun,
  { history, turns }: Present,
  prefix: string,
): string | undefined {
  const last = reading.job?.value.records.findLast(
    (record) => searchReasons.has(record.reason) && record.searchedPrefix === prefix,
  );
  const newest = turns.findLast(({ inContext }) => inContext);
  const changedAt = Math.max(
    history?.createTime.getTime() ?? 0,
    newest?.finishTime?.getTime() ?? 0,
  );
  return last && last.finishedAt.getTime() > changedAt ? last.reason : undefined;
}

/** A hash of what stands in every prompt, the model included. */
const prefixOf = (run: ClaimedRun, present: Present): string =>
  run.dependencies.sha256(
    JSON.stringify(sentPrompt(toWork(run), contextOf(run, present, []), QUESTION)),
  );

// The search

/** What the search tells apart: a turn of the tail, or a statement of the snapshot. */
interface Unit {
  /** The turns that leave the context with it: the turn itself, or those that the statement comes from. */
  seqs: readonly number[];
}

type SearchResult =
  /** The prompt is not blocked without the newest message. */
  | { kind: 'clear' }
  /** It is blocked for what stands in every prompt: instruction, tools, memory, pins. */
  | { kind: 'always' }
  /** No unit is blocked by itself. */
  | { kind: 'notFound' }
  /** Turns that must leave. */
  | { kind: 'found'; seqs: number[] };

/** Units that one search looks for: each costs as many calls as the context can be halved. */
const UNITS_FOUND_MAX = 4;

/**
 * Finds by halves what of a context a filter blocks: each call has half of the units of the one before, so a search for
 * one of them sends about twice the context. At most `UNITS_FOUND_MAX` units; nothing is found that is not blocked by itself.
 */
async function findBlocked<U extends Unit>(
  all: readonly U[],
  isBlocked: (units: readonly U[]) => Promise<boolean>,
): Promise<SearchResult> {
  if (!(await isBlocked(all))) return { kind: 'clear' };
  if (await isBlocked([])) return { kind: 'always' };
  const seqs = new Set<number>();
  let units = all;
  for (let tries = 0; tries < UNITS_FOUND_MAX; tries++) {
    const blocked = await findOne(units, isBlocked);
    if (!blocked) break;
    for (const seq of blocked.seqs) seqs.add(seq);
    units = units.filter((unit) => !unit.seqs.some((seq) => seqs.has(seq)));
    if (!(await isBlocked(units))) break;
  }
  if (seqs.size === 0) return { kind: 'notFound' };
  return { kind: 'found', seqs: [...seqs].toSorted((a, b) => a - b) };
}

/** A unit that is blocked by itself, of units that are blocked together. */
async function findOne<U>(
  units: readonly U[],
  isBlocked: (units: readonly U[]) => Promise<boolean>,
): Promise<U | undefined> {
  let [first, end] = [0, units.length];
  while (end - first > 1) {
    const middle = Math.floor((first + end) / 2);
    if (await isBlocked(units.slice(first, middle))) end = middle;
    else first = middle;
  }
  const unit = units[first];
  return unit !== undefined && (await isBlocked([unit])) ? unit : undefined;
}

// What is asked

interface ContextUnit extends Unit {
  item?: Item;
  turn?: Turn;
}

/** Files that are left out stay out, also of a prompt without the turn that was answered without them. */
function unitsOf(present: Present): ContextUnit[] {
  const leftOut = leftOutParts(present.turns);
  return [
    ...itemsIn(present).map((item) => ({ seqs: item.sources, item })),
    ...present.turns
      .filter(({ inContext }) => inContext)
      .map((turn) => ({
        seqs: [turn.seq],
        turn: { ...turn, user: withoutFiles(turn.user, leftOut) },
      })),
  ];
}

/** The items of a snapshot, where each says of which turns it comes; else the snapshot is part of every prompt. */
function itemsIn({ history }: Present): Item[] {
  const items = history?.snapshot ? workingItems(history.snapshot) : [];
  return items.every(({ sources }) => sources.length > 0) ? items : [];
}

/** What is asked behind the context: only whether the prompt passes matters. */
const QUESTION = { role: 'user' as const, parts: [{ text: 'Answer with the word OK.' }] };

/** Asks for one token: why a filter blocks the prompt of these units, or undefined. */
async function blockReasonOf(
  run: ClaimedRun,
  present: Present,
  units: readonly ContextUnit[],
): Promise<string | undefined> {
  run.signal.throwIfAborted();
  const prompt = sentPrompt(toWork(run), contextOf(run, present, units), QUESTION);
  const { blockReason } = await askReadable(prompt, (readable) => {
    const request = {
      ...readable,
      toolChoice: 'none' as const,
      maxOutputTokens: 1,
      role: 'utility_filter' as const,
      promptId: `${run.request.requestId}-blocked-${run.bill.calls + 1}`,
    };
    return callModel(run, { request, promptVersion: undefined });
  });
  // Only the name of a reason is stored, and no text.
  return blockReason === undefined || /^[A-Z_]{1,63}$/.test(blockReason) ? blockReason : 'OTHER';
}

/** The context with these units of it alone. */
function contextOf(
  run: ClaimedRun,
  present: Present,
  units: readonly ContextUnit[],
): ContextSource {
  const { history } = present;
  const items = units.flatMap(({ item }) => item ?? []);
  const isWhole = items.length === itemsIn(present).length;
  return {
    ...runContext(run),
    coveredThrough: run.reading.conversation.value.coveredThrough,
    history: history && { ...history, ...(!isWhole && historyWith(run, history, items)) },
    turns: units.flatMap(({ turn }) => turn ?? []),
  };
}

/** A history that says these items alone. */
function historyWith(
  run: ClaimedRun,
  history: History,
  items: readonly Item[],
): Pick<History, 'snapshotText'> {
  const { snapshot, boundary } = history;
  if (!snapshot || items.length === 0) return { snapshotText: '' };
  const render = createRenderer(run.dependencies.config, run.reading.conversation.value);
  return render(withItems(snapshot, new Set(items.map(({ id }) => id))), boundary);
}

const withItems = (snapshot: Snapshot, ids: ReadonlySet<string>): Snapshot => ({
  ...snapshot,
  sections: Object.fromEntries(
    Object.entries(snapshot.sections).map(([name, all]) => [
      name,
      all.filter(({ id }) => ids.has(id)),
    ]),
  ),
});

// The context without the turns

/** The generation in whose context the turns do not stand. Their documents say why; the transcript keeps them. */
async function generationWithout(
  run: ClaimedRun,
  present: Present,
  { seqs, blockReason }: { seqs: readonly number[]; blockReason: string },
): Promise<BlockedTurnsOut> {
  const { conversationId, conversation, tokens: beforeTokens } = run.reading;
  const { history, tokens } = await continueWithout(run, present, seqs);
  const firstSeq = Math.min(...seqs);
  const losesIndex = (conversation.value.indexedThrough ?? 0) >= firstSeq;
  const outcome: Outcome = {
    state: 'CONTENT_TRUNCATED',
    reason: 'TURNS_BLOCKED',
    beforeTokens,
    afterTokens: tokens,
    turnsFolded: 0,
    isRetryable: false,
    generation: history.generation,
    coveredThrough: history.coveredThrough,
    strategy: 'copy',
  };
  const change: GenerationChange = {
    history: { ...history, trigger: run.request.trigger },
    fields: {
      ...generationFields(history),
      ...(losesIndex && { indexedThrough: firstSeq - 1 }),
    },
    turnWrites: seqs.map((seq) => ({
      op: 'update',
      path: turnPath(conversationId, seq),
      fields: { inContext: false, blocked: blockReason },
      guard: { exists: true },
    })),
    // Finished turns change under the guard of the conversation document alone.
    isGuarded: true,
  };
  return { change, outcome };
}

/** The next generation's history, and what the context weighs without the turns. */
async function continueWithout(run: ClaimedRun, present: Present, seqs: readonly number[]) {
  const { dependencies, reading, request, lease } = run;
  const { conversationId } = reading;
  const conversation = reading.conversation.value;
  const source = await sourceWithout(run, present.history, seqs);
  return continueHistory(
    dependencies,
    { conversationId, conversation },
    {
      source,
      present,
      state: 'CHANGED',
      changedFromSeq: Math.min(...seqs),
      requestId: request.requestId,
      by: lease.owner,
      changeTurn: (turn) => (seqs.includes(turn.seq) ? { ...turn, inContext: false } : turn),
    },
  );
}

/** The history that goes on: this one without what came of the turns, or an earlier one where nothing would be left. */
async function sourceWithout(
  { dependencies, reading }: ClaimedRun,
  present: History | undefined,
  seqs: readonly number[],
): Promise<History | undefined> {
  if (!present) return undefined;
  const { conversationId, conversation } = reading;
  const render = createRenderer(dependencies.config, conversation.value);
  const mended = withoutTurns(present, { seqs }, render);
  if (mended.erased !== true) return mended;
  const target = { conversationId, conversation: conversation.value };
  return newestHistoryThrough(dependencies, target, Math.min(...seqs) - 1);
}
