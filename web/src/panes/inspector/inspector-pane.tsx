import { useSignal } from '@preact/signals';
import type { ContextView } from '#shared/wire/resources/context.ts';
import type { ConversationProps } from '#web/state/app.ts';
import { Button } from '../controls.tsx';
import { isUnderWay } from '#web/state/context/compaction-steps.ts';
import { PinList } from '../detail/pin-list.tsx';
import { ExportButtons } from './export-buttons.tsx';
import { Generations } from './generations.tsx';
import { PromptItems } from './prompt-items.tsx';
import { DeviceToolField, ThresholdField } from './settings-fields.tsx';
import { TokenGauge } from './token-gauge.tsx';

function CompactButton({ app, conversation }: ConversationProps) {
  const isRunning = isUnderWay(conversation.context.value?.compaction);
  return (
    <Button
      class="button small"
      text={app.texts.value.inspector.compactNow}
      disabled={conversation.view.value === undefined}
      // Not disabled while one runs: the keyboard would lose its place.
      aria-disabled={isRunning}
      onClick={() => {
        if (!isRunning) void conversation.change(() => conversation.api.compact());
      }}
    />
  );
}

/** What the model sees, and how full it is. */
export function InspectorPane({ app, conversation }: ConversationProps) {
  const texts = app.texts.value.inspector;
  const earlier = useSignal<ContextView | undefined>(undefined);
  const context = conversation.context.value;
  const hasPins = (conversation.pins.value?.pins.length ?? 0) > 0;
  const items = (earlier.value ?? conversation.shown.value)?.items;
  const tokens = earlier.value?.contextTokens ?? context?.tokens ?? 0;
  return (
    <section class="pane inspector" aria-labelledby="inspector-title">
      <header class="pane-head">
        <h2 id="inspector-title">{texts.title}</h2>
        <CompactButton app={app} conversation={conversation} />
      </header>
      <div class="pane-body" tabIndex={0} role="group" aria-labelledby="inspector-title">
        {!context && <p class="quiet">{texts.empty}</p>}
        <TokenGauge app={app} conversation={conversation} />
        {!earlier.value && <ThresholdField app={app} conversation={conversation} />}
        {!earlier.value && <DeviceToolField app={app} conversation={conversation} />}
        <Generations app={app} conversation={conversation} earlier={earlier} />
        {items && <PromptItems app={app} items={items} tokens={tokens} />}
        {hasPins && <PinList app={app} conversation={conversation} />}
        {conversation.view.value && <ExportButtons app={app} conversation={conversation} />}
      </div>
    </section>
  );
}
