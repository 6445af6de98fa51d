import { contentText, type Part } from '#shared/conversation/documents/content.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { AnswerOptions } from '#shared/models/answer-options.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { AppError } from '#shared/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ChatCompletionBody, OpenAiMessage } from '#shared/wire/facades/openai.ts';
import { SYSTEM_INSTRUCTION_MAX_CHARACTERS } from '#shared/wire/limits.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { answerOptions } from '#functions/chat/routes/parts/message-body.ts';
import { readClientTools } from '#shared/conversation/documents/declared-tools.ts';
import { declareFields } from '#functions/chat/conversations/declare-fields.ts';
import { isWritable } from '#functions/chat/conversations/writable-fields.ts';
import { sendStored } from '#functions/chat/turns/send/send-stored.ts';
import type { SendHandle } from '#functions/chat/turns/send/send-request.ts';
import { comeBack, isLeftAlone } from '#functions/chat/turns/stream/leaving.ts';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { badField } from './bad-field.ts';
import { findInstruction, systemFields, toUserParts } from './message-content.ts';
import type { Completion } from './completion.ts';
import {
  askedOptions,
  ignoredFields,
  refuseLongCompletion,
  refuseUnknownChoice,
} from './asked-options.ts';
import { withClientFields } from './client-fields.ts';
import { toClientTools } from './tool-dialogue.ts';
import { KEY_HEADER, readOwnConversation } from './message-id.ts';
import { findSentPlace, type SentPlace } from './sent-place.ts';
import { resultsAtEnd, type GivenResults } from './tool-messages.ts';
import { toCompletion } from './turn-completion.ts';

interface Asked {
  caller: Caller;
  conversationId: string;
  body: ChatCompletionBody;
  header: (name: string) => string | undefined;
  /** The client is told by other means that the answer waits for the user's word: then that is no error. */
  tellsApprovals?: true;
}

/** What the user says in the message that the request ends with. Throws BAD_FIELD, TEXT_TOO_LONG. */
function lastParts(
  { config }: Pick<RouteDependencies, 'config'>,
  messages: readonly OpenAiMessage[],
): Part[] {
  const { MAX_PART_BYTES: maxPartBytes, MAX_MESSAGE_BYTES: maxMessageBytes } = config;
  const last = messages.at(-1);
  if (last?.role !== 'user')
    throw badField('messages', '`messages` must end with a message of the role `user` or `tool`.');
  const parts = toUserParts(last, { maxPartBytes, maxMessageBytes }, messages.length - 1);
  if (parts.length === 0)
    throw badField(`messages[${messages.length - 1}].content`, 'The last message says nothing.');
  return parts;
}

/** A message of the user, and what it is sent with. */
interface Wanted extends SentPlace {
  parts: Part[];
  options: AnswerOptions | undefined;
  conversation: Conversation | undefined;
}

/** What a conversation keeps as its instruction. Throws BAD_FIELD where it is too long. */
function storedInstruction(messages: readonly OpenAiMessage[]): string | undefined {
  const instruction = findInstruction(messages);
  const [field = 'messages'] = systemFields(messages);
  const max = SYSTEM_INSTRUCTION_MAX_CHARACTERS;
  if ((instruction?.length ?? 0) > max)
    throw badField(
      field,
      `\`${field}\`: an instruction may have at most ${max} characters. Shorten it.`,
    );
  return instruction;
}

/** The client has named the message by a header. */
const reusedKey = ({ reason }: AppError) =>
  reason === 'IDEMPOTENCY_KEY_REUSED'
    ? {
        field: 'Idempotency-Key',
        publicMessage:
          'The header `Idempotency-Key` was already used for another message of this conversation. Draw a new key for a new message.',
      }
    : undefined;

/** Sends a message: a new one in its place, one that was sent before as it is stored. */
async function sendWanted(
  dependencies: RouteDependencies,
  request: Asked,
  wanted: Wanted,
): Promise<SendHandle> {
  const { caller, conversationId, body, header } = request;
  const { id, sent, edited, parts, options, conversation } = wanted;
  const { locale, ...wishes } = answerOptions(
    { clientContext: body.metadata?.client_context },
    header,
  );
  const asked = { caller, conversationId, locale };
  if (sent) await comeBack(dependencies, { conversationId, turn: sent });
  const isSame = sent && contentText(sent.user) === contentText({ role: 'user', parts });
  if (isSame && sent.replaces !== undefined) {
    const { sendMessage } = dependencies;
    return sendStored(dependencies, { ...asked, cursor: undefined, turn: sent, sendMessage });
  }
  const isLeft =
    !sent && conversation && (await isLeftAlone(dependencies, { conversationId, conversation }));
  return withClientFields(
    (error) => (header(KEY_HEADER) === undefined ? undefined : reusedKey(error)),
    () =>
      dependencies.sendMessage(dependencies, {
        ...wishes,
        caller,
        conversationId,
        ...(locale !== undefined && { locale }),
        message: { id, parts },
        options,
        ...(isLeft && { onBusy: 'interrupt' }),
        ...(edited !== undefined && { replacing: { kind: 'edit', messageId: edited } }),
      }),
  );
}

/** Sends the user's message that the request ends with. */
async function sendLast(
  dependencies: RouteDependencies,
  request: Asked,
  conversation: Conversation | undefined,
): Promise<SendHandle> {
  const { caller, conversationId, body, header } = request;
  const { messages } = body;
  const parts = lastParts(dependencies, messages);
  const { config } = dependencies;
  refuseLongCompletion(config, { body, model: conversation?.model ?? config.MODEL });
  const options = askedOptions(body);
  const asked = { conversationId, conversation, body, header, options };
  const place = await findSentPlace(dependencies, asked);
  const tools = toClientTools(body.tools ?? []);
  refuseUnknownChoice(body, [
    ...tools,
    ...(conversation ? readClientTools(conversation) : []),
    ...dependencies.toolbox.declarations,
  ]);
  await declareFields(dependencies, {
    caller,
    conversationId,
    conversation,
    tools,
    systemInstruction: isWritable(config, 'systemInstruction')
      ? storedInstruction(messages)
      : undefined,
  });
  return sendWanted(dependencies, request, { ...place, parts, options, conversation });
}

const UNKNOWN_CALL = new Set(['TURN_NOT_FOUND', 'TOOL_CALL_NOT_FOUND']);

/** Answers the open calls of a turn; one that there is not is told by its place. */
function giveResults(
  dependencies: RouteDependencies,
  { caller, conversationId, header }: Asked,
  { first, ...given }: GivenResults,
): Promise<SendHandle> {
  const { locale } = answerOptions({}, header);
  const unknownCall = ({ reason, metadata, publicMessage }: AppError) => {
    if (!UNKNOWN_CALL.has(reason)) return undefined;
    const index = given.results.findIndex(({ callId: id }) => id === metadata['callId']);
    const field = `messages[${first + Math.max(0, index)}].tool_call_id`;
    return {
      field,
      publicMessage: `\`${field}\` is none of the calls that this conversation waits for; its ids look like t_7_c0. ${publicMessage}`,
    };
  };
  return withClientFields(unknownCall, () =>
    answerCalls(dependencies, { caller, conversationId, ...given, locale }),
  );
}

/**
 * Sends the last message of a request as the next one of a conversation, or answers calls of a turn with the
 * messages of tools that it ends with; what stands before it in the request is the client's own copy. Throws
 * BAD_FIELD, TEXT_TOO_LONG, and what sending, answering calls and declaring tools throw.
 */
export async function storedCompletion(
  dependencies: RouteDependencies,
  request: Asked,
): Promise<Completion> {
  const { caller, conversationId, body, tellsApprovals } = request;
  const ignored = ignoredFields(dependencies.config, body);
  const path = conversationPath(conversationId);
  const conversation = await readOwnConversation(dependencies, { uid: caller.uid, path });
  const given = resultsAtEnd(body.messages);
  const answered = given?.results.map((result) => result.callId) ?? [];
  const handle = given
    ? await giveResults(dependencies, request, given)
    : await sendLast(dependencies, request, conversation);
  return toCompletion(dependencies, { handle, conversation, answered, ignored, tellsApprovals });
}
