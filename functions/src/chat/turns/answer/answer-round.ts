import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import type { Content, Part } from '#shared/conversation/documents/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { readClientTools } from '#shared/conversation/documents/declared-tools.ts';
import {
  callKey,
  findCalls,
  findOpenCalls,
  openResponses,
  withResponses,
  type ToolCall,
} from '#shared/conversation/context/tool-calls.ts';
import type { Rounds, TurnUsage } from '#shared/conversation/documents/turn.ts';
import { findCallLoop, loopFeedback, roundsIn, type PolledTools } from '#shared/loops/call-loop.ts';
import { roundLimitResponse } from '#shared/loops/loop-reasons.ts';
import { utf8Length } from '#shared/store/names.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import { needsApproval, runCalls } from '../tools/run-calls.ts';
import { CALLS_PER_ROUND, ROUNDS_MAX_BYTES } from '../tools/tool-limits.ts';
import { errorResponse, type ToolResponse } from '../tools/tool-response.ts';
import { allowedCalls, newestCalls } from './newest-calls.ts';
import { approvalChunk, callChunk, responseChunks } from '../live/tool-frames.ts';
import type { TurnProgress } from '../store/turn-progress.ts';
import type { TurnWriter } from '../store/turn-writer.ts';

/** What a turn is answered with. */
export interface Answering {
  begun: BegunTurn;
  writer: Pick<TurnWriter, 'storeRounds'>;
  /** Gives a chunk to the readers; returns the id of its frame. */
  emit: (chunk: StreamChunk) => number;
  /** Ends the call of the model and the tools; what was received until then is the answer. */
  signal: AbortSignal;
  /** Whether an answer that broke is left to somebody else. */
  isCut: () => boolean;
}

/** A turn with calls: its rounds are there. */
export type WithRounds = TurnProgress & { rounds: Rounds };

export const hasRounds = (progress: TurnProgress): progress is WithRounds =>
  progress.rounds !== undefined;

export const contentsBytes = (contents: readonly Content[]): number =>
  utf8Length(JSON.stringify(contents));

/** How many rounds of calls one answer may have. */
export const roundsLimit = (
  { config }: Pick<ChatDependencies, 'config'>,
  { profile }: Pick<Conversation, 'profile'>,
): number => (profile === 'coding' ? config.CODING_TOOL_ROUNDS : config.TOOL_ROUNDS);

/** Uncalibrated tokens of contents in the conversation. */
export const estimateAll = (contents: readonly Content[], conversation: Conversation): number =>
  contents.reduce(
    (sum, content) => sum + estimateContentTokens(content, meterCounting(conversation)),
    0,
  );

/** Stores what a turn has come to. Throws TURN_TAKEN_OVER, StoreUnavailableError. */
export async function storeProgress(
  { begun, writer }: Answering,
  progress: WithRounds,
): Promise<void> {
  const { contents, rounds, usage, grounding } = progress;
  const answerTokens = estimateAll(contents, begun.context.conversation);
  const userTokens = begun.tokens.user;
  await writer.storeRounds({ contents, rounds, answerTokens, userTokens, usage, grounding });
}

/** Which of a round's calls the app answers, and which wait for the user. */
async function ownersOf(
  { toolbox }: Pick<ChatDependencies, 'toolbox'>,
  { context, caller, attempt }: BegunTurn,
  calls: readonly ToolCall[],
) {
  const { conversationId, seq } = attempt;
  const apps = new Set(readClientTools(context.conversation).map(({ name }) => name));
  const asked = await Promise.all(
    calls.map((call) =>
      needsApproval(toolbox, call, { caller, conversationId, seq, key: callKey(seq, call.index) }),
    ),
  );
  const indexesOf = (owned: readonly ToolCall[]) => owned.map(({ index }) => index);
  return {
    app: indexesOf(calls.filter(({ name }) => apps.has(name) && toolbox.find(name) === undefined)),
    asks: indexesOf(calls.filter((_, place) => asked[place])),
  };
}

const NO_USAGE: TurnUsage = {
  promptTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  thoughtsTokens: 0,
};

/**
 * Stores the calls that the model has asked for, before any of them runs: whoever goes on with the turn runs
 * the same ones under the same keys. Throws what storing throws.
 */
export async function beginRound(
  dependencies: ChatDependencies,
  answering: Answering,
  round: { progress: TurnProgress; parts: readonly Part[] },
): Promise<WithRounds> {
  const { begun, emit } = answering;
  const { progress } = round;
  const modelContent: Content = { role: 'model', parts: [...round.parts] };
  const contents = [...progress.contents, modelContent, openResponses(modelContent)];
  const before = findCalls(progress.contents).length;
  const calls = findCalls(contents).slice(before);
  const { app, asks } = await ownersOf(dependencies, begun, allowedCalls(calls));
  const { rounds } = progress;
  const next: WithRounds = {
    ...progress,
    contents,
    rounds: {
      count: (rounds?.count ?? 0) + 1,
      step: (rounds?.step ?? 0) + 1,
      frames: rounds?.frames ?? [],
      app: [...(rounds?.app ?? []), ...app],
      asks: [...(rounds?.asks ?? []), ...asks],
      approved: rounds?.approved ?? [],
      usages: [...(rounds?.usages ?? []), progress.usage ?? NO_USAGE],
    },
  };
  const owner = { seq: begun.attempt.seq, rounds: next.rounds };
  for (const call of calls) emit(callChunk(owner, call));
  await storeProgress(answering, next);
  await passCrashPoint(dependencies, 'calls-stored');
  return next;
}

/** Tells the readers of responses in the order of their calls, each as soon as those before it are there. */
function inOrder(answering: Answering, progress: WithRounds, due: readonly ToolCall[]) {
  const owner = { seq: answering.begun.attempt.seq, rounds: progress.rounds };
  const responses = new Map<number, ToolResponse>();
  let next = 0;
  let lastId: number | undefined;
  return {
    tell: (call: ToolCall, response: ToolResponse) => {
      responses.set(call.index, response);
      for (let first = due[next]; first; first = due[++next]) {
        const given = responses.get(first.index);
        if (!given) break;
        for (const chunk of responseChunks(owner, { ...first, response: given }))
          lastId = answering.emit(chunk);
      }
    },
    lastId: () => lastId,
  };
}

const tooMany = errorResponse(
  `More than ${CALLS_PER_ROUND} calls at once: this one was not run. Call it again, with fewer others.`,
);

/** Tools of both sides whose equal calls are no loop. */
const polledTools = (
  { toolbox }: Pick<ChatDependencies, 'toolbox'>,
  conversation: Conversation,
): PolledTools => {
  const apps = readClientTools(conversation).filter(
    ({ name, polled }) => polled === true && toolbox.find(name) === undefined,
  );
  return new Set([...toolbox.polled, ...apps.map(({ name }) => name)]);
};

/** Why no call of the newest round is run, as the model reads it; undefined: they are run. */
function refusalOf(
  dependencies: ChatDependencies,
  conversation: Conversation,
  { contents, rounds }: WithRounds,
): ToolResponse | undefined {
  const limit = roundsLimit(dependencies, conversation);
  if (rounds.count > limit) return roundLimitResponse(limit);
  if (dependencies.config.LOOP_DETECTION === 'off') return undefined;
  const loop = findCallLoop(roundsIn(contents), polledTools(dependencies, conversation));
  return loop && loopFeedback(loop);
}

/** How a round has ended: whole, waiting for the app or the user, or broken off from outside. */
type RoundEnd = { kind: 'whole' | 'waiting' | 'broken'; progress: WithRounds };

interface ToRun {
  progress: WithRounds;
  /** Names that the model may call. */
  declared: readonly string[];
}

/** The responses of the calls that this server answers, and the id of the last frame that told of one. */
async function respond(
  dependencies: ChatDependencies,
  answering: Answering,
  { progress, declared }: ToRun,
) {
  const { begun, signal } = answering;
  const { conversationId, seq } = begun.attempt;
  const { due, waiting, beyond } = newestCalls(progress);
  const refusal = refusalOf(dependencies, begun.context.conversation, progress);
  const refused = refusal ? findOpenCalls(progress.contents) : beyond;
  const order = inOrder(answering, progress, refusal ? refused : [...due, ...beyond]);
  const responses = await runCalls(dependencies, {
    calls: refusal ? [] : due,
    caller: begun.caller,
    conversationId,
    seq,
    approved: progress.rounds.approved ?? [],
    declared,
    roomBytes: Math.max(0, ROUNDS_MAX_BYTES - contentsBytes(progress.contents)),
    signal,
    onResponse: order.tell,
  });
  if (!signal.aborted)
    for (const call of refused) {
      const response = refusal ?? tooMany;
      responses.set(call.index, response);
      order.tell(call, response);
    }
  return { responses, lastId: order.lastId(), isWaiting: !refusal && waiting.length > 0 };
}

/**
 * Answers the open calls of the last round as far as this server does, and stores the round when it is whole.
 * Throws what storing throws.
 */
export async function endRound(
  dependencies: ChatDependencies,
  answering: Answering,
  toRun: ToRun,
): Promise<RoundEnd> {
  const { rounds } = toRun.progress;
  const { responses, lastId, isWaiting } = await respond(dependencies, answering, toRun);
  const contents = withResponses(toRun.progress.contents, ({ index }) => responses.get(index));
  const progress = { ...toRun.progress, contents };
  if (answering.signal.aborted) return { kind: 'broken', progress };
  await passCrashPoint(dependencies, 'tools-ran');
  if (isWaiting) {
    const { seq } = answering.begun.attempt;
    for (const call of newestCalls(progress).waiting)
      if (rounds.asks?.includes(call.index)) answering.emit(approvalChunk({ seq }, call));
    return { kind: 'waiting', progress };
  }
  const frames = lastId === undefined ? rounds.frames : [...rounds.frames, lastId];
  const whole = { ...progress, rounds: { ...rounds, step: rounds.step + 1, frames } };
  await storeProgress(answering, whole);
  await passCrashPoint(dependencies, 'responses-stored');
  return { kind: 'whole', progress: whole };
}
