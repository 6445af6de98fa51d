import { reportedCall } from '#shared/models/find-price.ts';
import { findMediaFamily } from '#shared/tokens/media-tokens.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { isRouted } from '#shared/routing/routing.ts';
import type { Caller, ModelRequest } from '#shared/ports/ports.ts';
import type { Reservation } from '#shared/ports/quota-ports.ts';
import type { ChatCompletionBody } from '#shared/wire/facades/openai.ts';
import { createFrameLog, type FrameLog } from '#functions/chat/turns/live/live-turn.ts';
import {
  ANSWER_MAX_BYTES,
  streamAnswer,
  type Answer,
} from '#functions/chat/turns/answer/stream-answer.ts';
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
import { badField, toContents, findInstruction } from './message-content.ts';
import type { Completion, CompletionResult } from './completion.ts';
import { reserveAlone } from '#functions/chat/turns/send/quota-reservation.ts';

interface Asked {
  caller: Caller;
  body: ChatCompletionBody;
  requestId: string;
}

function schemaOf({ response_format: format }: ChatCompletionBody): unknown {
  switch (format?.type) {
    case 'json_schema':
      return format.json_schema.schema;
    case 'json_object':
      return { type: 'object' };
    case 'text':
    case undefined:
      return undefined;
  }
}

const noQuestion = () =>
  badField(
    'messages',
    '`messages` must end with a message of the role `user` that says something.',
  );

const REMEDY =
  'is taken with a conversation only: set `metadata.conversation_id`, or the header `X-Conversation-Id`.';

/**
 * Tools need a conversation: calls go back to the model with what it signed them with, and this protocol loses
 * that on its way through the client. Throws BAD_FIELD.
 */
function refuseTools({ tools, messages }: ChatCompletionBody): void {
  if ((tools ?? []).length > 0) throw badField('tools', `\`tools\` ${REMEDY}`);
  const index = messages.findIndex(({ role }) => role === 'tool');
  if (index === -1) return;
  const field = `messages[${index}].role`;
  throw badField(field, `\`${field}\` is \`tool\`, which ${REMEDY}`);
}

/** No turn is stored that could keep to a choice, so the deployment's answers. */
function modelOf(config: ChatDependencies['config']): string {
  const { MODEL, routing, ROUTING_DEFAULT } = config;
  return answeringModel(config, isRouted(MODEL) && routing ? routing[ROUTING_DEFAULT] : MODEL);
}

/**
 * What the model is asked: the dialogue as the client tells it. The system instruction is the deployment's,
 * but where clients may write it.
 */
function modelRequestOf(
  config: ChatDependencies['config'],
  { body, requestId }: Asked,
): ModelRequest {
  const { MAX_PART_BYTES: maxPartBytes, MAX_MESSAGE_BYTES: maxMessageBytes } = config;
  refuseTools(body);
  const contents = toContents(body.messages, { maxPartBytes, maxMessageBytes });
  if (body.messages.at(-1)?.role !== 'user' || contents.at(-1)?.role !== 'user') throw noQuestion();
  const ownInstruction = config.CLIENT_WRITABLE.includes('systemInstruction')
    ? findInstruction(body.messages)
    : undefined;
  const systemInstruction = ownInstruction ?? config.SYSTEM_INSTRUCTION;
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens ?? undefined;
  const responseJsonSchema = schemaOf(body);
  const model = modelOf(config);
  return {
    model,
    ...groundingTools(config, { model, responseJsonSchema }),
    ...(systemInstruction !== undefined && { systemInstruction }),
    contents,
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(responseJsonSchema !== undefined && { responseJsonSchema }),
    role: 'chat',
    promptId: requestId,
  };
}

/** What the answer took, for the quota: as of a turn, but nothing of it is kept. */
function settle(
  { config }: Pick<ChatDependencies, 'config'>,
  { model }: ModelRequest,
  input: { reservation: Reservation | undefined; answer: Answer; isStopped: boolean },
): Promise<void> | undefined {
  const { reservation, isStopped } = input;
  const { usage, error } = input.answer;
  return reservation?.settle({
    usage,
    costMicros: usage && callCostMicros(config, reportedCall(model, usage)),
    isMessage: isStopped || error === undefined,
    isUnreported: isStopped || error === undefined,
  });
}

async function answer(
  dependencies: RouteDependencies,
  { requestId }: Asked,
  input: {
    request: ModelRequest;
    reservation: Reservation | undefined;
    log: FrameLog;
    stopped: AbortSignal;
  },
): Promise<CompletionResult> {
  const { request, reservation, log, stopped } = input;
  const given = await streamAnswer(dependencies, {
    request,
    name: `completion ${requestId}`,
    timeoutMs: dependencies.config.TURN_TIMEOUT_MS,
    signal: stopped,
    emit: (chunk) => void log.emit(chunk),
    partId: 'p0',
    maxBytes: ANSWER_MAX_BYTES,
    isCut: () => false,
  });
  await settle(dependencies, request, { reservation, answer: given, isStopped: stopped.aborted });
  log.end('finished');
  if (given.error) throw given.error;
  const { parts, finishReason, usage } = given;
  return { text: contentText({ role: 'model', parts }), finishReason, usage };
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
  const request = modelRequestOf(config, asked);
  const { model } = request;
  const counting = { rule: 'character-class', mediaFamily: findMediaFamily(model) } as const;
  const estimatedTokens = estimatePromptTokens(request, counting);
  const windowTokens = modelWindowTokens(config, model);
  refuseOverWindow(`completion ${requestId}`, { requestTokens: estimatedTokens, windowTokens });
  const reservation = await reserveAlone(dependencies, {
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
    frames: framesOf(log, stopped),
    result: ignoreRejection(answer(dependencies, asked, input)),
  };
}
