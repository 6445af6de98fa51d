import { modelThatAnswered } from '#shared/conversation/context/turn-model.ts';
import { cacheMiss, type CacheMiss } from '#shared/models/cache-miss.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { cacheFromTokens } from '#functions/models/models-in-use.ts';
import type { BegunTurn } from '../start/begun-turn.ts';

type Begun = Pick<BegunTurn, 'turn' | 'context' | 'call' | 'progress'>;

/** What became of the conversation between the turn before and this one. */
function changeSince({ turn, context }: Begun): 'none' | 'begun' | 'compacted' | 'edited' {
  const { conversation, history } = context;
  const { marks, source, generation } = conversation.context;
  const isChanged = generation !== conversation.generation;
  const isSwap = history?.state === 'COMPACTED' || history?.state === 'CONTENT_TRUNCATED';
  if (isChanged && isSwap) return 'compacted';
  // Of a fork, and of a conversation whose turns have all failed, no prompt is known.
  if (!marks && source === 'estimated') return 'begun';
  return isChanged || turn.replaces !== undefined ? 'edited' : 'none';
}

/**
 * Why the first call of a turn was not served from the cache; undefined: it was, nobody knows, or a call of the same
 * turn went before it. From what the turn knows: nothing is read.
 */
export function cacheMissOfTurn(
  { config }: Pick<ChatDependencies, 'config'>,
  begun: Begun,
  call: { usage: ModelUsage | undefined; startMs: number },
): CacheMiss | undefined {
  const { context, call: sent, progress } = begun;
  if (!call.usage || progress.rounds) return undefined;
  const { calibration, marks, hadAside } = context.conversation.context;
  const last = context.turns.findLast(({ inContext }) => inContext);
  const weigh = (tokens = 0) => Math.ceil(calibration * tokens);
  const endedAt = context.turns.at(-1)?.finishTime?.getTime();
  return cacheMiss({
    cachedTokens: call.usage.cachedTokens,
    sharedTokens: Math.max(0, sent.contextTokens - weigh(last?.tokens.answer)),
    asideTokens: hadAside === true ? weigh(last?.tokens.user) : 0,
    cacheFromTokens: cacheFromTokens(config, sent.model),
    change: changeSince(begun),
    modelBefore: last && modelThatAnswered(last),
    model: sent.model,
    marksBefore: marks,
    marks: sent.marks(),
    isShortened: sent.isShortened,
    idleMs: endedAt === undefined ? undefined : call.startMs - endedAt,
  });
}
