import {
  AssistantRuntimeProvider,
  type AssistantRuntime,
  type ThreadRuntime,
  type ModelContext,
} from '@assistant-ui/react';
import { AssistantChatTransport, useChatRuntime } from '@assistant-ui/react-ai-sdk';
import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai7';
import { createElement } from 'react';
import { create } from 'react-test-renderer';
import { onTestFinished } from 'vitest';
import { transportOptions } from '#docs/clients/recipes/use-chat.ts';
import { eventually } from '../eventually.ts';
import type { WireServer } from './wire-server.ts';

/** assistant-ui as an app has it, without a page around it. */
export interface AssistantUi {
  thread: () => ThreadRuntime;
  /** Waits until the thread shows these texts and nothing runs. */
  shows: (...texts: string[]) => Promise<void>;
  /** Waits until the thread ends with this text and nothing runs. */
  ends: (text: string) => Promise<void>;
  /** What the thread shows of the error of its last message. */
  error: () => string | undefined;
  /** Waits until it shows one. */
  fails: () => Promise<void>;
}

interface AssistantUiOptions {
  transport?: ConstructorParameters<typeof AssistantChatTransport<UIMessage>>[0];
  /** What the page says of the model. */
  tools?: ModelContext['tools'];
  system?: string;
  callSettings?: ModelContext['callSettings'];
  config?: ModelContext['config'];
}

const isToBeSent = (chat: { messages: UIMessage[] }) =>
  lastAssistantMessageIsCompleteWithToolCalls(chat) ||
  lastAssistantMessageIsCompleteWithApprovalResponses(chat);

/** What a test sees of a thread. */
function watch(thread: () => ThreadRuntime): AssistantUi {
  const messages = () => thread().getState().messages;
  const texts = () =>
    messages().map(({ content }) =>
      content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    );
  const error = () => {
    const status = messages().at(-1)?.status;
    return status?.type === 'incomplete' && status.error !== undefined
      ? JSON.stringify(status.error)
      : undefined;
  };
  const rests = async (what: string, isShown: () => boolean) => {
    await eventually(what, () =>
      Promise.resolve((isShown() && !thread().getState().isRunning) || undefined),
    );
  };
  return {
    thread,
    shows: (...expected) =>
      rests(
        `assistant-ui shows ${expected.join(' | ')}`,
        () => JSON.stringify(texts()) === JSON.stringify(expected),
      ),
    ends: (text) =>
      rests(`assistant-ui ends with ${text}`, () => texts().at(-1)?.endsWith(text) === true),
    error,
    fails: () => rests('assistant-ui shows an error', () => error() !== undefined),
  };
}

/** A thread on the server, with assistant-ui’s own transport; `transport` may be the recipe’s. */
export async function openAssistantUi(
  server: WireServer,
  { transport = {}, ...modelContext }: AssistantUiOptions = {},
): Promise<AssistantUi> {
  const getIdToken = async () => (await server.authorization()).replace('Bearer ', '');
  const { api, headers } = transportOptions({ baseUrl: server.url, getIdToken });
  const chatTransport = new AssistantChatTransport({ api, headers, ...transport });
  let runtime: AssistantRuntime | undefined;
  const Thread = () => {
    runtime = useChatRuntime({ transport: chatTransport, sendAutomaticallyWhen: isToBeSent });
    return createElement(AssistantRuntimeProvider, { runtime, children: null });
  };
  const tree = create(createElement(Thread));
  onTestFinished(() => tree.unmount());
  const opened = await eventually('assistant-ui is rendered', () => Promise.resolve(runtime));
  opened.registerModelContextProvider({ getModelContext: () => modelContext });
  return watch(() => (runtime ?? opened).thread);
}
