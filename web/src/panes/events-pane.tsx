import { useSignal } from '@preact/signals';
import type { ConversationProps } from '#web/state/app.ts';
import { CompactionTimeline } from './compactions/timeline.tsx';
import { Button } from './controls.tsx';
import { WireTab } from './wire/wire-tab.tsx';

const tabs = ['Compactions', 'Wire'] as const;

/** What happens behind the conversation. */
export function EventsPane({ app, conversation }: ConversationProps) {
  const shown = useSignal<(typeof tabs)[number]>('Compactions');
  const showOther = ({ key }: KeyboardEvent): void => {
    if (key !== 'ArrowLeft' && key !== 'ArrowRight') return;
    shown.value = shown.value === 'Wire' ? 'Compactions' : 'Wire';
    document.querySelector<HTMLElement>(`#tab-${shown.value}`)?.focus();
  };
  return (
    <section class="pane events" aria-label="Events">
      <div class="tabs bar" role="tablist" aria-label="Events" onKeyDown={showOther}>
        {tabs.map((name) => (
          <Button
            key={name}
            text={name}
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
        class="pane-body"
        role="tabpanel"
        aria-labelledby={`tab-${shown.value}`}
        tabIndex={0}
      >
        {shown.value === 'Wire' ? (
          <WireTab app={app} />
        ) : (
          <CompactionTimeline app={app} conversation={conversation} />
        )}
      </div>
    </section>
  );
}
