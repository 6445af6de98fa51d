import { loadMessages } from '#docs/clients/recipes/use-chat.ts';
import { createWithTool, textIn, until } from './server-state.ts';
import * as talk from './talk.ts';
import type { Place, SayOptions, Talk } from './talk.ts';

interface ShownPart {
  type: string;
  text?: string;
  state?: string;
  toolCallId?: string;
  approval?: { id: string };
}

export interface ShownMessage {
  id: string;
  role: string;
  parts: readonly ShownPart[];
}

/** A chat of the AI SDK, as the class `Chat`, the hook `useChat` and assistant-ui have it. */
export interface Chat {
  readonly messages: readonly ShownMessage[];
  readonly status: string;
  readonly error: Error | undefined;
  sendMessage: (message: OutgoingMessage, options?: { body: object }) => unknown;
  regenerate: () => unknown;
  resumeStream: () => unknown;
  stop: () => unknown;
  addToolOutput: (given: { tool: string; toolCallId: string; output: unknown }) => unknown;
  /** Absent where the library has no approvals. */
  addToolApprovalResponse?: (given: { id: string; approved: boolean }) => unknown;
}

interface OutgoingMessage {
  text: string;
  files?: { type: 'file'; mediaType: string; url: string }[];
  /** The message that it takes the place of. */
  messageId?: string;
}

/** A message that a page begins with. */
type StoredMessage = Awaited<ReturnType<typeof loadMessages>>[number];

export interface ChatSetup {
  place: Place;
  id: string;
  messages?: StoredMessage[];
}

export type OpenChat = (setup: ChatSetup) => Chat | Promise<Chat>;

/**
 * For `new DefaultChatTransport(…)`: as the SDK's own documentation has it, nothing shortened; only the version of `ai`
 * is told, as the recipe does, so that questions for approval come as its parts.
 */
export const plainTransport = ({ url, token }: Place, version: 5 | 6 | 7 = 7) => ({
  api: `${url}/v1/ai-sdk/chat`,
  headers: { authorization: `Bearer ${token}`, 'x-ai-sdk-version': String(version) },
});

const lastText = ({ messages }: Chat): string => {
  const last = messages.at(-1);
  return last?.role === 'assistant' ? textIn(last.parts) : '';
};

const asShown = ({ messages }: Chat): string =>
  JSON.stringify(messages.map(({ id, parts }) => [id, textIn(parts)]));

/** Does something and waits until the chat has changed and rests; resolves to its last text, or throws what it shows. */
async function answered(
  chat: Chat,
  act: () => unknown,
  onText: (piece: string) => void = () => undefined,
): Promise<string> {
  const before = asShown(chat);
  let told = '';
  const done = Promise.resolve(act());
  await until('the chat is at rest', () => {
    const text = lastText(chat);
    if (asShown(chat) !== before && text.length > told.length) {
      onText(text.slice(told.length));
      told = text;
    }
    if (chat.error !== undefined) throw chat.error;
    return asShown(chat) !== before && chat.status === 'ready';
  });
  await done;
  return lastText(chat);
}

/** The part of a call that waits. */
const waitingCall = (chat: Chat, state: string): Promise<ShownPart> =>
  until(`a call is shown as ${state}`, () => {
    if (chat.error !== undefined) throw chat.error;
    return chat.messages.at(-1)?.parts.find((part) => part.state === state);
  });

/** Waits for an answer that holds `words`. */
export const answerWith = (chat: Chat, words: string): Promise<string> =>
  until(`the answer has "${words}"`, () => {
    if (chat.error !== undefined) throw chat.error;
    return chat.status === 'ready' && lastText(chat).includes(words) && lastText(chat);
  });

/** A chat of the AI SDK as a conversation; `open` opens it on a page. */
export async function talkInChat(open: OpenChat, setup: ChatSetup): Promise<Talk> {
  const { place, id } = setup;
  const chat = await open(setup);
  const backend = { baseUrl: place.url, getIdToken: () => Promise.resolve(place.token) };
  const reopened = async () => ({ place, id, messages: await loadMessages(backend, id) });
  return {
    say: (text, { onText, signal, png }: SayOptions = {}) => {
      signal?.addEventListener('abort', () => void chat.stop());
      const url = talk.pngUrl(png ?? '');
      const files = [{ type: 'file' as const, mediaType: 'image/png', url }];
      const message = { text, ...(png !== undefined && { files }) };
      return answered(chat, () => chat.sendMessage(message), onText);
    },
    askForPet: async (text) => {
      const body = { responseSchema: talk.petSchema };
      return JSON.parse(await answered(chat, () => chat.sendMessage({ text }, { body })));
    },
    callTool: async (locate) => {
      await createWithTool(place, id);
      await answered(chat, () => chat.sendMessage({ text: talk.LOCATE }));
      const { toolCallId = '' } = await waitingCall(chat, 'input-available');
      await chat.addToolOutput({ tool: 'locate', toolCallId, output: locate() });
      return answerWith(chat, talk.CITY);
    },
    approve: async () => {
      await answered(chat, () => chat.sendMessage({ text: talk.PAY }));
      const { approval } = await waitingCall(chat, 'approval-requested');
      await chat.addToolApprovalResponse?.({ id: approval?.id ?? '', approved: true });
      return answerWith(chat, 'paid');
    },
    edit: (text) => {
      const messageId = chat.messages.findLast(({ role }) => role === 'user')?.id ?? '';
      return answered(chat, () => chat.sendMessage({ text, messageId }));
    },
    regenerate: () => answered(chat, () => chat.regenerate()),
    reload: async () => {
      const later = await reopened();
      const page = await talkInChat(open, later);
      return { answer: textIn(later.messages.at(-1)?.parts ?? []), page };
    },
    resume: async () => {
      const other = await open(await reopened());
      await other.resumeStream();
      return answerWith(other, '');
    },
  };
}
