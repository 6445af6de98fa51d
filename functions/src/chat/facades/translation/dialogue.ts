import { badField } from '#shared/lib/errors.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { preferredLocale } from '#functions/chat/http/headers.ts';
import { firstTailSeq, readTurnRange } from '#shared/conversation/context/read-conversation.ts';
import { answerText } from '#shared/models/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import { QUEUE_MAX, REPLACED_MAX } from '#shared/conversation/start-decision.ts';
import type { AnswerOptions } from '#shared/models/answer-options.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { typedText } from '#shared/uploads/upload-parts.ts';
import { stableUuid } from '#shared/lib/uuid.ts';
import { messageIdSchema } from '#shared/wire/fields.ts';
import type { InputPart } from '#shared/wire/resources/message-parts.ts';
import { toAnswer, type Answer } from './answer.ts';
import {
  fileAt,
  type GivenOutput,
  declareWish,
  findOwnConversation,
  findTurnOfMessage,
  giveOutputs,
  sendWish,
  type Place,
  type Wish,
} from './wish.ts';

/* Dialogues as clients of OpenAI send them, in either of its protocols. */

/** A part of a message in the words of chat completions or of the Responses API. */
type ContentPart =
  | { type: 'text' | 'input_text' | 'output_text'; text: string }
  | { type: 'refusal'; refusal: string }
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'file'; file: FileFields & { media_type?: string | undefined } }
  | ({ type: 'input_image'; image_url?: string | null | undefined } & FileFields)
  | ({ type: 'input_file' } & FileFields);

interface FileFields {
  file_data?: string | null | undefined;
  file_url?: string | null | undefined;
  file_id?: string | null | undefined;
}

type MessageContent = string | readonly ContentPart[] | null | undefined;

/** A message, or what stands for one. */
export interface DialogueMessage {
  role: 'user' | 'assistant' | 'instruction' | 'output';
  content: MessageContent;
  /** What the client calls the content. */
  field: string;
  /** Of an output: the call that it is for, and what the client calls that. */
  call?: { id: string; field: string };
}

function fileOf(
  { file_data: data, file_url: url, file_id: uploadId }: FileFields,
  field: string,
  mediaType?: string,
): InputPart {
  if (uploadId) return { type: 'file', uploadId };
  const address = data ?? url;
  if (address) return fileAt(address, field, mediaType);
  throw badField(field, `\`${field}\` holds no file. Give a data: URL, an address or \`file_id\`.`);
}

function inputPart(part: ContentPart, field: string): InputPart {
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'text', text: part.refusal };
    case 'image_url':
      return fileAt(part.image_url.url, `${field}.image_url.url`);
    case 'file':
      return fileOf(part.file, `${field}.file`, part.file.media_type);
    case 'input_image':
      return fileOf({ ...part, file_url: part.image_url }, field);
    case 'input_file':
      return fileOf(part, field);
  }
}

/** What a message says. Throws BAD_FIELD. */
function inputParts({ content, field }: DialogueMessage): InputPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return (content ?? []).map((part, index) => inputPart(part, `${field}[${index}]`));
}

/** The text of a message; of files nothing. */
function messageText({ content }: DialogueMessage): string {
  if (typeof content === 'string') return content;
  const texts = (content ?? []).map((part) => {
    if ('text' in part) return part.text;
    return part.type === 'refusal' ? part.refusal : '';
  });
  return texts.join('');
}

/** What a tool gave. Throws BAD_FIELD for a file. */
function toOutput(message: DialogueMessage): GivenOutput {
  const { field, call } = message;
  const texts = inputParts(message).map((part) => {
    if (part.type === 'text') return part.text;
    throw badField(
      field,
      `\`${field}\` holds a file. Files are for messages of the user; send text here.`,
    );
  });
  return {
    callId: call?.id ?? '',
    text: texts.join(''),
    callField: call?.field ?? field,
    textField: field,
  };
}

/** The outputs of tools that a dialogue ends with; empty where it ends with a message. */
export const outputsAtEnd = (messages: readonly DialogueMessage[]): GivenOutput[] =>
  messages.slice(messages.findLastIndex(({ role }) => role !== 'output') + 1).map(toOutput);

/** What the client shows, turn by turn. */
function shownTurns(messages: readonly DialogueMessage[]): ShownTurn[] {
  const turns: ShownTurn[] = [];
  for (const message of messages) {
    const text = messageText(message);
    const last = turns.at(-1);
    if (message.role === 'user') turns.push({ user: text, answer: '' });
    else if (message.role === 'assistant' && last) last.answer += text;
    else if (message.role === 'assistant' && text !== '')
      turns.push({ user: undefined, answer: text });
  }
  return turns;
}

/** The message that a dialogue ends with, and what stands before it. */
interface LastMessage {
  input: InputPart[];
  /** What the client calls its content. */
  field: string;
  shown: ShownTurn[];
  /** What the message is known again by, without the client's instructions, which may tell the time. */
  said: unknown;
}

/**
 * The user's message at the end of a dialogue. `joins`: all of the user's messages at the end are one. Throws BAD_FIELD
 * where it ends with none, or one stands behind outputs, whose turn it would end.
 */
export function lastMessage(
  messages: readonly DialogueMessage[],
  { joins, field }: { joins: boolean; field: string },
): LastMessage {
  const dialogue = messages.filter(({ role }) => role !== 'instruction');
  const firstOfUser = dialogue.findLastIndex(({ role }) => role !== 'user') + 1;
  const first = joins ? firstOfUser : Math.max(firstOfUser, dialogue.length - 1);
  const sent = dialogue.slice(first);
  const [one] = sent;
  if (!one)
    throw badField(
      field,
      `\`${field}\` must end with a message of the user, or with what tools gave.`,
    );
  const before = dialogue[firstOfUser - 1];
  if (before?.role === 'output')
    throw badField(
      before.field,
      `\`${field}\` has a message right behind what tools gave. Send the outputs first, and the message when they are answered.`,
    );
  return {
    input: sent.flatMap(inputParts),
    field: one.field,
    shown: shownTurns(dialogue.slice(0, first)),
    said: dialogue.map(({ role, content }) => [role, content ?? '']),
  };
}

/** The client's instructions, in their order. */
export const findInstructions = (messages: readonly DialogueMessage[]): DialogueMessage[] =>
  messages.filter(({ role }) => role === 'instruction');

export const instructionTexts = (messages: readonly DialogueMessage[]): string[] =>
  findInstructions(messages).map(messageText);

/** What a client shows of one turn. */
export interface ShownTurn {
  /** What the user says in it; undefined where the messages begin behind that. */
  user: string | undefined;
  /** What it shows of the answer; '' where it shows none. */
  answer: string;
}

/** What a client shows in front of the message that it sends. */
interface ShownHistory {
  turns: readonly ShownTurn[];
  /** It says that this is all there is, so that nothing in front is the very beginning. */
  isWhole: boolean;
}

/** A turn that stands in the transcript. */
export interface TranscriptTurn {
  seq: number;
  user: string;
  answer: string;
  /** It is in the context, or on its way there. */
  counts: boolean;
}

/** A turn that began with the very same request: the same words behind the same messages. */
export interface RepeatedTurn {
  seq: number;
  /** It is being answered, or waits for that. */
  isOpen: boolean;
  /** No turn stands behind it. */
  isNewest: boolean;
  /** Its answer ended so short a time ago that a program which lost it may ask again. */
  hasJustEnded: boolean;
}

type TextPlace =
  /** It was sent before: it is the repeated turn's message. */
  | { kind: 'again' }
  /** After all that the server has. */
  | { kind: 'append' }
  /** In the place of this turn and of all that follow. */
  | { kind: 'edit'; seq: number }
  /** None of the turns ends what the client shows: after all, unless earlier turns tell more. */
  | { kind: 'unknown' };

/** Turns of the client that are compared: a few tell the place, and what is older the client may have shortened. */
const COMPARED = 3;

const tellsPlace = ({ turns, isWhole }: ShownHistory): boolean => isWhole || turns.length > 0;

/** Whether the message is the first one of a user: a greeting may stand in front of it. */
const isFirstMessage = ({ turns, isWhole }: ShownHistory): boolean =>
  isWhole && turns.every(({ user }) => user === undefined);

/** In place of what counts behind turn `seq`, or after all. */
export function placeBehind(
  seq: number,
  standing: readonly Pick<TranscriptTurn, 'seq' | 'counts'>[],
): { kind: 'append' } | { kind: 'edit'; seq: number } {
  const behind = standing.filter((turn) => turn.seq > seq);
  const [first] = behind;
  return first && behind.some(({ counts }) => counts)
    ? { kind: 'edit', seq: first.seq }
    : { kind: 'append' };
}

interface PlacedRequest {
  shown: ShownHistory;
  /** Those that stand, in order. */
  turns: readonly TranscriptTurn[];
  /** The client says that it sends the request again. */
  isRetry: boolean;
  repeated: RepeatedTurn | undefined;
}

/** Clients trim what they were given. */
const oneSpaced = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

const trimmed = <Each extends ShownTurn | TranscriptTurn>(turn: Each): Each => ({
  ...turn,
  ...(turn.user !== undefined && { user: oneSpaced(turn.user) }),
  answer: oneSpaced(turn.answer),
});

function agrees({ user, answer }: ShownTurn, turn: TranscriptTurn): boolean {
  // A window may begin within an answer, behind the calls of tools.
  if (user === undefined) return turn.answer.endsWith(answer);
  return user === turn.user && (answer === '' || answer === turn.answer);
}

/** The newest turn that all agree up to; turns that failed may be shown or not. */
function findLastShown({ shown, turns: all }: PlacedRequest): number | undefined {
  const compared = shown.turns.slice(-COMPARED).toReversed().map(trimmed);
  const turns = all.map(trimmed);
  const agreesUpTo = (end: number) => {
    let index = end;
    for (const shownTurn of compared) {
      let turn = turns[index];
      while (turn && index < end && !turn.counts && !agrees(shownTurn, turn))
        turn = turns[(index -= 1)];
      // What is further back may be folded, or not be sent.
      if (turn === undefined) return true;
      if (!agrees(shownTurn, turn)) return false;
      index -= 1;
    }
    return true;
  };
  return turns[turns.findLastIndex((_, end) => agreesUpTo(end))]?.seq;
}

/** Whether a request is that of the repeated turn once more: as long as the client does not show its answer. */
function isSentAgain(
  { shown, isRetry, repeated }: PlacedRequest,
  lastShown: number | undefined,
): boolean {
  if (!repeated) return false;
  const { seq, isOpen, isNewest, hasJustEnded } = repeated;
  const showsAnswer = tellsPlace(shown) && lastShown !== undefined && lastShown >= seq;
  if (isOpen) return true;
  if (isRetry) return isNewest || (hasJustEnded && !showsAnswer);
  return tellsPlace(shown) && isNewest && !showsAnswer && (lastShown !== undefined || hasJustEnded);
}

/**
 * Where the last message of a request goes whose protocol has no ids, so that what stands in front of the message tells.
 * The newest turn where both agree counts: what the server has behind it, the client has taken away. A window of the
 * newest messages agrees with the end, and so does a client that shows nothing. What is not known there takes nothing
 * away.
 */
export function placeByTexts(request: PlacedRequest): TextPlace {
  const { shown, turns } = request;
  const lastShown = isFirstMessage(shown) ? 0 : findLastShown(request);
  if (isSentAgain(request, lastShown)) return { kind: 'again' };
  if (lastShown === undefined) return { kind: shown.turns.length === 0 ? 'append' : 'unknown' };
  return placeBehind(lastShown, turns);
}

/** Names the message. */
export const KEY_HEADER = 'idempotency-key';

/** Every SDK of OpenAI sends a request again by itself, after 408, 409, 429, 5xx and a lost connection, and counts. */
export const RETRIES_HEADER = 'x-stainless-retry-count';

export type Header = (name: string) => string | undefined;

export const isRetry = (header: Header) => Number(header(RETRIES_HEADER) ?? 0) > 0;

/** How far back a message is looked for that others were sent after: all that may wait, and the running one. */
const LOOK_BACK = QUEUE_MAX + 1;

/**
 * How long after the end of an answer the same request counts as a second try of a program that does not say so, ms.
 * Libraries come back within seconds.
 */
const JUST_ENDED_MS = 60_000;

/** A message whose protocol has no ids, and what it comes with. */
interface Unnamed {
  conversationId: string;
  conversation: Conversation | undefined;
  shown: ShownHistory;
  /** What the request says, and how it is to be answered: another wish is another message. */
  said: unknown;
  options: AnswerOptions | undefined;
  header: Header;
}

/** The id of a message that the client has named by a header. */
export function keyedMessageId(
  { sha256 }: Pick<RouteDependencies, 'sha256'>,
  conversationId: string,
  header: Header,
): string | undefined {
  const key = header(KEY_HEADER)?.trim() ?? '';
  if (key === '') return undefined;
  return messageIdSchema.safeParse(key).success
    ? key
    : stableUuid(sha256, ['openai', conversationId, 'key', key]);
}

/** Ids of a message that has none, by the turn that it is said after. */
export function messageIdAfter(
  { sha256 }: Pick<RouteDependencies, 'sha256'>,
  { conversationId, said, options }: Pick<Unnamed, 'conversationId' | 'said' | 'options'>,
): (seq: number) => string {
  const content = sha256(JSON.stringify([said, options]));
  return (seq) => stableUuid(sha256, ['openai', conversationId, 'after', String(seq), content]);
}

const transcriptTurn = ({ seq, user, contents, inContext, state }: Turn): TranscriptTurn => ({
  seq,
  user: typedText(user),
  answer: answerText(contents),
  counts: inContext || !isTerminal(state),
});

const stands = ({ replacedBy, eraseTime }: Turn) => !replacedBy && !eraseTime;

type Reading = Pick<RouteDependencies, 'store' | 'cache' | 'sha256' | 'clock'>;

/**
 * Whether the request was sent before, and in whose place the message is said. The turns of the context are looked at
 * first; those that are folded, only where that is not enough.
 */
async function placeByHistory(
  dependencies: Reading,
  { conversationId, conversation, shown, header }: Unnamed,
  repeated: Turn | undefined,
): Promise<{ isAgain: boolean; editedId?: string | undefined }> {
  if (!conversation) return { isAgain: false };
  const { lastSeq, open } = conversation;
  const endedAt = repeated?.finishTime?.getTime() ?? Number.NEGATIVE_INFINITY;
  const request = {
    shown,
    isRetry: isRetry(header),
    repeated: repeated && {
      seq: repeated.seq,
      isOpen: open !== undefined && repeated.seq >= open.seq,
      isNewest: repeated.seq === lastSeq,
      hasJustEnded: dependencies.clock.now().getTime() - endedAt < JUST_ENDED_MS,
    },
  };
  const oldest = Math.max(1, lastSeq - REPLACED_MAX);
  const tail = Math.max(oldest, firstTailSeq(conversation));
  // The very beginning is no place of the tail, however much is folded.
  for (const fromSeq of isFirstMessage(shown) ? [1] : new Set([tail, oldest])) {
    const toSeq = tellsPlace(shown) ? Math.min(lastSeq, fromSeq + REPLACED_MAX) : 0;
    const range = { conversationId, conversation, fromSeq, toSeq };
    const turns = (await readTurnRange(dependencies, range)).filter(stands);
    const place = placeByTexts({ ...request, turns: turns.map(transcriptTurn) });
    if (place.kind === 'unknown') continue;
    if (place.kind !== 'edit') return { isAgain: place.kind === 'again' };
    return { isAgain: false, editedId: turns.find(({ seq }) => seq === place.seq)?.messageId };
  }
  return { isAgain: false };
}

const editOf = (messageId: string | undefined): Pick<Place, 'replacing'> =>
  messageId === undefined ? {} : { replacing: { kind: 'edit', messageId } };

/** The newest turn that began with the same request. */
async function findRepeated(
  dependencies: Reading,
  { conversationId, conversation, shown, header }: Unnamed,
  idAfter: (seq: number) => string,
): Promise<Turn | undefined> {
  if (!conversation) return undefined;
  const { lastSeq, open } = conversation;
  const isBehind = isRetry(header) || open !== undefined;
  const lookBack = isBehind ? LOOK_BACK : tellsPlace(shown) ? 1 : 0;
  const ids = new Set(Array.from({ length: lookBack }, (_, back) => idAfter(lastSeq - 1 - back)));
  const fromSeq = Math.max(1, lastSeq - lookBack + 1);
  const range = { conversationId, conversation, fromSeq, toSeq: lastSeq };
  return (await readTurnRange(dependencies, range)).findLast(({ messageId }) => ids.has(messageId));
}

/**
 * The id of a message, and where it goes. SDKs send a request again by themselves, without a key. So the id is made of all
 * that the request says and of the turn that it is said after; a request that was sent before keeps its id. `keyedId`:
 * the client has named the message; that goes before all.
 */
async function findPlace(
  dependencies: Reading,
  message: Unnamed,
  keyedId: string | undefined,
): Promise<Place> {
  const { conversationId, conversation } = message;
  if (keyedId !== undefined) {
    const sent = conversation && (await findTurnOfMessage(dependencies, conversationId, keyedId));
    if (sent) return { id: keyedId, sent };
    const { editedId } = await placeByHistory(dependencies, message, undefined);
    return { id: keyedId, ...editOf(editedId) };
  }
  const idAfter = messageIdAfter(dependencies, message);
  const repeated = await findRepeated(dependencies, message, idAfter);
  const { isAgain, editedId } = await placeByHistory(dependencies, message, repeated);
  if (repeated && isAgain) return { id: repeated.messageId, sent: repeated };
  return { id: idAfter(conversation?.lastSeq ?? 0), ...editOf(editedId) };
}

/** Sends the message that a dialogue ends with. Throws what declaring and sending throw. */
export async function sendDialogue(
  dependencies: RouteDependencies,
  sender: {
    caller: Caller;
    header: Header;
    conversationId: string;
    /** Where it does not follow from the header and the place of the message. */
    messageId?: string | undefined;
  },
  message: { shown: ShownHistory; said: unknown; wish: Wish },
): Promise<Answer> {
  const { caller, header, conversationId, messageId } = sender;
  const { shown, said, wish } = message;
  const conversation = await findOwnConversation(dependencies, { caller, conversationId });
  const place = await findPlace(
    dependencies,
    { conversationId, conversation, shown, said, options: wish.options, header },
    messageId ?? keyedMessageId(dependencies, conversationId, header),
  );
  const target = { caller, conversationId, conversation };
  await declareWish(dependencies, target, wish);
  const handle = await sendWish(dependencies, target, wish, place);
  return toAnswer(dependencies, { handle, conversation, answered: [] });
}

/** Answers the calls that a dialogue ends with the outputs of. Throws what answering calls throws. */
export async function sendOutputs(
  dependencies: RouteDependencies,
  { caller, header, conversationId }: { caller: Caller; header: Header; conversationId: string },
  outputs: readonly GivenOutput[],
): Promise<Answer> {
  const locale = preferredLocale(header('accept-language'));
  const conversation = await findOwnConversation(dependencies, { caller, conversationId });
  const handle = await giveOutputs(dependencies, { caller, conversationId, locale }, outputs);
  const answered = outputs.map(({ callId }) => callId);
  return toAnswer(dependencies, { handle, conversation, answered });
}
