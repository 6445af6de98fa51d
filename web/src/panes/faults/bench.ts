import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { App } from '#web/state/app.ts';
import { eventually } from '#web/state/waiting.ts';
import { sayTo, showBeside } from '../tools.ts';
import type { ModelCall, Supervisor } from './supervisor.ts';

export interface BenchParts {
  app: App;
  supervisor: Supervisor;
  signal: AbortSignal;
  title: string;
  /** Whether the model is the fake Gemini, which takes orders. */
  hasFakeGemini: boolean;
  /** Tokens at which it compacts by itself; undefined: as deployed. */
  thresholdTokens?: number;
}

/** Opens a conversation of its own for a fault, which the page shows meanwhile. */
export async function openBench(parts: BenchParts) {
  const { app, supervisor, signal, title, hasFakeGemini, thresholdTokens } = parts;
  const id = crypto.randomUUID();
  await app.api.create({ id, title, settings: thresholdTokens && { thresholdTokens } });
  showBeside(app, id);
  const shown = app.open.value;
  void app.conversations.refresh();
  return {
    id,
    api: app.api.conversation(id),
    supervisor,
    shown,
    signal,
    /** Says a text in the page and waits for its answer. Throws when none came. */
    say: async (text: string): Promise<void> => {
      const said = await sayTo(shown, text, signal);
      if (said !== 'answered') throw new Error(`${text.slice(0, 40)} …: ${said}`);
    },
    /** How fast the fake Gemini speaks; a real model speaks as it does. */
    pace: async (tokensPerSecond: number): Promise<void> => {
      if (hasFakeGemini) await supervisor.pace(tokensPerSecond);
    },
    /** How long the fake Gemini thinks before it summarises; a real model takes its time anyway. */
    slowSummaries: async (slowMs: number): Promise<void> => {
      if (hasFakeGemini) await supervisor.vices(slowMs > 0 ? { slowMs } : {});
    },
    /** Begins to count; what it returns tells the chat calls since then, undefined where nobody counts. */
    countCalls: async (): Promise<() => Promise<readonly ModelCall[] | undefined>> => {
      if (!hasFakeGemini) return () => Promise.resolve(undefined);
      const before = await supervisor.lastCall();
      return async () =>
        (await supervisor.callsAfter(before)).filter(({ role }) => role === 'chat');
    },
    /** All that goes over the page's wire from now on, until the returned function is called. */
    watchWire: app.wire.watch,
    /** Asks until it is told something. Throws after the deadline, and when the fault is left. */
    until: <T>(look: () => T | undefined | Promise<T | undefined>, deadlineMs?: number) =>
      eventually(look, { signal, deadlineMs }),
  };
}

export type Bench = Awaited<ReturnType<typeof openBench>>;

/** More turns than any fault makes. */
const PAGE_SIZE = 50;

export const messageText = ({ parts }: Pick<MessageView, 'parts'>): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** The transcript as it is stored. */
export const storedMessages = async ({ api }: Bench): Promise<MessageView[]> =>
  (await api.messages(0, PAGE_SIZE)).messages;

export const countTurns = (messages: readonly MessageView[]): number =>
  new Set(messages.map(({ seq }) => seq)).size;

export const findAnswer = (
  messages: readonly MessageView[],
  seq: number,
): MessageView | undefined =>
  messages.find((message) => message.seq === seq && message.role === 'model');
