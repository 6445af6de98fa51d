import { batch, effect } from '@preact/signals';
import type { App } from '../state/app.ts';
import type { OpenConversation } from '../state/conversation.ts';
import type { Language } from '../text/languages.ts';
import { en, type ToolTexts } from '../text/tools/en.ts';
import { ja } from '../text/tools/ja.ts';

/*
 * What the tabs of tools share: their sentences, state that outlives their being shown, and the conversation that
 * they lead as a user would.
 */

const texts: Record<Language, ToolTexts> = { en, ja };

export const toolTexts = (app: App): ToolTexts => texts[app.settings.language.value];

/** One value for each app, made when it is asked for first: state of a tab that outlives its being shown. */
export function perApp<T>(make: (app: App) => T): (app: App) => T {
  const made = new WeakMap<App, { value: T }>();
  return (app) => {
    const known = made.get(app) ?? { value: make(app) };
    made.set(app, known);
    return known.value;
  };
}

/** Shows a conversation and, on narrow screens, leaves the pane in front that is there. */
export function showBeside(app: App, id: string): void {
  const pane = app.pane.peek();
  batch(() => {
    app.select(id);
    app.pane.value = pane;
  });
}

type Said = 'answered' | 'failed' | 'left';

/**
 * Says a text as the composer does and resolves when the transcript has its answer. `left`: the conversation is
 * not shown any more, or the signal fired.
 */
export function sayTo(
  conversation: OpenConversation,
  text: string,
  signal: AbortSignal = conversation.left,
): Promise<Said> {
  const messageId = crypto.randomUUID();
  const { promise, resolve } = Promise.withResolvers<Said>();
  const ended = AbortSignal.any([signal, conversation.left]);
  if (ended.aborted) return Promise.resolve('left');
  ended.addEventListener('abort', () => resolve('left'), { once: true });
  const { answers } = conversation;
  answers.ask({ kind: 'send', messageId, text });
  let wasLive = false;
  const dispose = effect(() => {
    const turn = answers.live.value.find(({ request }) => request.messageId === messageId);
    wasLive ||= turn !== undefined;
    if (turn?.phase === 'failed') resolve('failed');
    // What has ended leaves the list of live turns once the transcript shows it.
    else if (turn === undefined && wasLive) resolve('answered');
  });
  return promise.finally(dispose);
}
