import type { InputPart } from '#shared/wire/resources/message-parts.ts';
import { badField, fileAt } from './wish.ts';
import type { GivenOutput } from './send-wish.ts';
import type { ShownTurn } from './place.ts';

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
