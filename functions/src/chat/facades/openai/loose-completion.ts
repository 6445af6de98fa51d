import { reportedCall } from '#shared/models/find-price.ts';
import { findMediaFamily } from '#shared/tokens/media-tokens.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { addGrounding } from '#shared/grounding/locate-claims.ts';
import { urlCitations } from '#shared/grounding/url-citations.ts';
import { isRouted } from '#shared/routing/routing.ts';
import type { Caller, ModelRequest } from '#shared/ports/ports.ts';
import type { Reservation } from '#shared/ports/quota-ports.ts';
import type { ChatCompletionBody } from '#shared/wire/facades/openai.ts';
import { createFrameLog, type FrameLog } from '#functions/chat/turns/live/live-turn.ts';
import { callOptions } from '#functions/chat/turns/answer/call-options.ts';
import {
  ANSWER_MAX_BYTES,
  streamAnswer,
  type AnswerCall,
} from '#functions/chat/turns/answer/stream-answer.ts';
import { askWithoutEarlierFiles } from '#functions/chat/turns/answer/dead-files.ts';
import { streamFitting, type FittingAnswer } from '#functions/chat/turns/answer/stream-fitting.ts';
import { isWritable, refuseUnwritable } from '#functions/chat/conversations/writable-fields.ts';
import { addUsage } from '#functions/chat/turns/answer/add-usage.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import {
  answeringModel,
  callCostMicros,
  groundingTools,
  modelWindowTokens,
} from '#functions/models/models-in-use.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { refuseOverWindow } from '#functions/chat/turns/start/overflow.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import { shuttingDownError } from '#functions/chat/turns/stream/stream-cut.ts';
import { badField } from './bad-field.ts';
import {
  askedOptions,
  ignoredFields,
  refuseLongCompletion,
  refuseUnknownChoice,
  schemaOfFormat,
} from './asked-options.ts';
import { countEarlierFiles, findInstruction, toContents } from './message-content.ts';
import { openSignature, sealSignature } from './sealed-signature.ts';
import { toDeclarations, toOpenAiCalls } from './tool-dialogue.ts';
import type { Completion, CompletionResult } from './completion.ts';

interface Asked {
  caller: Caller;
  body: ChatCompletionBody;
  requestId: string;
}

const noQuestion = () =>
  badField(
    'messages',
    '`messages` must end with a message of the role `user` that says something, or with what a tool gave.',
  );

const noUploads = () =>
  badField(
    'messages',
    'Uploads are for conversations. Send the file itself, or name a conversation.',
  );

/** Instruction and tools of a client, where this deployment lets it have its own. Throws FIELD_NOT_WRITABLE, BAD_FIELD. */
function overheadOf(
  config: ChatDependencies['config'],
  { messages, tools }: ChatCompletionBody,
): Pick<ModelRequest, 'systemInstruction' | 'tools'> {
  const isOwn = isWritable(config, 'systemInstruction');
  const systemInstruction =
    (isOwn ? findInstruction(messages) : undefined) ?? config.SYSTEM_INSTRUCTION;
  if ((tools ?? []).length > 0) refuseUnwritable(config, ['tools']);
  const declarations = toDeclarations(tools ?? []);
  return {
    ...(systemInstruction !== undefined && { systemInstruction }),
    ...(declarations.length > 0 && { tools: declarations }),
  };
}

/** No turn is stored that could keep to a choice, so the deployment's answers. */
function modelOf(config: ChatDependencies['config']): string {
  const { MODEL, routing, ROUTING_DEFAULT } = config;
  return answeringModel(config, isRouted(MODEL) && routing ? routing[ROUTING_DEFAULT] : MODEL);
}

/** What the model is asked: the dialogue as the client tells it. Throws BAD_FIELD, TEXT_TOO_LONG, FIELD_NOT_WRITABLE. */
function modelRequestOf(
  { config, signer }: Pick<ChatDependencies, 'config' | 'signer'>,
  { caller: { uid }, body, requestId }: Asked,
): ModelRequest {
  const model = modelOf(config);
  const { MAX_PART_BYTES: maxPartBytes, MAX_MESSAGE_BYTES: maxMessageBytes } = config;
  const contents = toContents(body.messages, {
    limits: { maxPartBytes, maxMessageBytes },
    openSignature: (token) => openSignature(signer, { uid, model, token }),
  });
  if (contents.some(({ parts }) => parts.some(({ upload }) => upload))) throw noUploads();
  const last = body.messages.at(-1)?.role;
  if ((last !== 'user' && last !== 'tool') || contents.at(-1)?.role !== 'user') throw noQuestion();
  const overhead = overheadOf(config, body);
  refuseUnknownChoice(body, overhead.tools ?? []);
  refuseLongCompletion(config, { body, model });
  const responseJsonSchema = schemaOfFormat(body);
  return {
    model,
    ...groundingTools(config, { model, responseJsonSchema }),
    ...overhead,
    contents,
    ...callOptions(askedOptions(body) ?? {}, { rounds: 0, mayCall: true }),
    role: 'chat',
    promptId: requestId,
  };
}

/** What the answer took, for the quota: as of a turn, but nothing of it is kept. */
function settle(
  { config }: Pick<ChatDependencies, 'config'>,
  { model }: ModelRequest,
  input: { reservation: Reservation; answer: FittingAnswer; isStopped: boolean },
): Promise<void> {
  const { reservation, isStopped } = input;
  const { error, isUnreported } = input.answer;
  const usage = addUsage(input.answer.misfitUsage, input.answer.usage);
  return reservation.settle({
    usage,
    costMicros: usage && callCostMicros(config, reportedCall(model, usage)),
    isMessage: isStopped || error === undefined,
    ...(isUnreported && { isUnreported }),
  });
}

async function answer(
  dependencies: RouteDependencies,
  { caller, requestId, body }: Asked,
  input: {
    request: ModelRequest;
    reservation: Reservation;
    log: FrameLog;
    stopped: AbortSignal;
  },
): Promise<CompletionResult> {
  const { request, reservation, log, stopped } = input;
  const call: Omit<AnswerCall, 'request'> = {
    name: `completion ${requestId}`,
    timeoutMs: dependencies.config.TURN_TIMEOUT_MS,
    signal: stopped,
    emit: (chunk) => void log.emit(chunk),
    partId: 'p0',
    maxBytes: ANSWER_MAX_BYTES,
    isCut: () => false,
  };
  const schema = schemaOfFormat(body);
  const given = await askWithoutEarlierFiles(
    { request, earlier: countEarlierFiles(body.messages) },
    (asked) =>
      schema
        ? streamFitting(dependencies, { ...call, request: asked }, schema)
        : streamAnswer(dependencies, { ...call, request: asked }),
  );
  await settle(dependencies, request, { reservation, answer: given, isStopped: stopped.aborted });
  log.end('finished');
  if (given.error) throw given.error;
  const { parts, finishReason } = given;
  const text = contentText({ role: 'model', parts });
  const grounding = addGrounding(undefined, given.grounding, { text, offset: 0 });
  return {
    text,
    toolCalls: toOpenAiCalls(parts, {
      id: requestId,
      seal: (signature) =>
        sealSignature(dependencies.signer, { uid: caller.uid, model: request.model, signature }),
    }),
    finishReason,
    usage: addUsage(given.misfitUsage, given.usage),
    citations: urlCitations(grounding, { text }),
  };
}

/** The frames for one reader: nobody else can ask for this answer, so it ends when the reader has left. */
const framesOf = (log: FrameLog, stopped: AbortController) => (left?: AbortSignal) => {
  left?.addEventListener('abort', () => stopped.abort(), { once: true });
  return log.frames({ kind: 'all' });
};

/**
 * Answers a dialogue that the client keeps itself. Nothing of it is stored, so nothing can be attached to: the
 * same request again is another call of the model. Quota and limits are those of messages. Throws BAD_FIELD,
 * TEXT_TOO_LONG, CONTEXT_WINDOW_WILL_OVERFLOW, quota reasons, SHUTTING_DOWN.
 */
export async function looseCompletion(
  dependencies: RouteDependencies,
  asked: Asked,
): Promise<Completion> {
  const { config, clock, shutdown } = dependencies;
  const { caller, requestId } = asked;
  if (shutdown.aborted) throw shuttingDownError('a completion was refused');
  const { body } = asked;
  const ignored = ignoredFields(config, body);
  const request = modelRequestOf(dependencies, asked);
  const { model } = request;
  const counting = { rule: 'character-class', mediaFamily: findMediaFamily(model) } as const;
  const estimatedTokens = estimatePromptTokens(request, counting);
  const windowTokens = modelWindowTokens(config, model);
  refuseOverWindow(`completion ${requestId}`, { requestTokens: estimatedTokens, windowTokens });
  const reservation = await dependencies.quota.reserve({
    caller,
    conversationId: requestId,
    messageId: requestId,
    attempt: 1,
    model,
    estimatedTokens,
  });
  const log = createFrameLog();
  const stopped = new AbortController();
  const input = { request, reservation, log, stopped: stopped.signal };
  return {
    id: `chatcmpl-${requestId}`,
    created: Math.floor(clock.now().getTime() / 1_000),
    model,
    recap: undefined,
    ignored,
    frames: framesOf(log, stopped),
    result: ignoreRejection(answer(dependencies, asked, input)),
  };
}
