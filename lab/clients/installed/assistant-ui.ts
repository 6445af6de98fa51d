import type { Chat, ChatSetup, OutgoingMessage, ShownMessage } from '../chat.ts';
import { plainTransport } from '../chat.ts';
import { chatRow } from '../chat-row.ts';
import type { Row, Trial } from '../columns.ts';
import { same, until } from '../observe.ts';
import { modelContext, textIn } from '../server-state.ts';
import * as texts from '../texts.ts';
import { react, render } from './browser.ts';
import { load } from './load.ts';

interface ContentPart {
  type: string;
  text?: string;
  toolCallId?: string;
  toolName?: string;
  result?: unknown;
  approval?: { id: string; approved?: boolean };
}

interface ThreadMessage {
  id: string;
  role: string;
  content: readonly ContentPart[];
  status?: { type: string; reason?: string; error?: unknown };
}

interface MessageRuntime {
  composer: { beginEdit: () => void; setText: (text: string) => void; send: () => void };
  reload: () => void;
  getMessagePartByToolCallId: (id: string) => {
    addToolResult: (result: unknown) => void;
    respondToToolApproval?: (given: { approved: boolean }) => unknown;
  };
}

interface Thread {
  getState: () => { messages: readonly ThreadMessage[]; isRunning: boolean };
  append: (message: object) => void;
  cancelRun: () => void;
  getMessageById: (id: string) => MessageRuntime;
  getMessageByIndex: (index: number) => MessageRuntime;
}

interface Runtime {
  thread: Thread;
  registerModelContextProvider: (provider: { getModelContext: () => object }) => void;
}

interface Helpers {
  resumeStream: () => Promise<void>;
  error: Error | undefined;
}

interface SentByUi {
  body: object;
  messages: unknown;
  trigger: unknown;
  messageId: unknown;
}

interface AssistantUi {
  AssistantRuntimeProvider: unknown;
}

const ui = await load<AssistantUi>(import.meta.resolve('@assistant-ui/react'));
const native = await load<AssistantUi>(import.meta.resolve('@assistant-ui/react-native'));
const { AssistantChatTransport, useAISDKRuntime } = await load<{
  AssistantChatTransport: new (options: object) => { setRuntime: (runtime: Runtime) => void };
  useAISDKRuntime: (chat: Helpers) => Runtime;
}>(import.meta.resolve('@assistant-ui/react-ai-sdk'));
const { useChat } = await load<{ useChat: (options: object) => Helpers }>(
  import.meta.resolve('@ai-sdk/react'),
);
const ai = await load<{
  lastAssistantMessageIsCompleteWithToolCalls: (chat: object) => boolean;
  lastAssistantMessageIsCompleteWithApprovalResponses: (chat: object) => boolean;
}>(import.meta.resolve('ai'));

const sendAutomaticallyWhen = (chat: object) =>
  ai.lastAssistantMessageIsCompleteWithToolCalls(chat) ||
  ai.lastAssistantMessageIsCompleteWithApprovalResponses(chat);

/** The state of a call in the words of the AI SDK. */
function stateOf({ type, result, approval }: ContentPart): string | undefined {
  if (type !== 'tool-call') return undefined;
  if (approval !== undefined && approval.approved === undefined) return 'approval-requested';
  return result === undefined ? 'input-available' : 'output-available';
}

const shown = ({ id, role, content }: ThreadMessage): ShownMessage => ({
  id,
  role,
  parts: content.map((part) => {
    const state = stateOf(part);
    return { ...part, ...(state !== undefined && { state }) };
  }),
});

/** The error that the thread shows under its last message, else the one of the hook. */
function shownError({ messages }: ReturnType<Thread['getState']>): Error | undefined {
  const status = messages.at(-1)?.status;
  if (status?.type !== 'incomplete' || status.reason !== 'error') return undefined;
  const { error } = status;
  if (error instanceof Error) return error;
  return new Error(typeof error === 'string' ? error : wordsIn(error));
}

/** The words of `{code, message}`. */
const wordsIn = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error
    ? String(error.message)
    : JSON.stringify(error);

function chatOf(runtime: () => Runtime, helpers: () => Helpers): Chat {
  const state = () => runtime().thread.getState();
  const last = () => runtime().thread.getMessageByIndex(state().messages.length - 1);
  return {
    get messages() {
      return state().messages.map(shown);
    },
    get status() {
      return state().isRunning ? 'streaming' : 'ready';
    },
    get error() {
      return shownError(state()) ?? (state().isRunning ? undefined : helpers().error);
    },
    sendMessage: (message) => send(runtime().thread, message),
    regenerate: () => last().reload(),
    resumeStream: () => helpers().resumeStream(),
    stop: () => runtime().thread.cancelRun(),
    addToolOutput: ({ toolCallId, output }) =>
      last().getMessagePartByToolCallId(toolCallId).addToolResult(output),
    addToolApprovalResponse: ({ id, approved }) => {
      const part = state()
        .messages.at(-1)
        ?.content.find(({ approval }) => approval?.id === id);
      const call = last().getMessagePartByToolCallId(part?.toolCallId ?? '');
      return call.respondToToolApproval?.({ approved });
    },
  };
}

function send(thread: Thread, { text, files = [], messageId }: OutgoingMessage): void {
  if (messageId !== undefined) {
    const { composer } = thread.getMessageById(messageId);
    composer.beginEdit();
    composer.setText(text);
    composer.send();
    return;
  }
  const images = files.map(({ url }) => ({ type: 'image', image: url }));
  const content = [{ type: 'text', text }, ...images];
  thread.append({ role: 'user', content });
}

const openWith =
  ({ AssistantRuntimeProvider }: AssistantUi, context: object = {}, more: object = {}) =>
  async ({ place, id, messages: first = [] }: ChatSetup): Promise<Chat> => {
    let rendered: { runtime: Runtime; helpers: Helpers } | undefined;
    const transport = new AssistantChatTransport({
      ...plainTransport(place),
      // Else the thread has an id of the library's own, which no other page knows.
      prepareSendMessagesRequest: ({ body, messages, trigger, messageId }: SentByUi) => ({
        body: { ...body, ...more, id, messages, trigger, messageId },
      }),
    });
    render(() => {
      const helpers = useChat({ id, messages: first, transport, sendAutomaticallyWhen });
      const runtime = useAISDKRuntime(helpers);
      transport.setRuntime(runtime);
      rendered = { runtime, helpers };
      return react.createElement(AssistantRuntimeProvider, { runtime });
    });
    const begun = await until('assistant-ui has rendered', () => rendered);
    begun.runtime.registerModelContextProvider({ getModelContext: () => context });
    return chatOf(
      () => (rendered ?? begun).runtime,
      () => (rendered ?? begun).helpers,
    );
  };

/** assistant-ui sends its tools with every message and runs them by itself. */
const tools =
  (library: AssistantUi): Trial =>
  async ({ open: place }) => {
    const { name, ...locate } = texts.locateTool;
    const execute = () => Promise.resolve({ city: texts.CITY });
    const open = openWith(library, { tools: { [name]: { ...locate, execute } } });
    const id = crypto.randomUUID();
    const chat = await open({ place, id });
    await chat.sendMessage({ text: texts.LOCATE });
    const answer = await until('the answer names the city', () => {
      if (chat.error) throw chat.error;
      const text = textIn(chat.messages.at(-1)?.parts ?? []);
      return chat.status === 'ready' && text.includes(texts.CITY) && text;
    });
    same('the end of the context', (await modelContext(place, id)).at(-1), `model: ${answer}`);
  };

/** What else the server is told stands in the transport: a composer sends a message alone. */
const structured = (library: AssistantUi) =>
  chatRow(openWith(library, {}, { responseSchema: texts.petSchema })).structured;

/** An edit of the first message looks as a first message does: a page that has loaded all of them says so. */
const edit = (library: AssistantUi) => chatRow(openWith(library, {}, { history: 'whole' })).edit;

const row = (library: AssistantUi): Row => ({
  ...chatRow(openWith(library)),
  tools: tools(library),
  structured: structured(library),
  edit: edit(library),
});

export const rows: Readonly<Record<string, Row>> = {
  '@assistant-ui/react': row(ui),
  '@assistant-ui/react-native': row(native),
};
