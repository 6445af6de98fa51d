import { shownParts, transportOptions, type Backend } from '#docs/clients/recipes/use-chat.ts';
import { eventually } from '#test/support/eventually.ts';
import { startWireServer, type WireServer } from './wire-server.ts';
import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import * as ai5 from 'ai5';
import * as ai6 from 'ai6';
import * as ai7 from 'ai';

/** What `AbstractChat` of the AI SDK keeps its messages in; React, Vue and Svelte have one each. */
interface PlainChatState<Message> {
  status: 'submitted' | 'streaming' | 'ready' | 'error';
  error: Error | undefined;
  messages: Message[];
  pushMessage: (message: Message) => void;
  popMessage: () => void;
  replaceMessage: (index: number, message: Message) => void;
  snapshot: <T>(value: T) => T;
}

/** State without a framework around it: what a hook renders, a test reads. */
export function chatState<Message>(messages: readonly Message[] = []): PlainChatState<Message> {
  const state: PlainChatState<Message> = {
    status: 'ready',
    error: undefined,
    messages: [...messages],
    pushMessage: (message) => {
      state.messages = [...state.messages, message];
    },
    popMessage: () => {
      state.messages = state.messages.slice(0, -1);
    },
    replaceMessage: (index, message) => {
      state.messages = state.messages.with(index, structuredClone(message));
    },
    snapshot: (value) => structuredClone(value),
  };
  return state;
}

type ToolOutput = { tool: string; toolCallId: string } & (
  | { output: unknown }
  | { state: 'output-error'; errorText: string }
);

/** A message that a chat shows, with whatever parts. */
interface ShownMessage {
  id: string;
  role: 'system' | 'user' | 'assistant';
  metadata?: unknown;
  parts: { type: string; text?: string }[];
}

/** A chat as the tests use it; `AbstractChat` of every version of the library is one. */
export interface Chat {
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
  addToolOutput: (output: ToolOutput) => PromiseLike<void> | void;
  /** Not in version 5. */
  addToolApprovalResponse?: (answer: { id: string; approved: boolean }) => PromiseLike<void> | void;
}

type RecipeTransport = Omit<ReturnType<typeof transportOptions>, 'headers'> & {
  headers: () => Promise<Record<string, string>>;
};

interface ChatSetup {
  id: string;
  messages: readonly { id: string; role: 'user' | 'assistant'; parts: object[] }[];
  /** Without the recipe’s shortening the library sends its whole history. */
  transport: Pick<RecipeTransport, 'api'> & Partial<RecipeTransport>;
  onData: (part: { type: string }) => void;
}

class Chat5 extends ai5.AbstractChat<ai5.UIMessage> {}
class Chat6 extends ai6.AbstractChat<ai6.UIMessage> {}
class Chat7 extends ai7.AbstractChat<ai7.UIMessage> {}

export type Version = 5 | 6 | 7;
export const versions: readonly Version[] = [5, 6, 7];

/** A chat of a version of the package `ai`, which sends tool outputs and approvals by itself. */
export function createChat(version: Version, { messages, transport, ...setup }: ChatSetup): Chat {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts of one version are those of another
  const state = chatState(messages as ai7.UIMessage[]);
  switch (version) {
    case 5:
      return new Chat5({
        ...setup,
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
        state: state as never,
        transport: new ai5.DefaultChatTransport(transport),
        sendAutomaticallyWhen: ai5.lastAssistantMessageIsCompleteWithToolCalls,
      });
    case 6:
      return new Chat6({
        ...setup,
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
        state: state as never,
        transport: new ai6.DefaultChatTransport(transport),
        sendAutomaticallyWhen: (chat) =>
          ai6.lastAssistantMessageIsCompleteWithToolCalls(chat) ||
          ai6.lastAssistantMessageIsCompleteWithApprovalResponses(chat),
      });
    case 7:
      return new Chat7({
        ...setup,
        state,
        transport: new ai7.DefaultChatTransport(transport),
        sendAutomaticallyWhen: (chat) =>
          ai7.lastAssistantMessageIsCompleteWithToolCalls(chat) ||
          ai7.lastAssistantMessageIsCompleteWithApprovalResponses(chat),
      });
  }
}

export const textOf = (message: ShownMessage | undefined) =>
  shownParts(message?.parts ?? [])
    .map(({ type, text = '' }) => (type === 'text' ? text : ''))
    .join('');

export const textsOf = ({ messages }: Chat) => messages.map(textOf);

export const partsOf = ({ messages }: Chat) => messages.at(-1)?.parts ?? [];

/** Waits until something is so of a chat. */
export const until = (what: string, isSo: () => unknown) =>
  eventually(what, () => Promise.resolve(isSo() ? true : undefined));

export const listens = (chat: Chat) => until('the chat listens', () => chat.status === 'streaming');

/** Waits until the chat rests, and shows this text last. */
export const endsWith = (chat: Chat, text: string) =>
  until(
    `the chat ends with ${text}`,
    () => chat.status === 'ready' && partsOf(chat).at(-1)?.text === text,
  );

/** The error that a chat shows. Throws Error when it shows none. */
export function errorOf({ error }: Chat): Error {
  if (!error) throw new Error('the chat shows no error');
  return error;
}

export const backendOf = (server: WireServer, baseUrl = server.url): Backend => ({
  baseUrl,
  getIdToken: async () => (await server.authorization()).replace('Bearer ', ''),
});

/** What a chat is opened with beside its server. */
interface OpenOptions extends Partial<ChatSetup> {
  /** What the recipe’s transport is told. */
  wishes?: Parameters<typeof transportOptions>[1];
}

/** A conversation on a server, and chats of one version that show it. */
export function chatsOn(server: WireServer, version: Version = 7, id: string = randomUUID()) {
  const backend = backendOf(server);
  const open = ({ wishes, ...setup }: OpenOptions = {}) =>
    createChat(version, {
      id,
      messages: [],
      onData: () => undefined,
      transport: transportOptions(backend, wishes),
      ...setup,
    });
  return { server, backend, id, open };
}

type WorldOptions = Parameters<typeof startWireServer>[0] & Pick<OpenOptions, 'wishes'>;

/** A server of its own for a test, and chats on it. */
export async function startChats(version: Version, options: WorldOptions = {}) {
  const server = await startWireServer(options);
  onTestFinished(() => server.stop());
  return chatsOn(server, version);
}

/** A chat with one answered message. */
export async function answered(version: Version = 7) {
  const world = await startChats(version);
  const chat = world.open();
  const sent = chat.sendMessage({ text: 'Hello' });
  await world.server.answer('Hello', 'Hi there.');
  await sent;
  return { ...world, chat };
}

/** A chat in the middle of an answer. */
export async function halfway(version: Version = 7, { wishes, ...options }: WorldOptions = {}) {
  const world = await startChats(version, options);
  const chat = world.open(wishes && { wishes });
  const sent = chat.sendMessage({ text: 'Hello' });
  const call = await world.server.callOf('Hello');
  call.say('Half');
  await until('the chat shows the beginning', () => textOf(chat.messages.at(-1)) === 'Half');
  return { ...world, chat, sent, call };
}
