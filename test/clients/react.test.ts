import { until } from './server-state.ts';
import * as talk from './talk.ts';
import type { Library } from './talk.ts';
import { load, testLibraries } from './test-libraries.ts';
import {
  answerWith,
  plainTransport,
  talkInChat,
  type Chat,
  type ChatSetup,
  type OpenChat,
  type ShownMessage,
} from './ui-chat.ts';

/** What is used of assistant-ui. */
interface ThreadPart {
  type: string;
  text?: string;
  toolCallId?: string;
  approval?: { id: string; approved?: boolean };
  result?: unknown;
}

interface ThreadMessage {
  id: string;
  role: string;
  content: readonly ThreadPart[];
  status?: { type: string; reason?: string; error?: unknown };
}

interface ThreadEntry {
  composer: { beginEdit: () => void; setText: (text: string) => void; send: () => void };
  reload: () => void;
  getMessagePartByToolCallId: (toolCallId: string) => {
    respondToToolApproval: (answer: { approved: boolean }) => void;
  };
}

interface Thread {
  getState: () => { messages: readonly ThreadMessage[]; isRunning: boolean };
  getMessageByIndex: (index: number) => ThreadEntry;
  getMessageById: (id: string) => ThreadEntry;
  append: (message: { role: 'user'; content: readonly object[] }) => void;
  cancelRun: () => void;
}

interface AssistantRuntime {
  thread: Thread;
  registerModelContextProvider: (provider: { getModelContext: () => object }) => void;
}

interface AssistantUi {
  AssistantRuntimeProvider: unknown;
}

/** What is used of the packages; React and what stands on it have to be of one installation. */
interface Packages {
  ai: {
    DefaultChatTransport: new (options: object) => object;
    lastAssistantMessageIsCompleteWithToolCalls: (chat: object) => boolean;
    lastAssistantMessageIsCompleteWithApprovalResponses: (chat: object) => boolean;
  };
  useChat: (options: object) => Chat;
  bridge: {
    AssistantChatTransport: new (options: object) => {
      setRuntime: (runtime: AssistantRuntime) => void;
    };
    useAISDKRuntime: (chat: Chat) => AssistantRuntime;
  };
  createElement: (type: unknown, props?: object) => unknown;
  /** Renders a component on a page of its own. */
  render: (component: () => unknown) => void;
}

/** React and what stands on it look for a page when they are loaded; what Node has stays Node's. */
async function openBrowser() {
  const { JSDOM } = await load<{
    JSDOM: new (html: string, options: object) => { window: object };
  }>('jsdom');
  const page = '<!doctype html><body></body>';
  const { window } = new JSDOM(page, { url: 'http://app.test/', pretendToBeVisual: true });
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(window)))
    if (!(name in globalThis)) Object.defineProperty(globalThis, name, property);
}

async function loadPackages(): Promise<Packages> {
  await openBrowser();
  const { createElement } = await load<Pick<Packages, 'createElement'>>('react');
  const { createRoot } = await load<{
    createRoot: (container: object) => { render: (element: unknown) => void };
  }>('react-dom/client');
  const { useChat } = await load<Pick<Packages, 'useChat'>>('@ai-sdk/react');
  const page: { createElement: (tag: string) => object } = Reflect.get(globalThis, 'document');
  return {
    ai: await load('ai'),
    bridge: await load('@assistant-ui/react-ai-sdk'),
    useChat,
    createElement,
    render: (component) => createRoot(page.createElement('div')).render(createElement(component)),
  };
}

const toBeSent =
  ({ ai }: Packages) =>
  (chat: object) =>
    ai.lastAssistantMessageIsCompleteWithToolCalls(chat) ||
    ai.lastAssistantMessageIsCompleteWithApprovalResponses(chat);

/** The hook, as the component that has rendered last got it. */
const openHook =
  (packages: Packages): OpenChat =>
  async ({ place, id, messages = [] }) => {
    let last: Chat | undefined;
    const transport = new packages.ai.DefaultChatTransport(plainTransport(place));
    const sendAutomaticallyWhen = toBeSent(packages);
    packages.render(() => {
      last = packages.useChat({ id, messages, transport, sendAutomaticallyWhen });
      return null;
    });
    const first = await until('the hook has rendered', () => last);
    return new Proxy(first, { get: (_, name) => Reflect.get(last ?? first, name) });
  };

/** The state of a call in the words of the AI SDK. */
function stateOf(part: ThreadPart): string | undefined {
  if (part.type !== 'tool-call') return undefined;
  const { approval, result } = part;
  if (approval !== undefined && approval.approved === undefined) return 'approval-requested';
  return result === undefined ? 'input-available' : 'output-available';
}

const shown = ({ id, role, content }: ThreadMessage): ShownMessage => ({
  id,
  role,
  parts: content.map((part) => {
    const state = stateOf(part);
    const { type, text, toolCallId, approval } = part;
    return {
      type,
      ...(text !== undefined && { text }),
      ...(toolCallId !== undefined && { toolCallId }),
      ...(approval !== undefined && { approval }),
      ...(state !== undefined && { state }),
    };
  }),
});

/** The error that the thread shows under its last message. */
function shownError(thread: Thread): Error | undefined {
  const status = thread.getState().messages.at(-1)?.status;
  if (status?.type !== 'incomplete' || status.reason !== 'error') return undefined;
  const { error } = status;
  const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
  if (hasMessage && typeof error.message === 'string') return new Error(error.message);
  return new Error(typeof error === 'string' ? error : JSON.stringify(error));
}

/** A thread of assistant-ui as a chat. */
function chatOf(thread: () => Thread, hook: () => Chat): Chat {
  const last = () => thread().getMessageByIndex(thread().getState().messages.length - 1);
  return {
    get messages() {
      return thread().getState().messages.map(shown);
    },
    get status() {
      return thread().getState().isRunning ? 'streaming' : 'ready';
    },
    get error() {
      return shownError(thread()) ?? (thread().getState().isRunning ? undefined : hook().error);
    },
    sendMessage: ({ text, files = [], messageId }) => {
      if (messageId === undefined) {
        const images = files.map(({ url }) => ({ type: 'image' as const, image: url }));
        thread().append({ role: 'user', content: [{ type: 'text', text }, ...images] });
        return;
      }
      const { composer } = thread().getMessageById(messageId);
      composer.beginEdit();
      composer.setText(text);
      composer.send();
    },
    regenerate: () => last().reload(),
    resumeStream: () => hook().resumeStream(),
    stop: () => thread().cancelRun(),
    addToolOutput: () => undefined,
    addToolApprovalResponse: ({ id, approved }) => {
      const calls = thread().getState().messages.at(-1)?.content ?? [];
      const { toolCallId = '' } = calls.find(({ approval }) => approval?.id === id) ?? {};
      return last().getMessagePartByToolCallId(toolCallId).respondToToolApproval({ approved });
    },
  };
}

interface SentByUi {
  body: object;
  messages: unknown;
  trigger: unknown;
  messageId: unknown;
}

/** `context`: what the page says of the model; `more`: fields of its own that the transport adds. */
const openThread =
  (
    packages: Packages,
    { AssistantRuntimeProvider }: AssistantUi,
    { context = {}, more = {} } = {},
  ): OpenChat =>
  async ({ place, id, messages = [] }) => {
    let rendered: { runtime: AssistantRuntime; hook: Chat } | undefined;
    const transport = new packages.bridge.AssistantChatTransport({
      ...plainTransport(place),
      // Else the thread has an id of the library's own, which no other page knows.
      prepareSendMessagesRequest: ({ body, ...sent }: SentByUi) => {
        const { messages: all, trigger, messageId } = sent;
        return { body: { ...body, ...more, id, messages: all, trigger, messageId } };
      },
    });
    const sendAutomaticallyWhen = toBeSent(packages);
    packages.render(() => {
      const hook = packages.useChat({ id, messages, transport, sendAutomaticallyWhen });
      const runtime = packages.bridge.useAISDKRuntime(hook);
      transport.setRuntime(runtime);
      rendered = { runtime, hook };
      return packages.createElement(AssistantRuntimeProvider, { runtime });
    });
    const first = await until('assistant-ui has rendered', () => rendered);
    first.runtime.registerModelContextProvider({ getModelContext: () => context });
    return chatOf(
      () => (rendered ?? first).runtime.thread,
      () => (rendered ?? first).hook,
    );
  };

const threadLibrary = (packages: Packages, library: AssistantUi): Library => ({
  open: async (place, id) => {
    const setup: ChatSetup = { place, id };
    return {
      ...(await talkInChat(openThread(packages, library), setup)),
      // What else the server is told stands in the transport: a composer sends a message alone.
      askForPet: async (text) => {
        const more = { responseSchema: talk.petSchema };
        const page = await talkInChat(openThread(packages, library, { more }), setup);
        return JSON.parse(await page.say(text));
      },
      // assistant-ui sends its tools with every message and runs them by itself.
      callTool: async (locate) => {
        const { name, ...described } = talk.locateTool;
        const execute = () => Promise.resolve(locate());
        const context = { tools: { [name]: { ...described, execute } } };
        const chat = await openThread(packages, library, { context })(setup);
        await chat.sendMessage({ text: talk.LOCATE });
        return answerWith(chat, talk.CITY);
      },
    };
  },
});

testLibraries(
  ['@ai-sdk/react', '@assistant-ui/react', '@assistant-ui/react-native'],
  async () => {
    const packages = await loadPackages();
    return {
      '@ai-sdk/react': {
        open: (place, id) => talkInChat(openHook(packages), { place, id }),
      },
      '@assistant-ui/react': threadLibrary(packages, await load('@assistant-ui/react')),
      '@assistant-ui/react-native': threadLibrary(
        packages,
        await load('@assistant-ui/react-native'),
      ),
    };
  },
  { isInstalled: true },
);
