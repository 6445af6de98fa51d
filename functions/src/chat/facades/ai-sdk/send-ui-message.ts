import { badField, AppError } from '#shared/lib/errors.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { refuseUnwritable } from '#functions/chat/conversations/writable-fields.ts';
import { placeBehind } from '#functions/chat/facades/translation/dialogue.ts';
import {
  declareWish,
  findOwnConversation,
  findTurnOfMessage,
  goOn,
  sendWish,
  type Place,
  type Target,
  toAnswerOptions,
  toClientTools,
  type Wish,
} from '#functions/chat/facades/translation/wish.ts';
import { answerOptions, messageOfBody } from '#functions/chat/routes/answering.ts';
import type { SendHandle } from '#functions/chat/turns/send/send-request.ts';
import { readOwnTurn } from '#functions/chat/turns/stream/read-turn.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { toToolResult } from '#functions/chat/turns/tools/tool-response.ts';
import { readTurnRange, readTurns } from '#shared/conversation/context/read-conversation.ts';
import { callId } from '#shared/conversation/context/tool-calls.ts';
import { waitingCalls } from '#shared/conversation/context/tool-results.ts';
import { type Part, hasFunctionCall } from '#shared/models/content.ts';
import {
  answerId,
  messageGuardPath,
  seqOfId,
  turnId,
} from '#shared/conversation/documents/paths.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import { REPLACED_MAX } from '#shared/conversation/start-decision.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { unreadUpload } from '#shared/uploads/upload-parts.ts';
import { stableUuid } from '#shared/lib/uuid.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import {
  toInputParts,
  translatedMessage,
  type AiSdkChatBody,
  type UiMessage,
  uiToolOutputs,
} from '#shared/wire/facades/ai-sdk.ts';
import { messageIdSchema } from '#shared/wire/fields.ts';
import type { PatchPath } from '#shared/wire/resources/conversations.ts';
import { openChat } from '../chat-names.ts';

/** The message id of a UI message: its own when it is a UUID, else always the same one in its place. */
const toMessageId = ({ sha256 }: Pick<RouteDependencies, 'sha256'>, uiMessageId: string): string =>
  messageIdSchema.safeParse(uiMessageId).success
    ? uiMessageId.toLowerCase()
    : stableUuid(sha256, ['ai-sdk message', uiMessageId]);

const saysNothing = (field: string) =>
  new AppError({
    reason: 'BAD_PART',
    publicMessage: `\`${field}\` holds no text and no file. Give a list such as [{"type":"text","text":"…"}], with a text that is not empty; \`content\` is not read.`,
    metadata: { field },
  });

/** The last message of the user. */
interface UserMessage {
  /** What the client calls it. */
  uiId: string;
  id: string;
  parts: Part[];
  /** What the client shows in front of it. */
  before: readonly UiMessage[];
}

/** Throws BAD_FIELD, BAD_PART, TEXT_TOO_LONG; a problem of the message is told as one of `message`. */
function lastUserMessage(
  dependencies: Pick<RouteDependencies, 'config' | 'sha256'>,
  messages: readonly UiMessage[],
): UserMessage {
  const index = messages.findLastIndex(({ role }) => role === 'user');
  const last = messages[index];
  if (!last) throw badField('messages', '`messages` must hold a message with the role `user`.');
  const given = { id: last['id'], parts: toInputParts(last['parts']) };
  if (given.parts.length === 0) throw saysNothing(`messages[${index}].parts`);
  const { message } = parseRequest(translatedMessage, { message: given });
  const id = toMessageId(dependencies, message.id);
  const { parts } = messageOfBody(dependencies, { ...message, id });
  return { uiId: message.id, id, parts, before: messages.slice(0, index) };
}

/** What assistant-ui calls fields of ours. */
const NAMES: Partial<Record<PatchPath, string>> = {
  systemInstruction: 'system',
  model: 'config.modelName',
};

/** What a body says of the answer to its message. Throws BAD_FIELD, and FIELD_NOT_WRITABLE for what the deployment keeps to itself. */
function toWish(
  { config }: Pick<RouteDependencies, 'config'>,
  body: AiSdkChatBody,
  sent: { parts: Part[]; header: (name: string) => string | undefined },
): Wish {
  const { callSettings } = body;
  const tools = toClientTools(
    Object.entries(body.tools ?? {}).map(([name, given]) => ({ ...given, name })),
  );
  const systemInstruction = body.system ?? undefined;
  const model = body.config?.modelName ?? undefined;
  const brought: PatchPath[] = [
    ...(tools.length > 0 ? (['tools'] as const) : []),
    ...(systemInstruction === undefined ? [] : (['systemInstruction'] as const)),
    ...(model === undefined ? [] : (['model'] as const)),
  ];
  refuseUnwritable(config, brought, { names: NAMES });
  const { options, ...circumstances } = answerOptions(body, sent.header);
  return {
    parts: sent.parts,
    options: toAnswerOptions({
      temperature: callSettings?.temperature,
      topP: callSettings?.topP,
      seed: callSettings?.seed,
      effort: body.config?.reasoningEffort,
      maxOutputTokens: callSettings?.maxTokens,
      responseSchema: options?.responseSchema,
    }),
    circumstances,
    tools,
    systemInstruction,
    model,
    maxTokensField: 'callSettings.maxTokens',
  };
}

interface Chat {
  caller: Caller;
  conversationId: string;
  locale: string | undefined;
}

const isNotFound = (error: unknown) => error instanceof AppError && error.status === 'NOT_FOUND';

/** The turn that a message of the assistant is the answer of, as its id says; undefined for any other message. */
const answerSeq = ({ role, id }: UiMessage): number | undefined =>
  role === 'assistant' && typeof id === 'string' ? seqOfId(id, 'm') : undefined;

/** The turn of an answer; undefined where the caller has none such: the client's own copy may. */
async function findTurnOfAnswer(
  dependencies: RouteDependencies,
  chat: Chat,
  message: UiMessage,
): Promise<Turn | undefined> {
  const seq = answerSeq(message);
  if (seq === undefined) return undefined;
  try {
    return (await readOwnTurn(dependencies, { ...chat, turnId: turnId(seq) })).turn.value;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Another tab has answered the calls, and the answer goes on or went on behind them: its stream is no end of that. */
const goesOn = ({ state, contents }: Turn): boolean => {
  if (state === 'running' || state === 'awaiting_tool') return true;
  const last = contents.at(-1);
  return state === 'done' && last?.role === 'model' && !hasFunctionCall(last);
};

/**
 * Gives what the app's tools have given to the answer that waits for it: `addToolOutput` and `addToolApprovalResponse`
 * write it into the answer that the client keeps, beside that of earlier rounds. `undefined` where the messages end with
 * none. Of two tabs that run the same tool the first counts, and the other one reads what came of it. Throws BAD_FIELD when
 * none is waited for and the answer has ended with them: a replay in its place would make `sendAutomaticallyWhen` send
 * the same for ever.
 */
async function giveOutputs(
  dependencies: RouteDependencies,
  chat: Chat,
  messages: readonly UiMessage[],
): Promise<SendHandle | undefined> {
  const last = messages.at(-1);
  const outputs = uiToolOutputs(last?.['parts']);
  if (!last || outputs.length === 0) return undefined;
  const turn = await findTurnOfAnswer(dependencies, chat, last);
  if (!turn) return undefined;
  const { seq } = turn;
  const open = new Set(waitingCalls(turn).map(({ index }) => callId(seq, index)));
  const results = outputs
    .filter((output) => open.has(output.callId))
    .map((output) => toToolResult(output, 'messages'));
  if (results.length === 0 && goesOn(turn)) return goOn(dependencies, chat, turn);
  if (results.length === 0)
    throw badField(
      'messages',
      '`messages` ends with outputs of tools, and none of these calls waits for one any more. Call `resumeStream()` for the answer, or send a message of the user.',
    );
  try {
    return await answerCalls(dependencies, { ...chat, turnId: turnId(seq), results });
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== 'TOOL_RESULT_CONFLICT') throw error;
    const now = await findTurnOfAnswer(dependencies, chat, last);
    if (!now || waitingCalls(now).length > 0 || !goesOn(now)) throw error;
    return goOn(dependencies, chat, now);
  }
}

/** One read each; who has changed one message more often names the answer that is to be made anew. */
const REPLACEMENTS_FOLLOWED_MAX = 100;

/**
 * The turn that stands for a user's message now. The AI SDK keeps the id of a message that is edited, or whose answer is
 * made anew; here each of them is a turn and a message of its own, in the place of the one before.
 */
async function findStanding(
  dependencies: RouteDependencies,
  conversationId: string,
  messageId: string,
): Promise<Turn | undefined> {
  let turn = await findTurnOfMessage(dependencies, conversationId, messageId);
  for (let followed = 0; turn && followed < REPLACEMENTS_FOLLOWED_MAX; followed++) {
    const seqs = Object.keys(turn.replacedBy ?? {}).flatMap((id) => seqOfId(id, 't') ?? []);
    if (seqs.length === 0) break;
    const [next] = await readTurns(dependencies.store, conversationId, [Math.min(...seqs)]);
    // Else an earlier message was edited, and this one is gone with all that followed it.
    if (next?.value.replaces !== turn.seq) break;
    turn = next.value;
  }
  return turn;
}

/** One read each: of messages without an answer behind them, the newest. */
const SHOWN_MAX = 100;

/** The newest turn that the client shows; undefined where the server knows none of its messages. */
async function findLastShown(
  dependencies: RouteDependencies,
  { conversationId, lastSeq }: { conversationId: string; lastSeq: number },
  before: readonly UiMessage[],
): Promise<{ turn: Turn; index: number } | undefined> {
  const { store } = dependencies;
  const answers = before.map((message) => answerSeq(message) ?? Number.POSITIVE_INFINITY);
  const newestAnswer = answers.findLastIndex((seq) => seq <= lastSeq);
  const users = [...before.entries()].slice(newestAnswer + 1).flatMap(([index, message]) => {
    const { role, id } = message;
    if (role !== 'user' || typeof id !== 'string') return [];
    return [{ index, messageId: toMessageId(dependencies, id) }];
  });
  const newest = users.slice(-SHOWN_MAX);
  const guards = await store.get(
    newest.map(({ messageId }) => messageGuardPath(conversationId, messageId)),
  );
  const user = newest[guards.findLastIndex((guard) => guard !== undefined)];
  const turn = user && (await findStanding(dependencies, conversationId, user.messageId));
  if (turn) return { turn, index: user.index };
  const [answered] = await readTurns(
    store,
    conversationId,
    answers.slice(newestAnswer, newestAnswer + 1),
  );
  return answered && { turn: answered.value, index: newestAnswer };
}

const messageReplaced = (index: number, { seq }: Turn) =>
  new AppError({
    reason: 'MESSAGE_REPLACED',
    publicMessage: `\`messages[${index}]\` belongs to a branch that an edit has ended: another message stands in its place. Load the messages again, or fork the conversation there.`,
    metadata: { field: `messages[${index}]`, turnId: turnId(seq) },
  });

/**
 * Where a message goes that the server does not know: behind the nearest one before it that it knows, in the place of what
 * follows there. A message alone comes after all, unless the client claims to send its whole history. Throws
 * MESSAGE_REPLACED.
 */
async function placeNew(
  dependencies: RouteDependencies,
  chat: Chat & Target,
  sent: { id: string; before: readonly UiMessage[]; history: AiSdkChatBody['history'] },
): Promise<Place> {
  const { conversationId, conversation } = chat;
  const { id, before, history } = sent;
  if (!conversation) return { id };
  const { lastSeq } = conversation;
  const shown = await findLastShown(dependencies, { conversationId, lastSeq }, before);
  if (!shown && history !== 'whole') return { id };
  if (shown?.turn.replacedBy) throw messageReplaced(shown.index, shown.turn);
  const seq = shown?.turn.seq ?? 0;
  const fromSeq = seq + 1;
  // No edit goes farther back: of a longer way its first turns tell.
  const toSeq = Math.min(lastSeq, seq + REPLACED_MAX + 1);
  const turns = await readTurnRange(dependencies, { conversationId, conversation, fromSeq, toSeq });
  const standing = turns
    .filter(({ replacedBy, eraseTime }) => !replacedBy && !eraseTime)
    .map(({ seq: at, inContext, state, messageId }) => ({
      seq: at,
      counts: inContext || !isTerminal(state),
      messageId,
    }));
  const place = placeBehind(seq, standing);
  const edited = place.kind === 'edit' && standing.find((turn) => turn.seq === place.seq);
  return { id, ...(edited && { replacing: { kind: 'edit', messageId: edited.messageId } }) };
}

/** Parts as they were sent: an upload as its id alone. */
const asSent = (parts: readonly Part[]): Part[] =>
  parts.map((part) => (part.upload ? unreadUpload(part.upload.id) : part));

/** What becomes of a message that the server has. */
type KnownWish = 'goOn' | 'edit' | 'regenerate' | 'resend';

function decideKnown(known: {
  body: AiSdkChatBody;
  uiId: string;
  turn: Turn;
  isSame: boolean;
}): KnownWish {
  const { body, uiId, turn, isSame } = known;
  if (body.trigger === 'regenerate-message') {
    if (!isTerminal(turn.state)) return 'goOn';
    // The page shows another branch, where the message says something else.
    return isSame ? 'regenerate' : 'edit';
  }
  if (isSame) return 'goOn';
  return body.messageId === uiId ? 'edit' : 'resend';
}

/**
 * What `useChat` asks for, as the use cases know it. `submit-message` sends, and where the history that comes with it
 * is shorter than the server's, in the place of what is missing; the same message again attaches or replays; named in
 * `messageId` and changed, it is an edit. `regenerate-message` answers the last message of `messages` anew, or sends one that
 * the server does not have or has not answered yet: apps offer it as "try again".
 * An answer at the end, with outputs for its open calls, goes on. Throws what sending and answering calls throw.
 */
export async function sendUiMessage(
  dependencies: RouteDependencies,
  request: {
    caller: Caller;
    body: AiSdkChatBody;
    header: (name: string) => string | undefined;
  },
): Promise<SendHandle> {
  const { caller, body, header } = request;
  const { sha256 } = dependencies;
  const conversationId = await openChat(dependencies, { caller, chatId: body.id });
  const chat = { caller, conversationId, locale: answerOptions(body, header).locale };
  if (body.trigger === 'submit-message') {
    const given = await giveOutputs(dependencies, chat, body.messages);
    if (given) return given;
  }
  const { uiId, id, parts, before } = lastUserMessage(dependencies, body.messages);
  const conversation = await findOwnConversation(dependencies, chat);
  const turn = conversation && (await findStanding(dependencies, conversationId, id));
  const isSame = JSON.stringify(asSent(turn?.user.parts ?? [])) === JSON.stringify(parts);
  const known = turn && decideKnown({ body, uiId, turn, isSame });
  if (turn && known === 'goOn') return goOn(dependencies, chat, turn);
  const target = { ...chat, conversation };
  const wish = toWish(dependencies, body, { parts, header });
  const send = async (sent: typeof wish, place: Place) => {
    await declareWish(dependencies, target, sent);
    return sendWish(dependencies, target, sent, place);
  };
  if (!turn || !conversation)
    return send(wish, await placeNew(dependencies, target, { id, before, history: body.history }));
  const { seq, messageId } = turn;
  if (known === 'resend') return send(wish, { id });
  if (known === 'edit') {
    const edit = ['ai-sdk edit', conversationId, String(seq), JSON.stringify(parts)];
    const replacing = { kind: 'edit', messageId } as const;
    return send(wish, { id: stableUuid(sha256, edit), replacing });
  }
  // The answer that is not wanted; the same wish again is the same regeneration.
  const named = body.messageId ?? '';
  const answer = seqOfId(named, 'm') === undefined ? answerId(seq) : named;
  const anew = stableUuid(sha256, ['ai-sdk regeneration', conversationId, answer]);
  const again = await findStanding(dependencies, conversationId, anew);
  if (again) return goOn(dependencies, chat, again);
  return seq === conversation.lastSeq
    ? send(
        { ...wish, parts: [] },
        { id: anew, replacing: { kind: 'regenerate', messageId: answerId(seq) } },
      )
    : send(wish, { id: anew, replacing: { kind: 'edit', messageId } });
}
