import { useSignal } from '@preact/signals';
import type { ComponentChildren, FunctionComponent } from 'preact';
import { useEffect } from 'preact/hooks';
import type { App, ConversationProps } from '#web/state/app.ts';
import type { Texts } from '#web/text/en.ts';
import { Button } from '../controls.tsx';
import { CompactionTimeline } from './compaction-timeline.tsx';

type TabName = keyof Texts['events']['tabs'];

/** The tabs of the pane, in their order; another one is a line here and its name in the texts. */
const tabs: Record<TabName, (input: ConversationProps) => ComponentChildren> = {
  compactions: (input) => <CompactionTimeline {...input} />,
  wire: ({ app }) => <LazyTab key="wire" app={app} load={loadWire} />,
  faults: ({ app }) => <LazyTab key="faults" app={app} load={loadFaults} />,
  player: ({ app }) => <LazyTab key="player" app={app} load={loadPlayer} />,
};

const names: readonly TabName[] = ['compactions', 'wire', 'faults', 'player'];

const loadWire = async () => (await import('../wire/wire-tab.tsx')).WireTab;
const loadFaults = async () => (await import('../faults/faults-tab.tsx')).FaultsTab;
const loadPlayer = async () => (await import('../player/player-tab.tsx')).PlayerTab;

type Tab = FunctionComponent<{ app: App }>;

/** A tab that is fetched when it is shown for the first time. */
function LazyTab({ app, load }: { app: App; load: () => Promise<Tab> }) {
  const loaded = useSignal<{ Tab: Tab } | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    load().then(
      (Tab) => (loaded.value = { Tab }),
      // The page was built anew meanwhile, or the network is gone: a reload helps.
      (error: unknown) => (problem.value = String(error)),
    );
  }, [load]);
  if (problem.value !== undefined) return <p role="alert">{problem.value}</p>;
  if (!loaded.value) return <p class="quiet">{app.texts.value.transcript.loading}</p>;
  const { Tab } = loaded.value;
  return <Tab app={app} />;
}

/** What happens behind the conversation. */
export function EventsPane({ app, conversation }: ConversationProps) {
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
          <Button
            key={name}
            text={texts.events.tabs[name]}
            id={`tab-${name}`}
            role="tab"
            aria-selected={shown.value === name}
            aria-controls="events-panel"
            tabIndex={shown.value === name ? 0 : -1}
            onClick={() => (shown.value = name)}
          />
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
