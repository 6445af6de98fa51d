import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { App } from '#web/state/app.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import type { Texts } from '#web/text/en.ts';
import { LazyTab } from '../lazy-tab.tsx';
import { CompactionTimeline } from './compaction-timeline.tsx';

type TabName = keyof Texts['events']['tabs'];

/** The tabs of the pane, in their order; another one is a line here and its name in the texts. */
const tabs: Record<
  TabName,
  (input: { app: App; conversation: OpenConversation }) => ComponentChildren
> = {
  compactions: (input) => <CompactionTimeline {...input} />,
  wire: ({ app }) => <LazyTab key="wire" app={app} load={loadWire} />,
  faults: ({ app }) => <LazyTab key="faults" app={app} load={loadFaults} />,
  player: ({ app }) => <LazyTab key="player" app={app} load={loadPlayer} />,
};

const names: readonly TabName[] = ['compactions', 'wire', 'faults', 'player'];

const loadWire = async () => (await import('../wire/wire-tab.tsx')).WireTab;
const loadFaults = async () => (await import('../faults/faults-tab.tsx')).FaultsTab;
const loadPlayer = async () => (await import('../player/player-tab.tsx')).PlayerTab;

/** What happens behind the conversation. */
export function EventsPane({ app, conversation }: { app: App; conversation: OpenConversation }) {
  const texts = app.texts.value;
  const shown = useSignal<TabName>('compactions');
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    const next = names[(names.indexOf(shown.value) + step + names.length) % names.length];
    if (next) shown.value = next;
    document.querySelector<HTMLElement>(`#tab-${shown.value}`)?.focus();
  };
  return (
    <section class="pane events" aria-label={texts.panes.events}>
      <div class="tabs" role="tablist" aria-label={texts.panes.events} onKeyDown={move}>
        {names.map((name) => (
          <button
            key={name}
            id={`tab-${name}`}
            type="button"
            role="tab"
            aria-selected={shown.value === name}
            aria-controls="events-panel"
            tabIndex={shown.value === name ? 0 : -1}
            onClick={() => (shown.value = name)}
          >
            {texts.events.tabs[name]}
          </button>
        ))}
      </div>
      <div
        id="events-panel"
        class="tab-panel"
        role="tabpanel"
        aria-labelledby={`tab-${shown.value}`}
        tabIndex={0}
      >
        {tabs[shown.value]({ app, conversation })}
      </div>
    </section>
  );
}
