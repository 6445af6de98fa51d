import { neededFacts } from '#shared/compaction/ledger/ledger-report.ts';
import { unproductiveSwapsAfter } from '#shared/compaction/trigger/compaction-trigger.ts';
import {
  decodeConversation,
  type Conversation,
  type Pin,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import {
  decodeHistory,
  encodeHistory,
  type History,
} from '#shared/conversation/documents/history.ts';
import {
  compactionJobPath,
  conversationPath,
  historyPath,
} from '#shared/conversation/documents/paths.ts';
import { signedHistory } from '#shared/conversation/context/signed-history.ts';
import { storedMasks } from '#shared/compaction/tool-outputs/tail-masks.ts';
import { mayBeCommitted } from '#shared/errors.ts';
import type { Write } from '#shared/ports/ports.ts';
import type { Candidate } from '../draft/candidate.ts';
import { jobAfter } from '../job-after.ts';
import { refuseUnwanted } from '../job-lease.ts';
import { StoppedError, type Outcome } from '../outcome.ts';
import { billedCost, elapsedMs, type ClaimedRun } from '../run.ts';
import { outcomeStatusWrite } from '../status-write.ts';

/** A swap meets other writers of the status document, lost replies and outages; then it is given up. */
const SWAP_TRIES = 5;

/**
 * One that adds pins writes the conversation document as it was read, and meets every start and end of a turn as well.
 */
const PINNING_SWAP_TRIES = 25;

function historyOf(run: ClaimedRun, candidate: Candidate): History {
  const { reading, need, bill } = run;
  const { masks, after: _after, keptPins: _pins, ...described } = candidate;
  return {
    ...described,
    schemaVersion: 1,
    generation: reading.conversation.value.generation + 1,
    parent: reading.conversation.value.generation,
    trigger: need.trigger,
    requestId: need.requestId,
    maskedTokensSaved: masks.reduce((sum, { savedTokens }) => sum + savedTokens, 0),
    masks: storedMasks(masks),
    unproductiveSwaps: unproductiveSwapsAfter(reading.history, {
      ...candidate,
      policy: reading.policy,
    }),
    modelCalls: bill.calls,
    usage: { promptTokens: bill.promptTokens, outputTokens: bill.outputTokens },
    ...billedCost(bill),
    ...(reading.variant !== undefined && { variant: reading.variant }),
    requestedAt: need.since,
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
  // One that only shortens outputs goes on with the report of the one before.
  needed: candidate.state === 'COMPACTED' ? neededFacts(candidate.report) : undefined,
  turnsFolded: candidate.turnsFolded,
  generation,
  coveredThrough: candidate.coveredThrough,
  strategy: candidate.strategy,
  isRetryable: false,
  ...(candidate.model !== '' && { model: candidate.model }),
});

/** Where a swap stands: applied by an earlier try, or to be written over this conversation document. */
type Standing = { isApplied: true } | { isApplied: false; conversation: Versioned<Conversation> };

/** Reads where the swap stands. Throws StoppedError when the conversation moved on without it. */
async function standingOf(run: ClaimedRun): Promise<Standing> {
  const { conversationId, conversation } = run.reading;
  const { generation } = conversation.value;
  const [conversationNow, historyNext] = await run.dependencies.store.get([
    conversationPath(conversationId),
    historyPath(conversationId, generation + 1),
  ]);
  if (historyNext && decodeHistory(historyNext).by === run.lease.owner) return { isApplied: true };
  const now = conversationNow && decodeConversation(conversationNow);
  const { requestId } = run.need;
  refuseUnwanted(now?.value, { generation, requestId });
  if (!now || historyNext)
    throw new StoppedError({ state: 'SUPERSEDED', reason: 'GENERATION_MOVED' });
  return { isApplied: false, conversation: now };
}

/** The conversation document's pins with those that the swap adds; undefined: there are none to add. */
function pinsToWrite({ pins }: Conversation, { keptPins = [] }: Candidate): Pin[] | undefined {
  const added = keptPins.filter(({ id }) => !pins.some((pin) => pin.id === id));
  return added.length > 0 ? [...pins, ...added] : undefined;
}

async function swapWrites(
  run: ClaimedRun,
  candidate: Candidate,
  { outcome, conversation }: { outcome: Outcome; conversation: Versioned<Conversation> },
): Promise<Write[]> {
  const { conversationId, memory } = run.reading;
  const { revision } = memory;
  const { signer } = run.dependencies;
  const history = signedHistory(signer, conversationId, historyOf(run, candidate));
  const pins = pinsToWrite(conversation.value, candidate);
  return [
    {
      op: 'create',
      path: historyPath(conversationId, history.generation),
      fields: encodeHistory(history),
    },
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: {
        generation: history.generation,
        coveredThrough: { ...candidate.coveredThrough },
        updateTime: history.createTime,
        ...(pins && { pins }),
        ...(revision > 0 && { memoryRevision: revision }),
      },
      // Sends go on meanwhile: the creation above is what fences, not the conversation document. Only pins must be
      // as read.
      guard: pins ? { updateTime: conversation.updateTime } : { exists: true },
    },
    {
      op: 'update',
      path: compactionJobPath(conversationId),
      fields: jobAfter(run, outcome, null),
      guard: { updateTime: run.lease.updateTime },
    },
    await outcomeStatusWrite(run, outcome),
  ];
}

/**
 * Puts the candidate in place of what it folds: one batch, applied once however often it is tried. The
 * renewals must have stopped. Throws StoppedError when another won, StoreUnavailableError when nobody
 * can tell; then the next delivery reads what happened.
 */
export async function swap(run: ClaimedRun, candidate: Candidate): Promise<Outcome> {
  const outcome = outcomeOf(candidate, run.reading.conversation.value.generation + 1);
  const mostTries = candidate.keptPins?.length ? PINNING_SWAP_TRIES : SWAP_TRIES;
  // Not `retry`: after every failure, the last one too, the documents say whether the swap was applied.
  for (let tries = 1; ; tries++) {
    const standing = await standingOf(run);
    if (standing.isApplied) return outcome;
    const { conversation } = standing;
    const turnsArrived = conversation.value.lastSeq - run.reading.conversation.value.lastSeq;
    try {
      await run.dependencies.store.commit(
        await swapWrites(run, candidate, { outcome, conversation }),
      );
      return { ...outcome, turnsArrived };
    } catch (error) {
      if (!mayBeCommitted(error)) throw error;
      if ((await standingOf(run)).isApplied) return outcome;
      await run.lease.readAgain();
      if (tries === mostTries) throw error;
    }
  }
}
