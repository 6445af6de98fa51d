import type { Shrinkage } from '../../../shared/compaction/shrunken-view.ts';
import { promptOf } from '../../../shared/conversation/assemble-context.ts';
import type { Head, Versioned } from '../../../shared/conversation/head.ts';
import type { History } from '../../../shared/conversation/history.ts';
import type { CompactionJob } from '../../../shared/conversation/job.ts';
import { turnPath } from '../../../shared/conversation/paths.ts';
import { readTurns } from '../../../shared/conversation/read-conversation.ts';
import type { StartDecision } from '../../../shared/conversation/start-decision.ts';
import type { Turn } from '../../../shared/conversation/turn.ts';
import {
  startWrites,
  takeOverWrites,
  type Lease,
} from '../../../shared/conversation/turn-writes.ts';
import {
  estimateContentTokens,
  estimatePromptTokens,
} from '../../../shared/compaction/token-estimate.ts';
import { GuardLostError, StoreUnavailableError } from '../../../shared/errors.ts';
import type { Prompt, Write } from '../../../shared/ports.ts';
import { meterCounting, policyOf } from '../conversation-policy.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import { firstHead } from './first-head.ts';
import { viewOfNextCall } from './next-call.ts';
import type { Attempt } from './lease-keeper.ts';
import { refuseOverflow } from './overflow.ts';
import { bodyHash, readContextBefore, type StartState } from './read-start.ts';
import { userContent, type SendRequest } from './send-request.ts';

/** A turn that this instance now owns, with all that its answer needs. */
export interface BegunTurn {
  attempt: Attempt;
  head: Head;
  job: CompactionJob | undefined;
  history: History | undefined;
  /** Terminal turns of the tail before this one. */
  turns: readonly Turn[];
  prompt: Prompt;
  /** What the prompt leaves out because the context is over the hard threshold. */
  shrinkage: Shrinkage | undefined;
  createTime: Date;
  /** Uncalibrated estimates. */
  userTokens: number;
  overheadTokens: number;
}

type Beginning = Extract<StartDecision, { kind: 'start' | 'takeOver' }>;

interface Draft {
  request: SendRequest;
  state: StartState;
  decision: Beginning;
  head: Versioned<Head> | { create: Head };
  lease: Lease;
  userTokens: number;
  now: Date;
}

function beginWrites(dependencies: ChatDependencies, draft: Draft): Write[] {
  const { request, state, decision, head, lease, now } = draft;
  const { conversationId } = request;
  switch (decision.kind) {
    case 'takeOver': {
      if ('create' in head || !state.known) throw new Error('a take-over needs its head and turn');
      const { seq, attempt } = decision;
      const turnUpdateTime = state.known.updateTime;
      return takeOverWrites({ conversationId, seq, attempt, lease, now, head, turnUpdateTime });
    }
    case 'start':
      return startWrites({
        conversationId,
        messageId: request.message.id,
        bodyHash: bodyHash(dependencies.sha256, request),
        seq: decision.seq,
        user: userContent(request),
        retention: request.message.retention,
        userTokens: draft.userTokens,
        lease,
        now,
        head,
        ...(decision.closeExpired !== undefined &&
          state.open && {
            closeExpired: { seq: decision.closeExpired, updateTime: state.open.updateTime },
          }),
      });
  }
}

/**
 * Commits the start and returns the turn's update time. After a lost reply, or a client that repeated
 * the commit by itself, the turn stands there with our nonce: that is success.
 */
async function commitBegin(
  dependencies: ChatDependencies,
  begin: { conversationId: string; seq: number; producer: string; writes: readonly Write[] },
): Promise<string> {
  const { conversationId, seq, writes } = begin;
  const path = turnPath(conversationId, seq);
  try {
    const updateTimes = await dependencies.store.commit(writes);
    return updateTimes[writes.findIndex((write) => write.path === path)] ?? '';
  } catch (error) {
    if (!(error instanceof GuardLostError || error instanceof StoreUnavailableError)) throw error;
    const [turn] = await readTurns(dependencies.store, conversationId, [seq]);
    if (turn?.value.producer === begin.producer) return turn.updateTime;
    throw error;
  }
}

/**
 * Begins a turn or takes one over: reads the context, refuses what cannot fit, and makes the message
 * durable in one batch. `undefined`: what was read is no longer true, read again.
 * Throws GuardLostError, StoreUnavailableError, CONTEXT_WINDOW_WILL_OVERFLOW, and what the quota throws.
 */
export async function beginTurn(
  dependencies: ChatDependencies,
  begin: { request: SendRequest; state: StartState; decision: Beginning },
): Promise<BegunTurn | undefined> {
  const { clock, config, randomness } = dependencies;
  const { request, state, decision } = begin;
  const { conversationId } = request;
  const head = state.head ?? { create: firstHead(dependencies, request.caller) };
  const headValue = 'create' in head ? head.create : head.value;
  const parts = await readContextBefore(dependencies, {
    conversationId,
    head: headValue,
    beforeSeq: decision.seq,
  });
  if (!parts) return undefined;

  const user = userContent(request);
  const source = { ...headValue, ...parts };
  const view = viewOfNextCall(config, source);
  const prompt = promptOf(source, view.items, user);
  const counting = meterCounting(headValue);
  const userTokens = estimateContentTokens(user, counting);
  await refuseOverflow(dependencies, {
    conversationId,
    head,
    contextTokens: view.tokens,
    requestTokens: Math.ceil(headValue.context.calibration * userTokens),
    windowTokens: policyOf(config, headValue).windowTokens,
  });
  await dependencies.quota.reserve({
    caller: request.caller,
    messageId: request.message.id,
    estimatedTokens: view.tokens + userTokens,
  });

  const now = clock.now();
  const producer = randomness.uuid();
  const lease = { producer, leaseUntil: new Date(now.getTime() + config.TURN_LEASE_MS) };
  const draft = { request, state, decision, head, lease, userTokens, now };
  const writes = beginWrites(dependencies, draft);
  const { seq } = decision;
  const turnUpdateTime = await commitBegin(dependencies, { conversationId, seq, producer, writes });
  return {
    attempt: {
      conversationId,
      seq,
      attempt: decision.kind === 'takeOver' ? decision.attempt : 1,
      producer,
      turnUpdateTime,
    },
    head: headValue,
    job: state.job,
    ...parts,
    prompt,
    shrinkage: view.shrinkage,
    createTime: decision.kind === 'takeOver' ? (state.known?.value.createTime ?? now) : now,
    userTokens,
    overheadTokens: estimatePromptTokens({ ...prompt, contents: [] }, counting),
  };
}
