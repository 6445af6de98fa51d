import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import {
  shownParts,
  transportOptions,
  type Backend,
  type loadMessages,
} from '#docs/clients/recipes/use-chat.ts';
import { eventually } from '../eventually.ts';
import { startWireServer, type WireServer } from './wire-server.ts';

/** A chat as the suite uses it; `AbstractChat` of every version of the library is one. */
export interface ChatUnderTest {
  messages: ShownMessage[];
  status: string;
  error: Error | undefined;
  sendMessage: (message?: {
    text: string;
    files?: { type: 'file'; mediaType: string; url: string }[];
    messageId?: string;
  }) => Promise<void>;
  regenerate: (options?: { messageId?: string }) => Promise<void>;
  resumeStream: () => Promise<void>;
  stop: () => Promise<void>;
}

/** A message that a chat shows, with whatever parts. */
interface ShownMessage {
  id: string;
  role: 'system' | 'user' | 'assistant';
  metadata?: unknown;
  parts: { type: string; text?: string }[];
}

/** A message that a chat begins with. */
type StoredMessage = Awaited<ReturnType<typeof loadMessages>>[number];

/** What an app makes of a request before it is sent. */
export type Prepare = (
  request: Parameters<ReturnType<typeof transportOptions>['prepareSendMessagesRequest']>[0],
) => { body: object };

export interface ChatSetup {
  id: string;
  messages: readonly StoredMessage[];
  /** For `new DefaultChatTransport`; without the recipe’s shortening the library sends its whole history. */
  transport: {
    api: string;
    headers: () => Promise<Record<string, string>>;
    prepareSendMessagesRequest?: Prepare;
  };
  onData: (part: { type: string }) => void;
}

export const textOf = (message: ShownMessage | undefined) =>
  shownParts(message?.parts ?? [])
    .map(({ type, text = '' }) => (type === 'text' ? text : ''))
    .join('');

export const textsOf = ({ messages }: ChatUnderTest) => messages.map(textOf);

export const metadataOf = (chat: ChatUnderTest) => chat.messages.at(-1)?.metadata;

const backendOf = (server: WireServer, uid?: string): Backend => ({
  baseUrl: server.url,
  getIdToken: async () => (await server.authorization(uid)).replace('Bearer ', ''),
});

const shows = (chat: ChatUnderTest, text: string) =>
  eventually(`the chat shows ${text}`, () =>
    Promise.resolve(textOf(chat.messages.at(-1)) === text || undefined),
  );

export const listens = (chat: ChatUnderTest) =>
  eventually('the chat listens', () => Promise.resolve(chat.status === 'streaming' || undefined));

/** What a page has kept of its chat. */
export const kept = ({ messages }: ChatUnderTest): StoredMessage[] =>
  messages.map((message) => ({
    id: message.id,
    role: message.role === 'user' ? 'user' : 'assistant',
    parts: [{ type: 'text', text: textOf(message) }],
  }));

/** The error that a chat shows. Throws Error when it shows none. */
export function errorOf({ error }: ChatUnderTest): Error {
  if (!error) throw new Error('the chat shows no error');
  return error;
}

type WorldOptions = NonNullable<Parameters<typeof startWireServer>[0]> & {
  /** What the recipe’s transport is told. */
  transport?: Parameters<typeof transportOptions>[1];
};

/** Chats of one version of the library, against the real function. */
export function aiSdkWorld(createChat: (setup: ChatSetup) => ChatUnderTest) {
  /** A server of its own for each test, and chats on it. */
  async function start({ transport: wishes, ...options }: WorldOptions = {}) {
    const server = await startWireServer(options);
    onTestFinished(() => server.stop());
    const chatId = randomUUID();
    const open = (setup: Partial<ChatSetup> & { uid?: string } = {}) => {
      const { id = chatId, messages = [], onData = () => undefined, uid } = setup;
      const { api, headers } = transportOptions(backendOf(server, uid), wishes);
      return createChat({ transport: { api, headers }, id, messages, onData });
    };
    return { server, chatId, open, backend: backendOf(server) };
  }

  /** A chat with one answered message. */
  async function answered() {
    const world = await start();
    const chat = world.open();
    const sent = chat.sendMessage({ text: 'Hello' });
    await world.server.answer('Hello', 'Hi there.');
    await sent;
    return { ...world, chat };
  }

  /** A chat in the middle of an answer. */
  async function halfway(options?: WorldOptions) {
    const world = await start(options);
    const chat = world.open();
    const sent = chat.sendMessage({ text: 'Hello' });
    const call = await world.server.callOf('Hello');
    call.say('Half');
    await shows(chat, 'Half');
    return { ...world, chat, sent, call };
  }

  return { start, answered, halfway, createChat };
}

export type AiSdkWorld = ReturnType<typeof aiSdkWorld>;
