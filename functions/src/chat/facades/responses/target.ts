import { decodeMessageGuard } from '#shared/conversation/documents/message-guard.ts';
import { answerId, messageGuardPath } from '#shared/conversation/documents/paths.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { messageIdSchema } from '#shared/wire/fields.ts';
import type {
  CreateResponseBody,
  ResponsesInputItem,
} from '#shared/wire/facades/responses/request.ts';
import { stableUuid } from '#shared/wire/stable-uuid.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { toLowerUuid } from '#shared/uuid.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { findBegunSince, openNamed, openNew } from '../chat-names.ts';
import { isRetry, KEY_HEADER, RETRIES_HEADER } from '../openai/message-id.ts';
import { badInput } from './bad-input.ts';
import {
  findCompactedPlace,
  findStoredCall,
  toResponsePlace,
  type ResponsePlace,
} from './response-id.ts';
import { inputItems } from './to-chat-body.ts';

interface Asked {
  caller: Caller;
  body: CreateResponseBody;
  header: (name: string) => string | undefined;
}

/** Where a request is answered: in a conversation, or nowhere. */
export interface Target {
  conversationId: string;
  /** The id of the message, where it does not follow from its place in the conversation. */
  messageId?: string;
  /** Calls of the turn that the request answers are below this; 0: it sends a message. */
  answeredCalls: number;
}

type Items = readonly ResponsesInputItem[];

const outputsAtEnd = (items: Items) =>
  items
    .slice(items.findLastIndex(({ type }) => type !== 'function_call_output') + 1)
    .flatMap((item) => (item.type === 'function_call_output' ? [item] : []));

const isSaid = (item: ResponsesInputItem) => item.type === 'message' && item.role === 'user';

const isInstruction = (item: ResponsesInputItem) =>
  item.type === 'message' && (item.role === 'system' || item.role === 'developer');

/** Whether the client tells more than a message: what was said before it. */
const tellsHistory = (items: Items) =>
  items.some((item) => !isSaid(item) && !isInstruction(item) && item.type !== 'compaction');

/** The conversation whose calls a request ends with answering. Throws BAD_FIELD for calls of several. */
function answeredCalls(items: Items): Target | undefined {
  const calls = outputsAtEnd(items).map(({ call_id: id }) => findStoredCall(id));
  const [first] = calls;
  if (!first) return undefined;
  if (calls.some((call) => call?.conversationId !== first.conversationId))
    throw badInput('input', '`input` answers calls of several answers. Answer each by itself.');
  const indexes = calls.map((call) => Number(/\d+$/.exec(call?.callId ?? '')?.[0] ?? 0));
  return { conversationId: first.conversationId, answeredCalls: Math.max(...indexes) + 1 };
}

/** Throws BAD_FIELD where a message stands behind results: the message would end the turn that waits for them. */
function refuseMixed(items: Items): void {
  const index = items.findLastIndex(({ type }) => type === 'function_call_output');
  const output = items[index];
  if (output?.type !== 'function_call_output' || !findStoredCall(output.call_id)) return;
  if (items.slice(0, index).some(({ type }) => type === 'message')) return;
  if (index < items.length - 1)
    throw badInput(
      `input[${index}]`,
      '`input` ends with a message behind what tools gave. Send the outputs first, and the message when they are answered.',
    );
}

/** The message's own id: what the client calls it, or what is said behind which answer. */
function messageIdOf(
  { sha256 }: Pick<RouteDependencies, 'sha256'>,
  { body, header }: Asked,
  after: string,
): string {
  const key = header(KEY_HEADER)?.trim() ?? '';
  if (messageIdSchema.safeParse(key).success) return key;
  if (key !== '') return stableUuid(sha256, ['responses', after, 'key', key]);
  const { input, text, temperature, tool_choice: choice } = body;
  return stableUuid(sha256, [
    'responses',
    after,
    JSON.stringify([input, text, temperature, choice]),
  ]);
}

/**
 * Goes on behind an answer. Behind the last one that is its conversation; behind an earlier one a fork that ends
 * there, always the same one for the same message.
 */
async function behindAnswer(
  dependencies: RouteDependencies,
  asked: Asked,
  { conversationId, seq }: ResponsePlace,
): Promise<Target> {
  const { caller } = asked;
  const { conversation } = await readOwnConversation(dependencies, { caller, conversationId });
  const messageId = messageIdOf(dependencies, asked, `${conversationId}_${seq}`);
  const target = { conversationId, messageId, answeredCalls: 0 };
  if (conversation.value.lastSeq <= seq) return target;
  const [guard] = await dependencies.store.get([messageGuardPath(conversationId, messageId)]);
  if (guard && decodeMessageGuard(guard).seq > seq) return target;
  const fork = await forkConversation(dependencies, {
    caller,
    conversationId,
    messageId: answerId(seq),
    id: await openNamed(dependencies, {
      caller,
      chatId: `responses:fork:${conversationId}:${messageId}`,
    }),
  });
  return { ...target, conversationId: fork.conversationId };
}

/** How long after a request its retry is looked for, ms. */
const RETRIED_WITHIN_MS = 3_600_000;

/**
 * The conversation that a message begins: one for each `Idempotency-Key` of a user, else a new one with each request. An
 * SDK that counts its retries is answered in the newest one that began with the same request, unless that was deleted or
 * has gone on: then the first try never came here.
 */
async function newConversation(
  dependencies: RouteDependencies,
  { caller, body, header }: Asked,
): Promise<string> {
  const { sha256, clock, randomness } = dependencies;
  const key = header(KEY_HEADER)?.trim() ?? '';
  if (key !== '') return openNamed(dependencies, { caller, chatId: `responses:key:${key}` });
  const retries = header(RETRIES_HEADER);
  if (retries === undefined) return randomness.uuid();
  const chat = { caller, chatId: `responses:request:${sha256(JSON.stringify(body))}` };
  const since = new Date(clock.now().getTime() - RETRIED_WITHIN_MS);
  const retried = isRetry(header)
    ? await findBegunSince(dependencies, { ...chat, since })
    : undefined;
  return retried ?? openNew(dependencies, chat);
}

/** The place that a request names in one of three ways. Throws BAD_FIELD for two of them. */
function namedPlace({ body }: Asked, items: Items): ResponsePlace | string | undefined {
  const { conversation, previous_response_id: previous } = body;
  const isPrevious = typeof previous === 'string' && previous !== '';
  if (typeof conversation === 'string') {
    if (isPrevious)
      throw badInput(
        'previous_response_id',
        '`previous_response_id` and `conversation` name two places. Give one of them.',
      );
    return conversation;
  }
  if (isPrevious) return toResponsePlace(previous, 'previous_response_id');
  // It stands for all that is before it, which a client may keep or drop.
  const index = items.findLastIndex(({ type }) => type === 'compaction');
  const compaction = items[index];
  if (compaction?.type !== 'compaction') return undefined;
  const place = findCompactedPlace(compaction.encrypted_content);
  if (place) return place;
  throw badInput(
    `input[${index}]`,
    `\`input[${index}]\` is a compaction that this server has not made. Send the items themselves.`,
  );
}

/** Throws BAD_FIELD where calls of one conversation are answered in another one. */
function refuseOtherPlace(named: ResponsePlace | string | undefined, answered: Target): void {
  const other = typeof named === 'string' ? named : named?.conversationId;
  if (other === undefined || other.toLowerCase() === answered.conversationId.toLowerCase()) return;
  throw badInput(
    'input',
    '`input` answers calls of another conversation than the one that is named. Leave `conversation` and `previous_response_id` out: the ids of the calls name theirs.',
  );
}

function refuseStateless({ body }: Asked): void {
  if (body.store !== false) return;
  throw badInput(
    'store',
    '`store: false` does not go with a conversation: all that is said in one is stored. Leave one of the two out.',
  );
}

/**
 * Where a request is answered; undefined: nothing of it is stored. That is so where `store` is false, and where the
 * client tells a whole dialogue and no conversation: the model sees what it tells, no more and no less. Throws
 * BAD_FIELD, RESPONSE_NOT_FOUND, CONVERSATION_NOT_FOUND, and what a fork throws.
 */
export async function findTarget(
  dependencies: RouteDependencies,
  asked: Asked,
): Promise<Target | undefined> {
  const { body } = asked;
  const items = inputItems(body);
  refuseMixed(items);
  const named = namedPlace(asked, items);
  const answered = answeredCalls(items);
  if (named !== undefined || answered) refuseStateless(asked);
  if (answered) {
    refuseOtherPlace(named, answered);
    return answered;
  }
  if (typeof named === 'string') {
    const conversationId = toLowerUuid(named);
    return { conversationId, answeredCalls: 0 };
  }
  if (named) return behindAnswer(dependencies, asked, named);
  if (body.store === false) return undefined;
  if (!tellsHistory(items))
    return { conversationId: await newConversation(dependencies, asked), answeredCalls: 0 };
  if (body.store !== true) return undefined;
  throw badInput(
    'store',
    '`store: true` takes a message, and `input` is a whole dialogue. Send its last message with `conversation` or `previous_response_id`, or leave `store` out: then the dialogue is answered without storing it.',
  );
}
