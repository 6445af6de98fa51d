import { useSignal } from '@preact/signals';
import type { ContextView } from '#shared/wire/resources/context.ts';
import type { App } from '#web/state/app.ts';
import { isUnderWay } from '#web/state/context/compaction-steps.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { PinList } from '../detail/pin-list.tsx';
import { DeviceToolField } from './device-tool-field.tsx';
import { ExportButtons } from './export-buttons.tsx';
import { Generations } from './generations.tsx';
import { PromptItems } from './prompt-items.tsx';
import { ThresholdField } from './threshold-field.tsx';
import { TokenGauge } from './token-gauge.tsx';

function CompactButton({ app, conversation }: { app: App; conversation: OpenConversation }) {
  const isRunning = isUnderWay(conversation.context.value?.compaction);
  return (
    <button
      type="button"
      class="button small"
      disabled={conversation.view.value === undefined}
      // Not disabled while one runs: the keyboard would lose its place.
      aria-disabled={isRunning}
      onClick={() => {
        if (isRunning) return;
        void conversation.attempt(async () => {
          await conversation.api.compact();
          await conversation.refresh();
        });
      }}
    >
      {app.texts.value.inspector.compactNow}
    </button>
  );
}

/** What the model sees, and how full it is. */
export function InspectorPane({ app, conversation }: { app: App; conversation: OpenConversation }) {
  const texts = app.texts.value;
  const earlier = useSignal<ContextView | undefined>(undefined);
  const context = conversation.context.value;
  const items = (earlier.value ?? conversation.shown.value)?.items;
  const tokens = earlier.value?.contextTokens ?? context?.tokens ?? 0;
  return (
    <section class="pane inspector" aria-labelledby="inspector-title">
      <header class="pane-head">
        <h2 id="inspector-title">{texts.inspector.title}</h2>
        <CompactButton app={app} conversation={conversation} />
      </header>
      <div class="pane-body" tabIndex={0} role="group" aria-labelledby="inspector-title">
        {!context && <p class="quiet">{texts.inspector.empty}</p>}
        <TokenGauge app={app} conversation={conversation} />
        {!earlier.value && <ThresholdField app={app} conversation={conversation} />}
        {!earlier.value && <DeviceToolField app={app} conversation={conversation} />}
        <Generations app={app} conversation={conversation} earlier={earlier} />
        {items && <PromptItems app={app} items={items} tokens={tokens} />}
        {conversation.pins.value?.pins.length ? (
          <PinList app={app} conversation={conversation} />
        ) : null}
        {conversation.view.value && <ExportButtons app={app} conversation={conversation} />}
      </div>
    </section>
  );
}
