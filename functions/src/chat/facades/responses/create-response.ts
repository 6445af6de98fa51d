import type { Caller } from '#shared/ports/ports.ts';
import { seqOfId } from '#shared/conversation/documents/paths.ts';
import type { CreateResponseBody } from '#shared/wire/facades/responses/request.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { looseCompletion } from '../openai/loose-completion.ts';
import { storedCompletion } from '../openai/stored-completion.ts';
import type { Completion } from '../openai/completion.ts';
import { KEY_HEADER } from '../openai/message-id.ts';
import { compactionItems, declareThreshold, refuseManagement } from './context-management.ts';
import { ignoredFields } from './refuse-unsupported.ts';
import type { Answering } from './response-events.ts';
import { messageItemId, responseId, storedCallId } from './response-id.ts';
import { begunResponse, requestEcho } from './response-resource.ts';
import { findTarget, type Target } from './target.ts';
import { withResponsesFields, toChatBody } from './to-chat-body.ts';

interface Asked {
  caller: Caller;
  body: CreateResponseBody;
  header: (name: string) => string | undefined;
  requestId: string;
}

/** What is not stored goes back word for word in metadata alone. */
const unstoredFields = ({ metadata }: CreateResponseBody): string[] =>
  Object.keys(metadata ?? {}).some((key) => key !== 'client_context') ? ['metadata'] : [];

function looseAnswering(
  { body }: Asked,
  completion: Completion,
  ignored: readonly string[],
): Answering {
  const id = completion.id.replace(/^chatcmpl-/, '');
  const { created, model } = completion;
  const response = begunResponse(requestEcho(body, false), {
    id: `resp_${id}`,
    created_at: created,
    model,
    ignored: [...ignored, ...completion.ignored],
  });
  const named = { messageId: `msg_${id}`, nameCall: (callId: string) => callId };
  return { completion, response, ...named, told: {}, after: [] };
}

async function storedAnswering(
  dependencies: RouteDependencies,
  { body, caller }: Asked,
  input: { completion: Completion; target: Target; ignored: readonly string[] },
): Promise<Answering> {
  const { completion, target, ignored } = input;
  const { recap, created, model } = completion;
  const { conversationId, answeredCalls } = target;
  const seq = seqOfId(recap?.turnId ?? '', 't') ?? 0;
  const place = { conversationId, seq, answeredCalls };
  const response = begunResponse(requestEcho(body, true), {
    id: responseId(place),
    created_at: created,
    model,
    ...(recap && { recap }),
    ignored: [...ignored, ...unstoredFields(body), ...completion.ignored],
  });
  return {
    completion,
    response,
    messageId: messageItemId(place),
    nameCall: (callId) => storedCallId(conversationId, callId),
    told: {},
    after: await compactionItems(dependencies, { caller, body, place }),
  };
}

/** The header of a message whose id is known. */
const headerOf = ({ header }: Asked, { messageId }: Target) =>
  messageId === undefined
    ? header
    : (name: string) => (name.toLowerCase() === KEY_HEADER ? messageId : header(name));

/**
 * Answers a request of the Responses API as chat completions are answered, in a conversation or without storing it.
 * Throws BAD_FIELD, RESPONSE_NOT_FOUND, and what `storedCompletion`, `looseCompletion` and a fork throw.
 */
export async function createResponse(
  dependencies: RouteDependencies,
  asked: Asked,
): Promise<Answering> {
  const { caller, body, requestId } = asked;
  const ignored = ignoredFields(dependencies.config, body);
  const target = await findTarget(dependencies, asked);
  refuseManagement(body, target !== undefined);
  const translated = toChatBody(body, target !== undefined);
  return withResponsesFields(translated, async () => {
    if (!target) {
      const request = { caller, body: translated.body, requestId };
      const completion = await looseCompletion(dependencies, request);
      return looseAnswering(asked, renamed(completion, translated.fieldOf), ignored);
    }
    const { conversationId } = target;
    await declareThreshold(dependencies, { caller, conversationId, body });
    const completion = await storedCompletion(dependencies, {
      caller,
      conversationId,
      body: translated.body,
      header: headerOf(asked, target),
      tellsApprovals: true,
    });
    const told = renamed(completion, translated.fieldOf);
    return storedAnswering(dependencies, asked, { completion: told, target, ignored });
  });
}

/** The completion with its ignored fields in the words of this request. */
const renamed = (completion: Completion, fieldOf: (field: string) => string): Completion => ({
  ...completion,
  ignored: completion.ignored.map(fieldOf),
});
