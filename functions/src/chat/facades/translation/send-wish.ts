import {
  createConversation,
  updateConversation,
} from '#functions/chat/conversations/write-conversation.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { refuseLongAnswer } from '#functions/chat/turns/send/long-answer.ts';
import {
  type Replacing,
  type SendHandle,
  sendStored,
} from '#functions/chat/turns/send/send-request.ts';
import { comeBack, isLeftAlone } from '#functions/chat/turns/stream/leaving.ts';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { toToolResult } from '#functions/chat/turns/tools/tool-response.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { turnIdOfCall } from '#shared/conversation/context/tool-calls.ts';
import { contentText, type Part } from '#shared/conversation/documents/content.ts';
import {
  type Conversation,
  decodeConversation,
} from '#shared/conversation/documents/conversation.ts';
import { readClientTools } from '#shared/conversation/documents/declared-tools.ts';
import { decodeMessageGuard, type Turn } from '#shared/conversation/documents/turn.ts';
import { conversationPath, messageGuardPath } from '#shared/conversation/documents/paths.ts';
import { AppError, reworded } from '#shared/errors.ts';
import type { Caller, DocumentStore } from '#shared/ports/ports.ts';
import { jsonOrText } from '#shared/wire/facades/openai.ts';
import { badField, type Wish } from './wish.ts';

/** A conversation that a client speaks in. */
export interface Target {
  caller: Caller;
  conversationId: string;
  /** The caller's own; undefined where there is none yet. */
  conversation: Conversation | undefined;
}

/** The id of a message, and the turn that it is said in the place of. */
export interface Place {
  id: string;
  /** The client has named the message by the header `Idempotency-Key`. */
  isKeyed?: boolean;
  /** The turn of the message, where it was sent before. */
  sent?: Turn | undefined;
  replacing?: Replacing | undefined;
}

export async function findOwnConversation(
  { store }: { store: Pick<DocumentStore, 'get'> },
  { caller, conversationId }: { caller: Caller; conversationId: string },
): Promise<Conversation | undefined> {
  const [document] = await store.get([conversationPath(conversationId)]);
  const conversation = document && decodeConversation(document).value;
  return conversation?.ownerUid === caller.uid ? conversation : undefined;
}

/** The turn that a message became. */
export async function findTurnOfMessage(
  { store }: { store: Pick<DocumentStore, 'get'> },
  conversationId: string,
  messageId: string,
): Promise<Turn | undefined> {
  const [guard] = await store.get([messageGuardPath(conversationId, messageId)]);
  if (!guard) return undefined;
  return (await readTurns(store, conversationId, [decodeMessageGuard(guard).seq]))[0]?.value;
}

/** Throws BAD_FIELD for a choice of a function that the model is not told of. */
function refuseUnknownChoice(
  { toolbox }: Pick<RouteDependencies, 'toolbox'>,
  { conversation }: Target,
  { options, tools }: Wish,
): void {
  const choice = options?.toolChoice;
  if (typeof choice !== 'object') return;
  const stored = conversation ? readClientTools(conversation) : [];
  if ([...tools, ...stored, ...toolbox.declarations].some(({ name }) => name === choice.name))
    return;
  throw badField(
    'tool_choice',
    `\`tool_choice\` names \`${choice.name}\`, which is not among the tools. Declare it in \`tools\`.`,
  );
}

/**
 * Writes into the conversation, as a PATCH would, what a message says of it and it does not have: tools, its own
 * instruction, its model. Looks first whether the model can answer so. Throws BAD_FIELD, FIELD_NOT_WRITABLE,
 * TOOL_NAME_TAKEN, OVERHEAD_TOO_LARGE, MODEL_UNKNOWN, NOT_FOUND.
 */
export async function declareWish(
  dependencies: RouteDependencies,
  target: Target,
  wish: Wish,
): Promise<void> {
  const { config } = dependencies;
  const { caller, conversationId, conversation } = target;
  const { tools, systemInstruction, model } = wish;
  refuseLongAnswer(config, {
    model: model ?? conversation?.model ?? config.MODEL,
    field: wish.maxTokensField,
    maxOutputTokens: wish.options?.maxOutputTokens,
  });
  refuseUnknownChoice(dependencies, target, wish);
  const patch = {
    ...(tools.length > 0 && conversation?.toolsJson !== JSON.stringify(tools) && { tools }),
    ...(systemInstruction !== undefined &&
      conversation?.systemInstruction !== systemInstruction && { systemInstruction }),
    ...(model !== undefined && conversation?.model !== model && { model }),
  };
  if (Object.keys(patch).length === 0) return;
  if (conversation) await updateConversation(dependencies, { caller, conversationId, patch });
  else await createConversation(dependencies, { caller, id: conversationId, fields: patch });
}

/** Runs `work`, and rethrows an AppError as `rename` has it; as it is where that gives nothing. */
async function renaming<Result>(
  rename: (error: AppError) => { field: string; publicMessage: string } | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const renamed = error instanceof AppError ? rename(error) : undefined;
    if (!(error instanceof AppError) || !renamed) throw error;
    throw reworded(error, renamed.publicMessage, { field: renamed.field });
  }
}

const KEY = 'Idempotency-Key';

const reusedKey = ({ reason }: AppError) =>
  reason === 'IDEMPOTENCY_KEY_REUSED'
    ? {
        field: KEY,
        publicMessage: `The header \`${KEY}\` was already used for another message of this conversation. Draw a new key for a new message.`,
      }
    : undefined;

/** A turn was sent before with the same words. Such an edit names no more what it replaced then, so it is taken as it is stored. */
const isSameEdit = (sent: Turn | undefined, parts: Part[]): sent is Turn =>
  sent?.replaces !== undefined && contentText(sent.user) === contentText({ role: 'user', parts });

/**
 * Sends a message to its place. One that comes after its reader has left an answer ends that at once: nobody waits for
 * it. Throws what sending throws.
 */
export async function sendWish(
  dependencies: RouteDependencies,
  { caller, conversationId, conversation }: Target,
  { parts, options, circumstances }: Pick<Wish, 'parts' | 'options' | 'circumstances'>,
  { id, isKeyed, sent, replacing }: Place,
): Promise<SendHandle> {
  const { locale } = circumstances;
  if (isSameEdit(sent, parts)) return goOn(dependencies, { caller, conversationId, locale }, sent);
  if (sent) await comeBack(dependencies, { conversationId, turn: sent });
  const isLeft =
    circumstances.onBusy === undefined &&
    conversation !== undefined &&
    (await isLeftAlone(dependencies, { conversationId, conversation }));
  const send = () =>
    dependencies.sendMessage(dependencies, {
      ...circumstances,
      ...(isLeft && { onBusy: 'interrupt' }),
      caller,
      conversationId,
      message: { id, parts },
      options,
      ...(replacing && { replacing }),
    });
  return isKeyed === true ? renaming(reusedKey, send) : send();
}

/** Goes on with a turn as it is stored: attaches, replays or takes it over. Throws what sending throws. */
export async function goOn(
  dependencies: RouteDependencies,
  target: Pick<Target, 'caller' | 'conversationId'> & { locale: string | undefined },
  turn: Turn,
): Promise<SendHandle> {
  const { caller, conversationId, locale } = target;
  await comeBack(dependencies, { conversationId, turn });
  const { sendMessage } = dependencies;
  const stored = { caller, conversationId, locale, cursor: undefined, turn, sendMessage };
  return sendStored(dependencies, stored);
}

/** What an app gave to a call, in a protocol that knows texts alone, and how its fields are called there. */
export interface GivenOutput {
  callId: string;
  text: string;
  callField: string;
  textField: string;
}

const UNKNOWN_CALL = new Set(['TURN_NOT_FOUND', 'TOOL_CALL_NOT_FOUND']);

/**
 * Answers open calls of one turn. Throws BAD_FIELD where they are of several turns, one is answered twice or cannot be
 * stored, and what answering calls throws, for a call that there is not with its field.
 */
export async function giveOutputs(
  dependencies: RouteDependencies,
  target: Pick<Target, 'caller' | 'conversationId'> & { locale: string | undefined },
  outputs: readonly GivenOutput[],
): Promise<SendHandle> {
  const turnId = turnIdOfCall(outputs[0]?.callId ?? '');
  const seen = new Set<string>();
  for (const { callId, callField: field } of outputs) {
    if (turnIdOfCall(callId) !== turnId)
      throw badField(field, `\`${field}\` is of another answer than the calls before it.`);
    if (seen.has(callId))
      throw badField(field, `\`${field}\` answers a call that is answered already.`);
    seen.add(callId);
  }
  const results = outputs.map(({ callId, text, textField }) =>
    toToolResult({ callId, output: jsonOrText(text) }, textField),
  );
  const unknownCall = ({ reason, metadata, publicMessage }: AppError) => {
    if (!UNKNOWN_CALL.has(reason)) return undefined;
    const output = outputs.find(({ callId }) => callId === metadata['callId']) ?? outputs[0];
    const field = output?.callField ?? '';
    return {
      field,
      publicMessage: `\`${field}\` is none of the calls that this conversation waits for. ${publicMessage}`,
    };
  };
  return renaming(unknownCall, () => answerCalls(dependencies, { ...target, turnId, results }));
}
