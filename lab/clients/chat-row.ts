import { randomUUID } from 'node:crypto';
import { loadMessages } from '#docs/clients/recipes/use-chat.ts';
import type { Chat, ChatSetup, OutgoingMessage, ShownMessage } from './chat.ts';
import { none, type Place, type Row, type Trial } from './columns.ts';
import { differ, pause, same, until } from './observe.ts';
import {
  createConversation,
  isOnlyTurn,
  isStopped,
  modelContext,
  storedMessages,
  textIn,
  transcript,
} from './server-state.ts';
import * as texts from './texts.ts';

type OpenChat = (setup: ChatSetup) => Chat | Promise<Chat>;

const lastText = ({ messages }: Chat): string => textIn(messages.at(-1)?.parts ?? []);

const lines = (messages: readonly ShownMessage[]): string[] =>
  messages.map(({ role, parts }) => `${role === 'user' ? 'user' : 'model'}: ${textIn(parts)}`);

const throwError = ({ error }: Chat): void => {
  if (error !== undefined) throw error;
};

/** Waits until the chat is at rest after `since` messages were shown. Throws the error that it shows. */
async function rested(chat: Chat): Promise<void> {
  await until(
    'the chat is at rest',
    () => chat.status === 'ready' || chat.status === 'error',
    25_000,
  );
  throwError(chat);
}

/** Sends and waits for the whole answer. Throws what the chat shows as an error. */
async function sends(chat: Chat, message: OutgoingMessage, body?: object): Promise<string> {
  const shown = JSON.stringify(lines(chat.messages));
  await Promise.all([
    chat.sendMessage(message, body && { body }),
    until('the chat took it', () => JSON.stringify(lines(chat.messages)) !== shown || chat.error),
  ]);
  await rested(chat);
  return lastText(chat);
}

async function opened(open: OpenChat, place: Place) {
  const id = randomUUID();
  return { id, chat: await open({ place, id }) };
}

const backend = ({ url, token }: Place) => ({
  baseUrl: url,
  getIdToken: () => Promise.resolve(token),
});

/** The chat as another page, or the same one later, opens it. */
async function reopened(open: OpenChat, place: Place, id: string): Promise<Chat> {
  return open({ place, id, messages: await loadMessages(backend(place), id) });
}

const isShown = async (chat: Chat, place: Place, id: string) =>
  same('the transcript', await transcript(place, id), lines(chat.messages));

const send =
  (open: OpenChat): Trial =>
  async ({ open: place }) => {
    const { id, chat } = await opened(open, place);
    await sends(chat, { text: texts.SAY });
    await isShown(chat, place, id);
  };

const stream =
  (open: OpenChat): Trial =>
  async ({ open: place }) => {
    const { id, chat } = await opened(open, place);
    const seen = new Set<string>();
    const timer = setInterval(() => seen.add(lastText(chat)), 10);
    await sends(chat, { text: texts.COUNT }).finally(() => clearInterval(timer));
    if (seen.size < 4) differ(`the answer came in ${seen.size} pieces`);
    await isShown(chat, place, id);
  };

const reload =
  (open: OpenChat): Trial =>
  async ({ open: place }) => {
    const { id, chat } = await opened(open, place);
    await sends(chat, { text: texts.SAY });
    const later = await reopened(open, place, id);
    same('the page', lines(later.messages), lines(chat.messages));
    await sends(later, { text: texts.ASK });
    await isShown(later, place, id);
  };

/** A chat in the middle of a long answer. */
async function halfway(open: OpenChat, place: Place, question: string = texts.COUNT_LONG) {
  const { id, chat } = await opened(open, place);
  void Promise.resolve(chat.sendMessage({ text: question })).catch(() => undefined);
  await until(
    'the answer has begun',
    () => chat.error !== undefined || lastText(chat).includes('3'),
  );
  throwError(chat);
  return { id, chat };
}

const secondTab =
  (open: OpenChat): Trial =>
  async ({ open: place }) => {
    const { id, chat } = await halfway(open, place, 'Count to 20.');
    const other = await reopened(open, place, id);
    await other.resumeStream();
    await rested(other);
    await rested(chat);
    same('the second tab', lines(other.messages), lines(chat.messages));
    await isShown(other, place, id);
  };

const stop =
  (open: OpenChat): Trial =>
  async ({ open: place }) => {
    const { id, chat } = await halfway(open, place);
    await chat.stop();
    await isStopped(place, id);
    const stored = (await storedMessages(place, id)).map(({ role, parts }) => [
      role,
      textIn(parts),
    ]);
    const kept = stored.find(([role]) => role === 'model')?.[1] ?? '';
    if (!kept.startsWith(lastText(chat).trim()))
      differ(
        `the page shows ${JSON.stringify(lastText(chat))}, the server ${JSON.stringify(kept)}`,
      );
  };

const edit =
  (open: OpenChat): Trial =>
  async ({ open: place }) => {
    const { id, chat } = await opened(open, place);
    await sends(chat, { text: texts.SAY });
    await sends(chat, { text: texts.ASK });
    const messageId = chat.messages[0]?.id ?? '';
    await sends(chat, { text: texts.EDITED, messageId });
    same('the page', lines(chat.messages).length, 2);
    await isOnlyTurn(place, id, { question: texts.EDITED, answer: lastText(chat) });
  };

const regenerate =
  (open: OpenChat): Trial =>
  async ({ open: place }) => {
    const { id, chat } = await opened(open, place);
    await sends(chat, { text: texts.SAY });
    const first = chat.messages.at(-1)?.id;
    await chat.regenerate();
    await until('another answer is shown', () => chat.error ?? chat.messages.at(-1)?.id !== first);
    await rested(chat);
    await isOnlyTurn(place, id, { question: texts.SAY, answer: lastText(chat) });
  };

/** The part of a call that waits. */
const waiting = (chat: Chat, state: string) =>
  until(`a call is shown as ${state}`, () => {
    throwError(chat);
    return chat.messages.at(-1)?.parts.find((part) => part.state === state);
  });

const tools =
  (open: OpenChat): Trial =>
  async ({ open: place }) => {
    const id = await createConversation(place, [texts.locateTool]);
    const chat = await open({ place, id });
    await sends(chat, { text: texts.LOCATE });
    const { toolCallId = '' } = await waiting(chat, 'input-available');
    await chat.addToolOutput({ tool: 'locate', toolCallId, output: { city: texts.CITY } });
    await until('the answer names the city', () => {
      throwError(chat);
      return chat.status === 'ready' && lastText(chat).includes(texts.CITY);
    });
    const last = (await modelContext(place, id)).at(-1);
    same('the end of the context', last, `model: ${lastText(chat)}`);
  };

const approval =
  (open: OpenChat): Trial =>
  async ({ open: place }) => {
    const { id, chat } = await opened(open, place);
    await sends(chat, { text: texts.PAY });
    if (chat.addToolApprovalResponse === undefined)
      return none('no approvals; the app sends `toolResults` to our own API');
    const { approval: asked } = await waiting(chat, 'approval-requested');
    await chat.addToolApprovalResponse({ id: asked?.id ?? '', approved: true });
    await until('the answer says what was paid', () => {
      throwError(chat);
      return chat.status === 'ready' && lastText(chat).includes('paid');
    });
    const last = (await modelContext(place, id)).at(-1);
    return same('the end of the context', last, `model: ${lastText(chat)}`);
  };

const structured =
  (open: OpenChat): Trial =>
  async ({ open: place }) => {
    const { id, chat } = await opened(open, place);
    const text = await sends(chat, { text: texts.SAY }, { responseSchema: texts.petSchema });
    if (!isPet(text)) differ(`the answer is ${JSON.stringify(text)}`);
    await isShown(chat, place, id);
  };

/** Whether a text is JSON as `petSchema` has it. */
export function isPet(text: string): boolean {
  try {
    return typeof JSON.parse(text).name === 'string';
  } catch {
    return false;
  }
}

const files =
  (open: OpenChat): Trial =>
  async ({ open: place }) => {
    const { id, chat } = await opened(open, place);
    const file = { type: 'file' as const, mediaType: 'image/png', url: texts.PNG_URL };
    await sends(chat, { text: texts.SAY, files: [file] });
    await hasFile(place, id);
  };

/** Checks that the first message that is stored has a file. */
export async function hasFile(place: Place, conversationId: string): Promise<void> {
  const [first] = await storedMessages(place, conversationId);
  const types = first?.parts.map(({ type }) => type) ?? [];
  if (!types.includes('file')) differ(`the server stored ${JSON.stringify(types)}, and no file`);
}

const refused =
  (open: OpenChat, which: 'spent' | 'failing'): Trial =>
  async (places) => {
    const { chat } = await opened(open, places[which]);
    await sends(chat, { text: texts.SAY });
    await pause(0);
    differ('no error is shown');
  };

/** The trials of a chat of the AI SDK, whatever keeps its messages. */
export const chatRow = (open: OpenChat): Row => ({
  send: send(open),
  stream: stream(open),
  reload: reload(open),
  'second tab': secondTab(open),
  stop: stop(open),
  edit: edit(open),
  regenerate: regenerate(open),
  tools: tools(open),
  approval: approval(open),
  structured: structured(open),
  files: files(open),
  '429': refused(open, 'spent'),
  error: refused(open, 'failing'),
});
