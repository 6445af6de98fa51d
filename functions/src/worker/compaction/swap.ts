import { CrashedError, passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { indexTurns } from '#functions/recall/index-turns.ts';
import { foldedThrough } from '#functions/recall/read-index.ts';
import { unproductiveSwapsAfter } from '#shared/compaction/brake.ts';
import { indexEvent } from '#shared/compaction/event.ts';
import {
  decodeConversation,
  type Conversation,
  type Pin,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import {
  decodeHistory,
  historyWrite,
  type History,
} from '#shared/conversation/documents/history.ts';
import {
  compactionJobPath,
  conversationPath,
  historyPath,
} from '#shared/conversation/documents/paths.ts';
import { mayBeCommitted } from '#shared/lib/errors.ts';
import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import { SEGMENT_TURNS } from '#shared/recall/segment.ts';
import { refuseUnwanted, StoppedError } from './job-lease.ts';
import type { Candidate } from './measure-candidate.ts';
import { jobAfter, outcomeStatusWrite } from './report.ts';
import { billedCost, elapsedMs, type ClaimedRun, type Outcome } from './run.ts';

/** What puts the next generation into use. */
export interface GenerationChange {
  /** With the lease's owner as its writer. */
  history: History;
  /** What the conversation document says of it. */
  fields: DocumentFields;
  /** Turns that change with it. */
  turnWrites?: readonly Write[];
  /** The conversation document must not have changed since it was read: the change rests on what it says. */
  isGuarded: boolean;
}

/** A swap meets other writers of the status document, lost replies and outages; after so many tries it is given up. */
const SWAP_TRIES = 5;

/** A swap that must find the conversation document as it was read meets every start and end of a turn as well. */
const GUARDED_TRIES = 25;

/**
 * Puts the next generation into use: one batch, applied once however often it is tried. `changeOf` makes the change over
 * the conversation document as it is at each try. Sends go on meanwhile: that the history is created guards the batch, and
 * not the conversation document, unless the change is guarded by it. The renewals must have stopped. Throws StoppedError
 * when another won, StoreUnavailableError when nobody can tell; then the next delivery reads what happened.
 */
export async function swap(
  run: ClaimedRun,
  outcome: Outcome,
  changeOf: (conversation: Conversation) => GenerationChange,
): Promise<Outcome> {
  // Not `retry`: after every failure, the last one too, the documents say whether the swap was applied.
  for (let tries = 1; ; tries++) {
    const unswapped = await readUnswapped(run);
    if (!unswapped) return outcome;
    const { value: conversation, updateTime } = unswapped;
    const turnsArrived = conversation.lastSeq - run.reading.conversation.value.lastSeq;
    const change = changeOf(conversation);
    try {
      await run.dependencies.store.commit(await swapWrites(run, outcome, { change, updateTime }));
      return { ...outcome, turnsArrived };
    } catch (error) {
      if (!mayBeCommitted(error)) throw error;
      if (!(await readUnswapped(run))) return outcome;
      await run.lease.refresh();
      if (tries >= (change.isGuarded ? GUARDED_TRIES : SWAP_TRIES)) throw error;
    }
  }
}

/**
 * The conversation document that the swap is to be written over, as it is now; undefined: an earlier try, whose reply was
 * lost, has put it into use. Throws StoppedError when the conversation moved on without it.
 */
async function readUnswapped(run: ClaimedRun): Promise<Versioned<Conversation> | undefined> {
  const { conversationId, conversation } = run.reading;
  const { generation } = conversation.value;
  const [conversationNow, historyNext] = await run.dependencies.store.get([
    conversationPath(conversationId),
    historyPath(conversationId, generation + 1),
  ]);
  if (historyNext && decodeHistory(historyNext).by === run.lease.owner) return undefined;
  const now = refuseUnwanted(conversationNow && decodeConversation(conversationNow), {
    generation,
    requestId: run.request.requestId,
  });
  if (historyNext) throw new StoppedError({ state: 'SUPERSEDED', reason: 'GENERATION_MOVED' });
  return now;
}

async function swapWrites(
  run: ClaimedRun,
  outcome: Outcome,
  { change, updateTime }: { change: GenerationChange; updateTime: string },
): Promise<Write[]> {
  const { conversationId } = run.reading;
  const { history, fields, turnWrites = [], isGuarded } = change;
  return [
    historyWrite(conversationId, history),
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { updateTime: history.createTime, ...fields },
      guard: isGuarded ? { updateTime } : { exists: true },
    },
    ...turnWrites,
    {
      op: 'update',
      path: compactionJobPath(conversationId),
      fields: jobAfter(run, outcome, undefined),
      guard: { updateTime: run.lease.updateTime },
    },
    await outcomeStatusWrite(run, outcome),
  ];
}

// What a candidate changes

/** Puts the candidate in place of the turns that it folds: see `swap`. */
export const swapCandidate = (run: ClaimedRun, candidate: Candidate): Promise<Outcome> =>
  swap(run, outcomeOf(candidate, run.reading.conversation.value.generation + 1), (conversation) =>
    candidateChange(run, candidate, conversation),
  );

/** What puts the candidate in place of the turns that it folds. */
function candidateChange(
  run: ClaimedRun,
  candidate: Candidate,
  conversation: Conversation,
): GenerationChange {
  const { revision } = run.reading.memory;
  const history = historyOf(run, candidate);
  const pins = pinsToWrite(conversation, candidate);
  const fields = {
    generation: history.generation,
    coveredThrough: { ...candidate.coveredThrough },
    ...(pins && { pins }),
    ...(revision > 0 && { memoryRevision: revision }),
  };
  return { history, fields, isGuarded: pins !== undefined };
}

function historyOf(run: ClaimedRun, candidate: Candidate): History {
  const { reading, request, bill } = run;
  const { after: _after, keptPins: _pins, ...described } = candidate;
  return {
    ...described,
    schemaVersion: 1,
    generation: reading.conversation.value.generation + 1,
    parent: reading.conversation.value.generation,
    trigger: request.trigger,
    requestId: request.requestId,
    unproductiveSwaps: unproductiveSwapsAfter(reading.history, {
      ...candidate,
      policy: reading.policy,
    }),
    modelCalls: bill.calls,
    usage: { promptTokens: bill.promptTokens, outputTokens: bill.outputTokens },
    ...billedCost(bill),
    ...(reading.variant !== undefined && { variant: reading.variant }),
    requestedAt: request.since,
    createTime: run.dependencies.clock.now(),
    durationMs: elapsedMs(run),
    by: run.lease.owner,
  };
}

const outcomeOf = (candidate: Candidate, generation: number): Outcome => ({
  state: candidate.state,
  beforeTokens: candidate.beforeTokens,
  afterTokens: candidate.afterTokens,
  tokensSource: candidate.counted.source,
  after: candidate.after,
  turnsFolded: candidate.turnsFolded,
  generation,
  coveredThrough: candidate.coveredThrough,
  strategy: candidate.strategy,
  isRetryable: false,
  ...(candidate.model !== '' && { model: candidate.model }),
});

/** The conversation document's pins with those that the swap adds; undefined: there are none to add. */
function pinsToWrite({ pins }: Conversation, { keptPins }: Candidate): Pin[] | undefined {
  const added = keptPins.filter(({ id }) => !pins.some((pin) => pin.id === id));
  return added.length > 0 ? [...pins, ...added] : undefined;
}

// The index of recall

/** More turns without an index than these are left to a run of their own: no swap waits for the reading of a year. */
const INDEXED_HERE_MAX = 2 * SEGMENT_TURNS;

/**
 * Puts the turns that a swap is about to fold into the index of recall, so that they can be found from then on. The swap
 * does not depend on it: what fails here is asked for again by the next message.
 */
export async function indexFolded(run: ClaimedRun, candidate: Candidate): Promise<void> {
  const { dependencies, reading, signal } = run;
  const { conversationId, conversation } = reading;
  if (dependencies.config.RECALL_TOKENS === 0) return;
  const throughSeq = foldedThrough(candidate);
  try {
    if (throughSeq - (conversation.value.indexedThrough ?? 0) > INDEXED_HERE_MAX)
      await dependencies.publisher.publish({
        topic: 'compaction',
        data: indexEvent({ conversationId, isBroken: false }),
      });
    else await indexTurns(dependencies, { conversationId, throughSeq, signal });
  } catch (error) {
    if (error instanceof CrashedError) throw error;
    const name = error instanceof Error ? error.name : typeof error;
    dependencies.logger.log('WARNING', 'recall_not_indexed', { conversationId, error: name });
  }
  await passWorkerCrashPoint(dependencies, 'indexed');
}
