import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import {
  type ToolCall,
  callKey,
  findCalls,
  findOpenCalls,
  openResponses,
  withResponses,
} from '#shared/conversation/context/tool-calls.ts';
import { isWaitingCall } from '#shared/conversation/context/tool-results.ts';
import type { Content, Part } from '#shared/models/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { readClientTools } from '#shared/conversation/documents/declared-tools.ts';
import { nextStep, type Rounds, type TurnUsage } from '#shared/conversation/documents/turn.ts';
import {
  findCallLoop,
  loopFeedback,
  roundLimitResponse,
  roundsIn,
} from '#shared/conversation/call-loop.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { approvalChunk, callChunk, responseChunks } from '../stream/turn-frames.ts';
import type { BegunTurn, TurnProgress } from '../start/begun-turn.ts';
import { needsApproval, runCalls } from '../tools/run-calls.ts';
import {
  CALLS_PER_ROUND,
  ROUNDS_MAX_BYTES,
  type ToolResponse,
  errorResponse,
} from '../tools/tool-response.ts';
import { contentsBytes, estimateAll } from '../contents-size.ts';
import type { TurnWriter } from './turn-writer.ts';

/** What the loop that answers a turn needs. */
export interface Answering {
  begun: BegunTurn;
  writer: Pick<TurnWriter, 'storeRounds'>;
  /** Gives a chunk to the readers; returns the id of its frame. */
  emit: (chunk: StreamChunk) => number;
  /** Ends the call of the model and the tools; what was received until then is the answer. */
  signal: AbortSignal;
  /** Whether an answer that broke off is left to another attempt. */
  isCut: () => boolean;
}

/** The progress of a turn with tool calls. */
export type WithRounds = TurnProgress & { rounds: Rounds };

export const hasRounds = (progress: TurnProgress): progress is WithRounds =>
  progress.rounds !== undefined;

/** How many rounds of calls one answer may have. */
export const roundsLimit = (
  { config }: Pick<ChatDependencies, 'config'>,
  { profile }: Pick<Conversation, 'profile'>,
): number => (profile === 'coding' ? config.CODING_TOOL_ROUNDS : config.TOOL_ROUNDS);

/** Stores what a turn has come to. Throws TURN_TAKEN_OVER, StoreUnavailableError. */
export async function storeProgress(
  { begun, writer }: Answering,
  progress: WithRounds,
): Promise<void> {
  const { contents, rounds, usage, grounding } = progress;
  const answer = estimateAll(contents, begun.context.conversation);
  const tokens = { user: begun.tokens.user, answer };
  await writer.storeRounds({ contents, rounds, tokens, usage, grounding });
}

/** The usage before a round where no call has reported any; without a cost, for that is not known. */
const NO_USAGE: TurnUsage = {
  promptTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  thoughtsTokens: 0,
};

/**
 * Stores the calls that the model has asked for, before any of them runs: another attempt runs the same ones under the
 * same keys. Throws what storing throws.
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
  const { app, asks } = await ownersOf(dependencies, begun, calls.slice(0, CALLS_PER_ROUND));
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

/** Which of a round's calls the app answers, and which wait for the user. */
async function ownersOf(
  { toolbox }: Pick<ChatDependencies, 'toolbox'>,
  { context, caller, attempt }: BegunTurn,
  calls: readonly ToolCall[],
) {
  const { conversationId, seq } = attempt;
  const appTools = new Set(readClientTools(context.conversation).map(({ name }) => name));
  const asked = await Promise.all(
    calls.map((call) =>
      needsApproval(toolbox, call, { caller, conversationId, seq, key: callKey(seq, call.index) }),
    ),
  );
  const app = calls.filter(({ name }) => appTools.has(name) && toolbox.find(name) === undefined);
  return {
    app: app.map(({ index }) => index),
    asks: calls.filter((_, place) => asked[place]).map(({ index }) => index),
  };
}

/** How a round has ended: whole, waiting for the app or the user, or broken off from outside. */
type RoundEnd = { kind: 'whole' | 'waiting' | 'broken'; progress: WithRounds };

/**
 * Runs those open calls of the last round that this server answers, and stores the round when it is whole. A round
 * without open calls is stored already. Throws what storing throws.
 */
export async function endRound(
  dependencies: ChatDependencies,
  answering: Answering,
  open: WithRounds,
): Promise<RoundEnd> {
  if (findOpenCalls(open.contents).length === 0) return { kind: 'whole', progress: open };
  const { rounds } = open;
  const { responses, lastId, isWaiting } = await respond(dependencies, answering, open);
  const contents = withResponses(open.contents, ({ index }) => responses.get(index));
  const progress = { ...open, contents };
  if (answering.signal.aborted) return { kind: 'broken', progress };
  await passCrashPoint(dependencies, 'tools-ran');
  if (isWaiting) {
    const { seq } = answering.begun.attempt;
    for (const call of newestCalls(progress).waiting)
      if (rounds.asks?.includes(call.index)) answering.emit(approvalChunk({ seq }, call));
    return { kind: 'waiting', progress };
  }
  const frames = lastId === undefined ? rounds.frames : [...rounds.frames, lastId];
  const whole = { ...progress, rounds: { ...nextStep(rounds), frames } };
  await storeProgress(answering, whole);
  await passCrashPoint(dependencies, 'responses-stored');
  return { kind: 'whole', progress: whole };
}

const tooMany = errorResponse(
  `More than ${CALLS_PER_ROUND} calls at once: this one was not run. Call it again, with fewer others.`,
);

/** The responses of the calls that this server answers, and the id of the last frame that showed one. */
async function respond(dependencies: ChatDependencies, answering: Answering, progress: WithRounds) {
  const { begun, signal } = answering;
  const { conversationId, seq } = begun.attempt;
  const refusal = roundRefusal(dependencies, begun.context.conversation, progress);
  const { due, waiting, beyond } = refusal
    ? { due: [], waiting: [], beyond: findOpenCalls(progress.contents) }
    : newestCalls(progress);
  const order = inOrder(answering, progress, [...due, ...beyond]);
  const responses = await runCalls(dependencies, {
    calls: due,
    caller: begun.caller,
    conversationId,
    seq,
    approved: progress.rounds.approved ?? [],
    declared: (begun.call.prompt.tools ?? []).map(({ name }) => name),
    roomBytes: Math.max(0, ROUNDS_MAX_BYTES - contentsBytes(progress.contents)),
    signal,
    onResponse: order.tell,
  });
  if (!signal.aborted)
    for (const call of beyond) {
      const response = refusal ?? tooMany;
      responses.set(call.index, response);
      order.tell(call, response);
    }
  return { responses, lastId: order.lastId(), isWaiting: waiting.length > 0 };
}

/** The response that the model gets where no call of the newest round is run; undefined: they are run. */
function roundRefusal(
  dependencies: ChatDependencies,
  conversation: Conversation,
  { contents, rounds }: WithRounds,
): ToolResponse | undefined {
  const { toolbox, config } = dependencies;
  const limit = roundsLimit(dependencies, conversation);
  if (rounds.count > limit) return roundLimitResponse(limit);
  if (config.LOOP_DETECTION === 'off') return undefined;
  const polledOfApp = readClientTools(conversation)
    .filter(({ name, polled }) => polled === true && toolbox.find(name) === undefined)
    .map(({ name }) => name);
  const loop = findCallLoop(roundsIn(contents), new Set([...toolbox.polled, ...polledOfApp]));
  return loop && loopFeedback(loop);
}

/** Emits responses in the order of their calls, each as soon as those before it are there. */
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

/** The open calls of the newest round, in order, by what becomes of them. */
interface NewestCalls {
  /** This server runs them now. */
  due: ToolCall[];
  /** The app runs them, or its user is asked first. */
  waiting: ToolCall[];
  /** More than one round may have: they are not run. */
  beyond: ToolCall[];
}

/**
 * What becomes of the open calls of a turn whose contents end with a round. The place of a call in its round, among all
 * of its calls, decides whether the call is run at all.
 */
export function newestCalls({
  contents,
  rounds,
}: {
  contents: readonly Content[];
  rounds: Pick<Rounds, 'app' | 'asks' | 'approved'>;
}): NewestCalls {
  const before = findCalls(contents.slice(0, -2)).length;
  const isBeyond = ({ index }: ToolCall) => index >= before + CALLS_PER_ROUND;
  const isWaiting = (call: ToolCall) => isWaitingCall(rounds, call);
  const open = findOpenCalls(contents);
  const allowed = open.filter((call) => !isBeyond(call));
  return {
    due: allowed.filter((call) => !isWaiting(call)),
    waiting: allowed.filter(isWaiting),
    beyond: open.filter(isBeyond),
  };
}
