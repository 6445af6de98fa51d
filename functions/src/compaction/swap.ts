import { decodeHead } from '../../../shared/conversation/head.ts';
import {
  decodeHistory,
  encodeHistory,
  type History,
} from '../../../shared/conversation/history.ts';
import { compactionJobPath, headPath, historyPath } from '../../../shared/conversation/paths.ts';
import { storedMasks } from '../../../shared/compaction/tail-masks.ts';
import { GuardLostError, StoreUnavailableError } from '../../../shared/errors.ts';
import type { Write } from '../../../shared/ports.ts';
import type { Candidate } from './candidate.ts';
import { jobAfter } from './job-after.ts';
import { StoppedError, type Outcome } from './outcome.ts';
import { elapsedMs, type ClaimedRun } from './run.ts';
import { outcomeStatusWrite } from './status-write.ts';

/** A swap meets other writers of the status document, lost replies and outages; then it is given up. */
const SWAP_TRIES = 5;

function historyOf(run: ClaimedRun, candidate: Candidate): History {
  const { reading, need, bill } = run;
  // Who counted stands in the report.
  const { masks, tokensSource: _, ...described } = candidate;
  return {
    ...described,
    schemaVersion: 1,
    generation: reading.head.value.generation + 1,
    parent: reading.head.value.generation,
    strategy: 'rewrite',
    trigger: need.trigger,
    requestId: need.requestId,
    maskedTokensSaved: masks.reduce((sum, { savedTokens }) => sum + savedTokens, 0),
    masks: storedMasks(masks),
    modelCalls: bill.calls,
    usage: { promptTokens: bill.promptTokens, outputTokens: bill.outputTokens },
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
  tokensSource: candidate.tokensSource,
  turnsFolded: candidate.turnsFolded,
  generation,
  coveredThrough: candidate.coveredThrough,
  isRetryable: false,
  ...(candidate.model !== '' && { model: candidate.model }),
});

/**
 * Reads whether the swap was applied by an earlier try. Throws StoppedError when the conversation moved
 * on without it.
 */
async function isApplied(run: ClaimedRun): Promise<boolean> {
  const { conversationId, head } = run.reading;
  const { generation } = head.value;
  const [headNow, historyNext] = await run.dependencies.store.get([
    headPath(conversationId),
    historyPath(conversationId, generation + 1),
  ]);
  if (historyNext && decodeHistory(historyNext).by === run.lease.owner) return true;
  const now = headNow && decodeHead(headNow).value;
  if (now?.state !== 'live') throw new StoppedError({ state: 'SUPERSEDED', reason: 'NOT_LIVE' });
  if (historyNext || now.generation !== generation)
    throw new StoppedError({ state: 'SUPERSEDED', reason: 'GENERATION_MOVED' });
  return false;
}

async function swapWrites(
  run: ClaimedRun,
  candidate: Candidate,
  outcome: Outcome,
): Promise<Write[]> {
  const { conversationId } = run.reading;
  const history = historyOf(run, candidate);
  return [
    {
      op: 'create',
      path: historyPath(conversationId, history.generation),
      fields: encodeHistory(history),
    },
    {
      op: 'update',
      path: headPath(conversationId),
      fields: {
        generation: history.generation,
        coveredThrough: { ...candidate.coveredThrough },
        updateTime: history.createTime,
      },
      // Sends go on meanwhile: the creation above is what fences, not the head.
      guard: { exists: true },
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
  const outcome = outcomeOf(candidate, run.reading.head.value.generation + 1);
  for (let tries = 1; ; tries++) {
    if (await isApplied(run)) return outcome;
    try {
      await run.dependencies.store.commit(await swapWrites(run, candidate, outcome));
      return outcome;
    } catch (error) {
      const isOpen = error instanceof GuardLostError || error instanceof StoreUnavailableError;
      if (!isOpen) throw error;
      if (await isApplied(run)) return outcome;
      await run.lease.readAgain();
      if (tries === SWAP_TRIES) throw error;
    }
  }
}
