import { modelThatAnswered } from '#shared/conversation/context/turn-model.ts';
import { pinText } from '#shared/conversation/pins/pin-budget.ts';
import { cacheMiss, type CacheMiss, type PromptMarks } from '#shared/models/cache-miss.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { cacheFromTokens } from '#functions/models/models-in-use.ts';
import type { BegunTurn } from '../start/begun-turn.ts';

/** Of a part of a prompt: two parts have the same one by accident once in 2^32. */
const DIGEST_CHARACTERS = 8;

type Begun = Pick<BegunTurn, 'turn' | 'context' | 'call' | 'tokens' | 'progress'>;

/** What the first prompt of a turn begins with: the meter keeps it for the turn behind it. */
export function promptMarks(
  { sha256 }: Pick<ChatDependencies, 'sha256'>,
  begun: Begun,
): PromptMarks {
  const digest = (text: string) => (text === '' ? '' : sha256(text).slice(0, DIGEST_CHARACTERS));
  const { call, context } = begun;
  const { app, user } = context.memory;
  const { tools = [] } = call.prompt;
  return {
    instruction: digest(call.prompt.systemInstruction ?? ''),
    tools: digest(tools.length === 0 ? '' : JSON.stringify(tools)),
    memory: digest(app + user),
    pins: digest(pinText(context.conversation.pins)),
  };
}

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
  dependencies: Pick<ChatDependencies, 'config' | 'sha256'>,
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
    cacheFromTokens: cacheFromTokens(dependencies.config, sent.model),
    change: changeSince(begun),
    modelBefore: last && modelThatAnswered(last),
    model: sent.model,
    marksBefore: marks,
    marks: promptMarks(dependencies, begun),
    isShortened: sent.isShortened,
    idleMs: endedAt === undefined ? undefined : call.startMs - endedAt,
  });
}
