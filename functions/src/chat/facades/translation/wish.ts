import { badField } from '#shared/lib/errors.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { isWritable } from '#functions/chat/conversations/writable-fields.ts';
import {
  createConversation,
  updateConversation,
} from '#functions/chat/conversations/write-conversation.ts';
import { refuseLongAnswer } from './long-answer.ts';
import {
  type SendRequest,
  type Replacing,
  type SendHandle,
  storedRequest,
} from '#functions/chat/turns/send/send-request.ts';
import { comeBack, isLeftAlone } from './leaving.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { toToolResult } from '#functions/chat/turns/tools/tool-response.ts';
import type { Config } from '#functions/config.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { turnIdOfCall } from '#shared/conversation/context/tool-calls.ts';
import { type Part, contentText } from '#shared/models/content.ts';
import {
  type Conversation,
  decodeConversation,
} from '#shared/conversation/documents/conversation.ts';
import { readClientTools } from '#shared/conversation/documents/declared-tools.ts';
import { conversationPath, messageGuardPath } from '#shared/conversation/documents/paths.ts';
import { decodeMessageGuard, type Turn } from '#shared/conversation/documents/turn.ts';
import type { AnswerOptions, Sampling, ToolChoice } from '#shared/models/answer-options.ts';
import type { Caller, DocumentStore } from '#shared/ports/ports.ts';
import { mediaTypeOfAddress, readDataUrl } from '#shared/wire/data-url.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import { jsonOrText } from '#shared/wire/facades/openai.ts';
import { SYSTEM_INSTRUCTION_MAX_CHARACTERS } from '#shared/lib/limits.ts';
import { refuseTooLong, toPart, type InputPart } from '#shared/wire/resources/message-parts.ts';
import { toolsSchema } from '#shared/wire/resources/tools.ts';
import { z } from 'zod';

/* What a client of a façade wishes, in the words of the use cases. Errors name a field as its client does. */

/** A message, and all that a client says about its answer. */
export interface Wish {
  parts: Part[];
  options: AnswerOptions | undefined;
  /** Language, what the model is to know of the moment, and what to do while another message is answered. */
  circumstances: Pick<SendRequest, 'locale' | 'onBusy' | 'recallTokens' | 'clientContext'>;
  /** Of the conversation from now on; empty: as it has them. */
  tools: ClientTools;
  systemInstruction?: string | undefined;
  model?: string | undefined;
  /** What the client calls `options.maxOutputTokens`. */
  maxTokensField: string;
}

/** Fields of OpenAI's protocols that change nothing of what is said: who asks, where a provider bills and caches, the style. */
const HARMLESS = new Set([
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'prompt_cache_options',
  'service_tier',
  'store',
  'stream_options',
  'verbosity',
]);

/** Values of further fields that ask for what is done anyway, as JSON. */
const AS_IT_IS: Readonly<Record<string, string>> = {
  logprobs: 'false',
  top_logprobs: '0',
  presence_penalty: '0',
  frequency_penalty: '0',
  parallel_tool_calls: 'true',
  modalities: '["text"]',
  store: 'true',
  verbosity: '"medium"',
};

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * Fields of a body that have no effect, for the answer to name. `heeded`: those that a façade knows. Throws BAD_FIELD for
 * the first one that asks for something which is not done here.
 */
export function ignoredFields(body: object, heeded: ReadonlySet<string>): string[] {
  const ignored: string[] = [];
  for (const [field, value] of Object.entries(body)) {
    if (heeded.has(field) || isEmpty(value) || JSON.stringify(value) === AS_IT_IS[field]) continue;
    if (!HARMLESS.has(field))
      throw badField(field, `\`${field}\` is not supported here. Leave it out.`);
    ignored.push(field);
  }
  return ignored;
}

/** A file in its address, or behind an https one, whose end tells the type where `mediaType` does not. Throws BAD_FIELD. */
export function fileAt(url: string, field: string, mediaType = mediaTypeOfAddress(url)): InputPart {
  const data = readDataUrl(url);
  if (data) return { type: 'file', ...data };
  if (mediaType !== undefined) return { type: 'file', url, mediaType };
  throw badField(
    field,
    `\`${field}\` must end as a file of a known type does, such as .png or .pdf. Send a data: URL in base64 instead.`,
  );
}

/** What a user's message says, without empty texts. Throws BAD_FIELD where it says nothing, TEXT_TOO_LONG. */
export function toParts(
  { MAX_PART_BYTES, MAX_MESSAGE_BYTES }: Pick<Config, 'MAX_PART_BYTES' | 'MAX_MESSAGE_BYTES'>,
  input: readonly InputPart[],
  field: string,
): Part[] {
  const parts = input.filter((part) => part.type !== 'text' || part.text !== '');
  if (parts.length === 0) throw badField(field, 'The last message says nothing.');
  refuseTooLong(parts, { maxPartBytes: MAX_PART_BYTES, maxMessageBytes: MAX_MESSAGE_BYTES }, field);
  return parts.map(toPart);
}

/**
 * What a conversation keeps as its instruction; undefined where it is told none, or the deployment keeps that to itself.
 * Throws BAD_FIELD where it is too long.
 */
export function toInstruction(
  config: Pick<Config, 'CLIENT_WRITABLE'>,
  texts: readonly string[],
  field: string,
): string | undefined {
  if (!isWritable(config, 'systemInstruction')) return undefined;
  const instruction = texts.filter((text) => text !== '').join('\n\n');
  const max = SYSTEM_INSTRUCTION_MAX_CHARACTERS;
  if (instruction.length > max)
    throw badField(
      field,
      `\`${field}\`: an instruction may have at most ${max} characters. Shorten it.`,
    );
  return instruction === '' ? undefined : instruction;
}

type ClientTools = z.infer<typeof toolsSchema>;

const declared = z.object({ tools: toolsSchema });

/** A function without parameters has none. */
const NO_PARAMETERS = { type: 'object', properties: {} };

/** A client's functions as tools of a conversation. Throws BAD_FIELD, which names the tool by its place. */
export function toClientTools(
  given: readonly {
    name?: string | undefined;
    description?: string | null | undefined;
    parameters?: Record<string, unknown> | null | undefined;
  }[],
): ClientTools {
  const tools = given.map(({ name, description, parameters }) => ({
    name,
    ...(typeof description === 'string' && { description }),
    parameters: parameters ?? NO_PARAMETERS,
  }));
  return parseRequest(declared, { tools }).tools;
}

/** How a request wants to be answered; what is null or absent is as the conversation says. */
interface AskedOptions {
  temperature?: number | null | undefined;
  topP?: number | null | undefined;
  seed?: number | null | undefined;
  stop?: string | readonly string[] | null | undefined;
  effort?: 'none' | NonNullable<Sampling['thinkingLevel']> | null | undefined;
  toolChoice?: 'auto' | ToolChoice | null | undefined;
  /** Any JSON, or JSON as the schema has it. */
  format?: 'text' | 'json_object' | 'json_schema' | undefined;
  responseSchema?: AnswerOptions['responseSchema'];
  maxOutputTokens?: number | null | undefined;
}

/** The same as the use case takes it; undefined: as the conversation says. */
export function toAnswerOptions(asked: AskedOptions): AnswerOptions | undefined {
  const { temperature, topP, seed, stop, effort, toolChoice, format } = asked;
  const anyObject = format === undefined || format === 'text' ? undefined : { type: 'object' };
  const responseSchema = asked.responseSchema ?? anyObject;
  const stopSequences = typeof stop === 'string' ? [stop] : [...(stop ?? [])];
  const sampling: Sampling = {
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof topP === 'number' && { topP }),
    ...(typeof seed === 'number' && { seed }),
    ...(stopSequences.length > 0 && { stopSequences }),
    ...(effort && { thinkingLevel: effort === 'none' ? 'minimal' : effort }),
  };
  const options: AnswerOptions = {
    ...(responseSchema && { responseSchema }),
    ...(Object.keys(sampling).length > 0 && { sampling }),
    ...(toolChoice && toolChoice !== 'auto' && { toolChoice }),
    ...(typeof asked.maxOutputTokens === 'number' && { maxOutputTokens: asked.maxOutputTokens }),
  };
  return Object.keys(options).length > 0 ? options : undefined;
}

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

/** A turn was sent before with the same words. Such an edit names no more what it replaced then, so it is taken as it is stored. */
const isSameEdit = (sent: Turn | undefined, parts: Part[]): sent is Turn =>
  sent?.replaces !== undefined && contentText(sent.user) === contentText({ role: 'user', parts });

/**
 * Sends a message to its place. Where the answer before it has no reader any more, that answer is stopped at once.
 * Throws what sending throws.
 */
export async function sendWish(
  dependencies: RouteDependencies,
  { caller, conversationId, conversation }: Target,
  { parts, options, circumstances }: Pick<Wish, 'parts' | 'options' | 'circumstances'>,
  { id, sent, replacing }: Place,
): Promise<SendHandle> {
  const { locale } = circumstances;
  if (isSameEdit(sent, parts)) return goOn(dependencies, { caller, conversationId, locale }, sent);
  if (sent) await comeBack(dependencies, { conversationId, turn: sent });
  const isLeft =
    circumstances.onBusy === undefined &&
    conversation !== undefined &&
    (await isLeftAlone(dependencies, { conversationId, conversation }));
  return dependencies.sendMessage(dependencies, {
    ...circumstances,
    ...(isLeft && { onBusy: 'interrupt' }),
    caller,
    conversationId,
    message: { id, parts },
    options,
    ...(replacing && { replacing }),
  });
}

/** Goes on with a turn as it is stored: attaches, replays or takes it over. Throws what sending throws. */
export async function goOn(
  dependencies: RouteDependencies,
  target: Pick<Target, 'caller' | 'conversationId'> & { locale: string | undefined },
  turn: Turn,
): Promise<SendHandle> {
  const { caller, conversationId, locale } = target;
  await comeBack(dependencies, { conversationId, turn });
  const sender = { caller, conversationId, locale, cursor: undefined };
  return dependencies.sendMessage(dependencies, storedRequest(sender, turn));
}

/** What an app gave to a call, in a protocol that knows texts alone, and how its fields are called there. */
export interface GivenOutput {
  callId: string;
  text: string;
  callField: string;
  textField: string;
}

/**
 * Answers open calls of one turn. Throws BAD_FIELD where they are of several turns, one is answered twice or cannot be
 * stored, and what answering calls throws.
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
  return answerCalls(dependencies, { ...target, turnId, results });
}
