import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { viewOfRound } from '#functions/context/next-call.ts';
import { abortedError } from '#functions/lib/async-iterators.ts';
import { groundingTools, modelWindowTokens } from '#functions/models/models-in-use.ts';
import type { SentView } from '#shared/conversation/context/sent-view.ts';
import { assemblePrompt } from '#shared/conversation/context/assemble-context.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { findCalls, findOpenCalls } from '#shared/conversation/context/tool-calls.ts';
import { answerText, contentText } from '#shared/models/content.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import type { Rounds } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/lib/errors.ts';
import { addGrounding } from '#shared/grounding/locate-claims.ts';
import { LOOP_OF_CALLS, hasLooped, loopKind, roundsIn } from '#shared/conversation/call-loop.ts';
import { type AnswerOptions, decodeAnswerOptions } from '#shared/models/answer-options.ts';
import type { ModelRequest, ModelUsage } from '#shared/ports/ports.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { toFinishReason } from '#shared/models/finish-reason.ts';
import { textPartId } from '#shared/conversation/frame-ids.ts';
import { contentChunks, responseChunks } from '../stream/turn-frames.ts';
import type { BegunTurn, TurnAnswer, TurnProgress } from '../start/begun-turn.ts';
import { refuseOrCompact } from '../overflow.ts';
import { ROUNDS_MAX_BYTES } from '../tools/tool-response.ts';
import { addUsage, pricedUsage, usageBeyond } from '../usage.ts';
import { contentsBytes } from '../contents-size.ts';
import {
  type Answering,
  type WithRounds,
  beginRound,
  endRound,
  hasRounds,
  roundsLimit,
} from './answer-round.ts';
import { type CallAnswer, askWithoutDeadFiles } from './dead-files.ts';
import {
  ANSWER_MAX_BYTES,
  type Answer,
  type AnswerCall,
  emptyAnswerError,
  streamAnswer,
} from './stream-answer.ts';
import { streamFitting } from './stream-fitting.ts';

/** Loaded by the first turn that calls a tool. */
const loadCondensing = () => import('./condense-round.ts');

/** The prompt of one call. */
type RoundPrompt = Pick<BegunTurn['call'], 'prompt' | 'sent'>;

/** Usage that the last call reported, and how many contents of the turn it was sent. */
interface CallReport {
  usage: ModelUsage;
  contents: number;
  outputTokens: number;
}

/** The state of the loop between two calls of the model. The answer is made of it when an error ends the loop. */
interface AnswerState {
  progress: TurnProgress;
  /** Undefined where the last call reported nothing, or was not sent all of the context. */
  report: CallReport | undefined;
  /** A call of the model may be billed, and reported no usage. */
  isUnreported: boolean;
  /** Contents that the last call was sent. */
  sentContents: number;
  /** What of the context the newest prompt had. */
  sent: SentView;
}

/**
 * Answers a turn: calls the model, runs the tools that it asks for, and calls it again with what they gave,
 * until it answers, calls wait for the app, or a limit is reached. Every step is stored before the next one begins. An
 * AppError ends the answer and is part of it, TURN_TAKEN_OVER too. Throws other errors.
 */
export async function answerTurn(
  dependencies: ChatDependencies,
  answering: Answering,
): Promise<TurnAnswer> {
  const { call, progress } = answering.begun;
  const { contents, usage, grounding, leftOutFiles } = progress;
  const rounds = showStoredRounds(answering);
  const state: AnswerState = {
    progress: { contents, rounds, usage, grounding, leftOutFiles },
    report: undefined,
    isUnreported: false,
    sentContents: 0,
    sent: call.sent,
  };
  try {
    return await answerInRounds(dependencies, answering, state);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return answerSoFar(state, { error, isWaiting: false });
  }
}

async function answerInRounds(
  dependencies: ChatDependencies,
  answering: Answering,
  state: AnswerState,
): Promise<TurnAnswer> {
  for (;;) {
    const { progress } = state;
    const ended = hasRounds(progress)
      ? await completeRounds(dependencies, answering, { state, progress })
      : undefined;
    const answer = ended ?? (await answerOrBeginRound(dependencies, answering, state));
    if (answer) return answer;
  }
}

/** Has all calls so far answered, before the model is called again. Returns the answer where the turn ends or pauses here. */
async function completeRounds(
  dependencies: ChatDependencies,
  answering: Answering,
  { state, progress }: { state: AnswerState; progress: WithRounds },
): Promise<TurnAnswer | undefined> {
  const end = await endRound(dependencies, answering, progress);
  state.progress = end.progress;
  if (end.kind === 'waiting') return answerSoFar(state, { error: undefined, isWaiting: true });
  if (end.kind === 'broken') return answerSoFar(state, { error: abortedError(), isWaiting: false });
  // The model was told that it repeats itself, and went on.
  if (hasLooped(roundsIn(end.progress.contents))) {
    const answer = answerSoFar(state, { error: undefined, isWaiting: false });
    return { ...answer, finishReason: LOOP_OF_CALLS };
  }
  const { condenseRound } = await loadCondensing();
  state.progress = await condenseRound(dependencies, answering, end.progress);
  return undefined;
}

/** Calls the model once and stores the tool calls that it asks for. Returns the answer where it asks for none. */
async function answerOrBeginRound(
  dependencies: ChatDependencies,
  answering: Answering,
  state: AnswerState,
): Promise<TurnAnswer | undefined> {
  const { begun, signal } = answering;
  const { config } = dependencies;
  const { model } = begun.call;
  const { contents, rounds } = state.progress;
  // At the limit one last call is made in which the model can only answer.
  const hasTools =
    (rounds?.count ?? 0) <= roundsLimit(dependencies, begun.context.conversation) &&
    contentsBytes(contents) < ROUNDS_MAX_BYTES;
  const prompt: RoundPrompt =
    contents.length === 0 ? begun.call : await promptOfRound(dependencies, begun, state);
  state.sent = prompt.sent;
  const reply = await callModel(dependencies, answering, { state, prompt, hasTools });
  // A report of a prompt larger than the window is wrong: the model took the prompt.
  const isPossible =
    reply.usage !== undefined && reply.usage.promptTokens <= modelWindowTokens(config, model);
  const answer = { ...reply, usage: isPossible ? reply.usage : undefined };
  state.isUnreported ||= reply.isUnreported === true || (reply.usage !== undefined && !isPossible);
  const priced = (reported: ModelUsage | undefined) =>
    reported && pricedUsage(config, model, reported);
  const usage = addUsage(priced(reply.misfitUsage), priced(answer.usage));
  state.sentContents = contents.length;
  state.progress = {
    ...state.progress,
    usage: addUsage(state.progress.usage, usage),
    repairs: answer.repairs ?? state.progress.repairs,
    leftOutFiles: answer.leftOutFiles,
    grounding: addGrounding(state.progress.grounding, answer.grounding, {
      text: contentText({ role: 'model', parts: answer.parts }),
      offset: answerText(contents).length,
    }),
  };
  // The report of a prompt without all of the context, or of a second call, says nothing about the size of the context.
  const { isOverLimit, outputTokens } = prompt.sent;
  const reported = isOverLimit || reply.misfitUsage ? undefined : answer.usage;
  state.report = reported && { usage: reported, contents: state.sentContents, outputTokens };
  if (!hasTools || !callsTools(answer) || signal.aborted) return lastAnswer(state, answer);
  const round = { progress: state.progress, parts: answer.parts };
  state.progress = await beginRound(dependencies, answering, round);
  return undefined;
}

/** One call of the model. */
async function callModel(
  dependencies: ChatDependencies,
  { begun, emit, signal, isCut }: Answering,
  { state, prompt, hasTools }: { state: AnswerState; prompt: RoundPrompt; hasTools: boolean },
): Promise<CallAnswer> {
  const { conversationId, seq, attempt } = begun.attempt;
  const { contents, rounds } = state.progress;
  const roundCount = rounds?.count ?? 0;
  const options = decodeAnswerOptions(begun.turn.options);
  const { responseSchema } = options;
  if (rounds) emit({ type: 'start-step' });
  const call: AnswerCall = {
    request: {
      ...prompt.prompt,
      ...callOptions(withDeclared(options, prompt.prompt), {
        rounds: roundCount,
        mayCall: hasTools,
      }),
      ...groundingTools(dependencies.config, {
        ...prompt.prompt,
        responseJsonSchema: responseSchema,
      }),
      role: 'chat',
      promptId: turnId(seq),
    },
    name: `turn ${seq} of ${conversationId}`,
    conversationId,
    timeoutMs: dependencies.config.TURN_TIMEOUT_MS,
    signal,
    emit,
    partId: textPartId(attempt, roundCount),
    maxBytes: ANSWER_MAX_BYTES - (contents.length === 0 ? 0 : contentsBytes(contents)),
    isCut,
  };
  const turn = { begun, progress: state.progress };
  return askWithoutDeadFiles(turn, call.request, (request) =>
    responseSchema
      ? streamFitting(dependencies, { ...call, request }, responseSchema)
      : streamAnswer(dependencies, { ...call, request }),
  );
}

/** Drops the choice of a function that is not declared in this turn: models refuse such a name. */
const withDeclared = (options: AnswerOptions, { tools = [] }: RoundPrompt['prompt']) => {
  const { toolChoice, ...rest } = options;
  const isKnown =
    typeof toolChoice !== 'object' || tools.some(({ name }) => name === toolChoice.name);
  return isKnown ? options : rest;
};

/**
 * The options of a message for one call of the model. A chosen function is demanded of the first call only: after a
 * round the model is free to answer. Without `mayCall` it calls none, whatever was chosen.
 */
function callOptions(
  { sampling, maxOutputTokens, toolChoice }: AnswerOptions,
  { rounds, mayCall }: { rounds: number; mayCall: boolean },
): Pick<ModelRequest, 'sampling' | 'maxOutputTokens' | 'toolChoice'> {
  const isChosen = toolChoice === 'none' || (toolChoice !== undefined && rounds === 0);
  const choice = mayCall ? (isChosen ? toolChoice : undefined) : 'none';
  return {
    ...(sampling && { sampling }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(choice && { toolChoice: choice }),
  };
}

/**
 * The prompt of a call after a round, under the same limits as the first: shrunk over the hard threshold, refused where
 * it cannot fit, and reserved anew. Throws CONTEXT_WINDOW_WILL_OVERFLOW, quota reasons, StoreUnavailableError.
 */
async function promptOfRound(
  dependencies: ChatDependencies,
  begun: BegunTurn,
  { progress, report }: AnswerState,
): Promise<RoundPrompt> {
  const { toolbox, store } = dependencies;
  const { conversation, history, turns, memory } = begun.context;
  const { model, user } = begun.call;
  const { conversationId, seq } = begun.attempt;
  const { contents } = progress;
  const context = { ...conversation, history, turns, memory };
  // Prompt and answer of the last call, as the model counted them: the answer is one content more.
  const reported = report && {
    tokens: report.usage.promptTokens + report.usage.outputTokens,
    contents: report.contents + 1,
    outputTokens: report.outputTokens,
  };
  const view = viewOfRound(dependencies, context, { seq, user, contents, model, reported });
  const last = contents.at(-1);
  const newTokens = last ? estimateContentTokens(last, meterCounting(conversation)) : 0;
  const requestTokens = Math.ceil(conversation.context.calibration * newTokens);
  await refuseOrCompact(dependencies, {
    conversationId,
    what: 'toolOutputs',
    conversation,
    contextTokens: Math.max(0, view.tokens - requestTokens),
    requestTokens,
    toCompact: () => readConversation(store, conversationId),
  });
  await begun.reservation.renew({
    model,
    estimatedTokens: view.tokens,
    taken: usageBeyond(progress.usage, begun.progress.settled),
  });
  const source = { ...context, model, serverTools: toolbox.declarations };
  const prompt = assemblePrompt(source, view.items);
  const { shrinkage, isOverLimit, outputTokens } = view;
  return { prompt, sent: { shrinkage, isOverLimit, outputTokens } };
}

const callsTools = ({ parts, error, finishReason }: Answer): boolean =>
  error === undefined &&
  loopKind(finishReason) === undefined &&
  toFinishReason(finishReason) !== 'content-filter' &&
  parts.some(({ functionCall }) => functionCall !== undefined);

/** The answer of a turn whose last call has answered or failed. */
function lastAnswer(state: AnswerState, answer: Answer): TurnAnswer {
  // Tool calls that will not be run are left out.
  const parts = answer.parts.filter(({ functionCall }) => functionCall === undefined);
  const { progress } = state;
  const modelContents = parts.length > 0 ? [{ role: 'model' as const, parts }] : [];
  return {
    ...progress,
    contents: [...progress.contents, ...modelContents],
    finishReason: answer.finishReason,
    error: answer.error ?? emptyAnswerError({ ...answer, parts }),
    report: state.report?.usage,
    isUnreported: state.isUnreported,
    sentContents: progress.contents.length,
    sent: state.sent,
    isWaiting: false,
  };
}

/** The answer of a turn that ends or pauses between two calls of the model. */
const answerSoFar = (
  { progress, isUnreported, sentContents, sent }: AnswerState,
  end: Pick<TurnAnswer, 'error' | 'isWaiting'>,
): TurnAnswer => ({ ...progress, isUnreported, sentContents, sent, ...end });

/**
 * Emits the rounds that earlier attempts have stored, as parts of this attempt, so that its stream has all of the
 * answer. After a pause emits only what was answered meanwhile. Returns the rounds with the ids of the frames that end
 * them; undefined where there are none.
 */
function showStoredRounds({ begun, emit }: Answering): Rounds | undefined {
  const { seq, attempt } = begun.attempt;
  const { contents, rounds, isResumed } = begun.progress;
  if (!rounds) return undefined;
  const isOpen = findOpenCalls(contents).length > 0;
  if (isResumed) {
    // The stream of this attempt has shown the round that waited, but not what the app and the user answered.
    const before = findCalls(contents.slice(0, -2)).length;
    const ids = findCalls(contents)
      .filter(({ index }) => index >= before)
      .filter(({ index }) => rounds.app.includes(index) || rounds.asks?.includes(index) === true)
      .flatMap((call) => responseChunks({ seq, rounds }, call).map(emit));
    const lastId = ids.at(-1);
    const frames = [...rounds.frames, ...(isOpen || lastId === undefined ? [] : [lastId])];
    return { ...rounds, frames };
  }
  const groups = contentChunks({ seq, attempt, contents, rounds });
  const ends = groups.map((chunks) => chunks.map(emit).at(-1) ?? 0);
  return { ...rounds, frames: isOpen ? ends.slice(0, -1) : ends };
}
