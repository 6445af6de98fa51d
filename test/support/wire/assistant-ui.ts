import {
  AssistantRuntimeProvider,
  type AssistantRuntime,
  type ThreadRuntime,
  type Tool,
} from '@assistant-ui/react';
import { AssistantChatTransport, useChatRuntime } from '@assistant-ui/react-ai-sdk';
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
  /** What the thread shows of the error of its last message. */
  error: () => string | undefined;
  /** Waits until it shows one. */
  fails: () => Promise<void>;
}

interface AssistantUiOptions {
  transport?: Partial<ReturnType<typeof transportOptions>>;
  tools?: Record<string, Tool>;
  system?: string;
}

/** A thread on the server, with assistant-ui’s own transport; `transport` may be the recipe’s. */
export async function openAssistantUi(
  server: WireServer,
  { transport = {}, tools = {}, system }: AssistantUiOptions = {},
): Promise<AssistantUi> {
  const getIdToken = async () => (await server.authorization()).replace('Bearer ', '');
  const { api, headers } = transportOptions({ baseUrl: server.url, getIdToken });
  const chatTransport = new AssistantChatTransport({ api, headers, ...transport });
  let runtime: AssistantRuntime | undefined;
  const Thread = () => {
    runtime = useChatRuntime({ transport: chatTransport });
    return createElement(AssistantRuntimeProvider, { runtime, children: null });
  };
  const tree = create(createElement(Thread));
  onTestFinished(() => tree.unmount());
  const opened = await eventually('assistant-ui is rendered', () => Promise.resolve(runtime));
  opened.registerModelContextProvider({
    getModelContext: () => ({ tools, ...(system !== undefined && { system }) }),
  });
  const thread = () => (runtime ?? opened).thread;
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
  return {
    thread,
    shows: async (...expected) => {
      const isShown = () =>
        JSON.stringify(texts()) === JSON.stringify(expected) && !thread().getState().isRunning;
      await eventually(`assistant-ui shows ${expected.join(' | ')}`, () =>
        Promise.resolve(isShown() || undefined),
      );
    },
    error,
    fails: async () => {
      await eventually('assistant-ui shows an error', () => Promise.resolve(error()));
    },
  };
}
