import type { SentView } from '#shared/compaction/shrunken-view.ts';
import { decodeAnswerOptions } from '#shared/models/answer-options.ts';
import { contentText, type Part } from '#shared/conversation/documents/content.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { findOpenCalls } from '#shared/conversation/context/tool-calls.ts';
import { AppError } from '#shared/errors.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';
import { addGrounding } from '#shared/grounding/locate-claims.ts';
import { answerText } from '#shared/conversation/context/answer-text.ts';
import { hasLooped, roundsIn } from '#shared/loops/call-loop.ts';
import { LOOP_OF_CALLS, loopKind } from '#shared/loops/loop-reasons.ts';
import { textPartId } from '#shared/wire/frame-ids.ts';
import { toFinishReason } from '#shared/wire/finish-reason.ts';
import { abortedError } from '#functions/lib/abortable.ts';
import { groundingTools, modelWindowTokens } from '#functions/models/models-in-use.ts';
import { addUsage, pricedUsage } from './add-usage.ts';
import {
  beginRound,
  contentsBytes,
  endRound,
  hasRounds,
  roundsLimit,
  type Answering,
} from './answer-round.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { ROUNDS_MAX_BYTES } from '../tools/tool-limits.ts';
import { callOptions } from './call-options.ts';
import { promptOfRound, type CallReport, type RoundPrompt } from './round-prompt.ts';
import {
  ANSWER_MAX_BYTES,
  emptyAnswerError,
  streamAnswer,
  type Answer,
  type AnswerCall,
} from './stream-answer.ts';
import { streamFitting } from './stream-fitting.ts';
import { showStoredRounds } from '../store/stored-rounds.ts';
import { askWithoutDeadFiles, type CallAnswer } from './dead-files.ts';
import type { TurnAnswer, TurnProgress } from '../store/turn-progress.ts';

/** Loaded by the first turn that calls a tool. */
const loadCondensing = () => import('./condense-round.ts');

/** What the loop knows between two calls of the model. */
interface Going {
  progress: TurnProgress;
  report: CallReport | undefined;
  /** A call of the model may be billed, and told no figures. */
  isUnreported: boolean;
  /** Contents that the last call was sent. */
  sentContents: number;
  /** How the newest prompt stands to the context. */
  sent: SentView;
}

/** At the limit one last call is made in which the model can only answer. */
const mayCall = (
  dependencies: ChatDependencies,
  { begun }: Answering,
  { contents, rounds }: TurnProgress,
): boolean =>
  (rounds?.count ?? 0) <= roundsLimit(dependencies, begun.context.conversation) &&
  contentsBytes(contents) < ROUNDS_MAX_BYTES;

/** The prompt of the next call: of the first one as the turn began with it. */
async function nextPrompt(
  dependencies: ChatDependencies,
  { begun }: Answering,
  going: Going,
): Promise<RoundPrompt> {
  const { progress, report } = going;
  return progress.contents.length === 0
    ? begun.call
    : promptOfRound(dependencies, { begun, progress, report });
}

/** One call of the model. */
async function callModel(
  dependencies: ChatDependencies,
  answering: Answering,
  { going, prompt, hasTools }: { going: Going; prompt: RoundPrompt; hasTools: boolean },
): Promise<CallAnswer> {
  const { begun, emit, signal, isCut } = answering;
  const { conversationId, seq, attempt } = begun.attempt;
  const { contents, rounds } = going.progress;
  const options = decodeAnswerOptions(begun.turn.options);
  if (rounds) emit({ type: 'start-step' });
  const call: AnswerCall = {
    request: {
      ...prompt.prompt,
      ...callOptions(options, { rounds: rounds?.count ?? 0, mayCall: hasTools }),
      ...groundingTools(dependencies.config, {
        ...prompt.prompt,
        responseJsonSchema: options.responseSchema,
      }),
      role: 'chat',
      promptId: turnId(seq),
    },
    name: `turn ${seq} of ${conversationId}`,
    conversationId,
    timeoutMs: dependencies.config.TURN_TIMEOUT_MS,
    signal,
    emit,
    partId: textPartId(attempt, rounds?.count ?? 0),
    maxBytes: ANSWER_MAX_BYTES - (contents.length === 0 ? 0 : contentsBytes(contents)),
    isCut,
  };
  const { responseSchema } = options;
  const turn = { begun, progress: going.progress };
  return askWithoutDeadFiles(turn, call.request, (request) =>
    responseSchema
      ? streamFitting(dependencies, { ...call, request }, responseSchema)
      : streamAnswer(dependencies, { ...call, request }),
  );
}

const callsTools = ({ parts, error, finishReason }: Answer): boolean =>
  error === undefined &&
  loopKind(finishReason) === undefined &&
  toFinishReason(finishReason) !== 'content-filter' &&
  parts.some(({ functionCall }) => functionCall !== undefined);

const isNoCall = ({ functionCall }: Part) => functionCall === undefined;

/** The end of a turn that the model has answered, or failed to. */
function lastAnswer(going: Going, answer: Answer): TurnAnswer {
  // A call that nobody will run is none.
  const parts = answer.parts.filter(isNoCall);
  const { progress } = going;
  const modelContents = parts.length > 0 ? [{ role: 'model' as const, parts }] : [];
  return {
    ...progress,
    contents: [...progress.contents, ...modelContents],
    finishReason: answer.finishReason,
    error: answer.error ?? emptyAnswerError({ ...answer, parts }),
    report: answer.usage,
    isUnreported: going.isUnreported,
    sentContents: progress.contents.length,
    sent: going.sent,
    isWaiting: false,
  };
}

/** The end of a turn between two calls of the model. */
const stopped = (going: Going, error: AppError | undefined): TurnAnswer => ({
  ...going.progress,
  error,
  isUnreported: going.isUnreported,
  sentContents: going.sentContents,
  sent: going.sent,
  isWaiting: error === undefined,
});

/** The end of a turn whose model was told that it repeats itself, and went on. */
const looped = (going: Going): TurnAnswer => ({
  ...stopped(going, undefined),
  finishReason: LOOP_OF_CALLS,
  isWaiting: false,
});

/** What a model reports that took the prompt: one that is larger than its window it did not have. */
const possibleUsage = ({ usage }: Answer, windowTokens: number) =>
  usage && usage.promptTokens <= windowTokens ? usage : undefined;

/** Goes on with the turn by one call of the model; the answer when it was the last one. */
async function step(
  dependencies: ChatDependencies,
  answering: Answering,
  going: Going,
): Promise<TurnAnswer | undefined> {
  const { begun, signal } = answering;
  const hasTools = mayCall(dependencies, answering, going.progress);
  const prompt = await nextPrompt(dependencies, answering, going);
  going.sent = prompt.sent;
  const reply = await callModel(dependencies, answering, { going, prompt, hasTools });
  const { config } = dependencies;
  const { model } = begun.call;
  const answer = { ...reply, usage: possibleUsage(reply, modelWindowTokens(config, model)) };
  const isImpossible = reply.usage !== undefined && answer.usage === undefined;
  going.isUnreported ||= reply.isUnreported === true || isImpossible;
  const priced = (reported: ModelUsage | undefined) =>
    reported && pricedUsage(config, model, reported);
  const usage = addUsage(priced(reply.misfitUsage), priced(answer.usage));
  going.sentContents = going.progress.contents.length;
  going.progress = {
    ...going.progress,
    usage: addUsage(going.progress.usage, usage),
    repairs: answer.repairs ?? going.progress.repairs,
    leftOutFiles: answer.leftOutFiles,
    grounding: addGrounding(going.progress.grounding, answer.grounding, {
      text: contentText({ role: 'model', parts: answer.parts }),
      offset: answerText(going.progress.contents).length,
    }),
  };
  // A report about a prompt with less than the context says nothing about it.
  const { isOverLimit, outputTokens } = prompt.sent;
  const reported = isOverLimit || reply.misfitUsage ? undefined : answer.usage;
  going.report = reported && { usage: reported, contents: going.sentContents, outputTokens };
  if (!hasTools || !callsTools(answer) || signal.aborted) return lastAnswer(going, answer);
  const round = { progress: going.progress, parts: answer.parts };
  going.progress = await beginRound(dependencies, answering, round);
  return undefined;
}

async function answerInRounds(
  dependencies: ChatDependencies,
  answering: Answering,
  going: Going,
): Promise<TurnAnswer> {
  const declared = (answering.begun.call.prompt.tools ?? []).map(({ name }) => name);
  for (;;) {
    const { progress } = going;
    if (hasRounds(progress) && findOpenCalls(progress.contents).length > 0) {
      const end = await endRound(dependencies, answering, { progress, declared });
      going.progress = end.progress;
      if (end.kind === 'waiting') return stopped(going, undefined);
      if (end.kind === 'broken') return stopped(going, abortedError());
    }
    if (hasLooped(roundsIn(going.progress.contents))) return looped(going);
    const { progress: whole } = going;
    if (hasRounds(whole)) {
      const { condenseRound } = await loadCondensing();
      going.progress = await condenseRound(dependencies, answering, whole);
    }
    const answer = await step(dependencies, answering, going);
    if (answer) return answer;
  }
}

/**
 * Answers a turn: calls the model, runs the tools that it asks for, and calls it again with what they gave,
 * until it answers, the app has to do something, or a limit is reached. Every step is stored before the next
 * one begins. An error is part of the answer, with all that stands before it; so is TURN_TAKEN_OVER. Throws what is no
 * AppError.
 */
export async function answerTurn(
  dependencies: ChatDependencies,
  answering: Answering,
): Promise<TurnAnswer> {
  const { call, progress } = answering.begun;
  const { contents, usage, grounding, leftOutFiles } = progress;
  const rounds = showStoredRounds(answering);
  const going: Going = {
    progress: { contents, rounds, usage, grounding, leftOutFiles },
    report: undefined,
    isUnreported: false,
    sentContents: 0,
    sent: call.sent,
  };
  try {
    return await answerInRounds(dependencies, answering, going);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return stopped(going, error);
  }
}
