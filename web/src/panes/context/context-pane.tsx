import { useSignal, type Signal } from '@preact/signals';
import type { ContextItemView, ContextView } from '#shared/wire/resources/context.ts';
import { count } from '#web/figures.ts';
import { isUnderWay } from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { gaugeScale, kindSegments } from '#web/state/gauge.ts';
import { Button } from '../controls.tsx';
import { PinList } from './pin-list.tsx';
import { TokenGauge } from './token-gauge.tsx';

interface PaneProps {
  conversation: OpenConversation;
}

function CompactButton({ conversation }: PaneProps) {
  const isRunning = isUnderWay(conversation.context.value?.compaction);
  return (
    <Button
      class="button at-end"
      text="Compact now"
      disabled={conversation.view.value === undefined}
      // Not disabled while one runs: the keyboard would lose its place.
      aria-disabled={isRunning}
      onClick={() => {
        if (!isRunning) void conversation.change(() => conversation.api.compact());
      }}
    />
  );
}

/** The least that a conversation may have (`settings.thresholdTokens`). */
const LEAST_THRESHOLD_TOKENS = 1_000;

/** From how many tokens on this conversation is compacted; deployments let users lower it. */
function ThresholdField({ conversation }: PaneProps) {
  const thresholdTokens = conversation.context.value?.thresholdTokens;
  if (!conversation.view.value || !thresholdTokens) return null;
  const change = (wanted: number): void => {
    if (!(wanted >= LEAST_THRESHOLD_TOKENS) || wanted === thresholdTokens) return;
    const settings = { thresholdTokens: Math.round(wanted) };
    const send = () => conversation.api.change({ settings }, 'settings.thresholdTokens');
    void conversation.change(send, true);
  };
  return (
    <label class="bar quiet small">
      Threshold (tokens)
      <input
        class="at-end"
        type="number"
        min={LEAST_THRESHOLD_TOKENS}
        step={100}
        value={thresholdTokens}
        title="From how many tokens on this conversation is compacted"
        onChange={({ currentTarget }) => change(currentTarget.valueAsNumber)}
      />
    </label>
  );
}

interface GenerationsProps extends PaneProps {
  /** The context of an earlier generation; undefined: the present one is shown. */
  earlier: Signal<ContextView | undefined>;
}

const generationName = (generation: number): string =>
  generation === 0 ? 'Before the first compaction' : `Generation ${count(generation)}`;

/** The way back is seen where there is little room, too. */
const bringIntoView = (banner: HTMLElement | null): void =>
  banner?.scrollIntoView({ block: 'nearest' });

/** What is looked at, where that is not the present, and the way back to it. */
function EarlierBanner({ conversation, earlier }: GenerationsProps) {
  if (!earlier.value) return null;
  const { generation, contextTokens } = earlier.value;
  const restore = async (): Promise<void> => {
    await conversation.api.restore(generation, crypto.randomUUID());
    earlier.value = undefined;
  };
  return (
    <div class="banner warning" role="status" ref={bringIntoView}>
      <p>
        You see the context of: {generationName(generation)},{' '}
        <span class="figure">{count(contextTokens)} tokens</span>.
      </p>
      <p>Restoring makes it the present one again. The transcript stays as it is.</p>
      <Button
        class="button primary"
        text="Restore it"
        onClick={() => void conversation.change(restore)}
      />
    </div>
  );
}

/** Which generation is looked at, and the way back to it. */
function Generations({ conversation, earlier }: GenerationsProps) {
  const present = conversation.view.value?.generation ?? 0;
  if (present === 0) return null;
  const choose = async (generation: number): Promise<void> => {
    const read = () => conversation.api.context(generation);
    earlier.value = generation === present ? undefined : await conversation.attempt(read);
  };
  return (
    <>
      <label class="bar quiet small">
        View as of
        <select
          value={earlier.value?.generation ?? present}
          onChange={({ currentTarget }) => void choose(Number(currentTarget.value))}
        >
          {Array.from({ length: present + 1 }, (_, at) => present - at).map((generation) => (
            <option key={generation} value={generation}>
              {generation === present ? 'Now · ' : ''}
              {generationName(generation)}
            </option>
          ))}
        </select>
      </label>
      <EarlierBanner conversation={conversation} earlier={earlier} />
    </>
  );
}

const kindNames = {
  system: 'System instruction',
  tools: 'Tools',
  memory: 'Memory',
  pin: 'Pin',
  snapshot: 'Snapshot',
  ack: 'Acknowledgement',
  turn: 'Turn',
  marker: 'Left out',
} satisfies Record<ContextItemView['kind'], string>;

/** What a piece of the prompt says, as text. */
function contentText(content: ContextItemView['content']): string {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return JSON.stringify(content, null, 2);
  return content.parts
    .map((part) => {
      if (part.text !== undefined) return part.text;
      if (part.inlineData) return `[${part.inlineData.mimeType}]`;
      return JSON.stringify(part, null, 2);
    })
    .join('\n');
}

/** Every piece of the prompt, in its order; their figures add up to that of the whole, as in the gauge. */
function PromptItems({ items, tokens }: { items: readonly ContextItemView[]; tokens: number }) {
  const scale = gaugeScale(tokens, items);
  return (
    <section aria-labelledby="prompt-items-title">
      <h3 id="prompt-items-title">Parts of the prompt</h3>
      {items.map((item, at) => {
        const text = contentText(item.content);
        return (
          <details key={at} class="prompt-item small">
            <summary>
              <span class={`swatch segment ${kindSegments[item.kind]}`} aria-hidden="true" />
              <span class="figure">
                {kindNames[item.kind]} {item.seq}
              </span>
              <span class="one-line quiet">{text.slice(0, 160)}</span>
              <span class="figure">{count(Math.round(scale * item.tokens))}</span>
            </summary>
            <pre tabIndex={0}>{text}</pre>
          </details>
        );
      })}
    </section>
  );
}

/** What the model sees, and how full it is. */
export function ContextPane({ conversation }: PaneProps) {
  const earlier = useSignal<ContextView | undefined>(undefined);
  const context = conversation.context.value;
  const hasPins = (conversation.pins.value?.pins.length ?? 0) > 0;
  const items = (earlier.value ?? conversation.shown.value)?.items;
  const tokens = earlier.value?.contextTokens ?? context?.tokens ?? 0;
  return (
    <section class="pane context" aria-labelledby="context-title">
      <header class="pane-head bar">
        <h2 id="context-title">What the model sees</h2>
        <CompactButton conversation={conversation} />
      </header>
      <div class="pane-body" tabIndex={0} role="group" aria-labelledby="context-title">
        {!context && (
          <p class="quiet">
            From the first message on you see here how full the context is, and every part of the
            prompt.
          </p>
        )}
        <TokenGauge conversation={conversation} />
        {!earlier.value && <ThresholdField conversation={conversation} />}
        <Generations conversation={conversation} earlier={earlier} />
        {items && <PromptItems items={items} tokens={tokens} />}
        {hasPins && <PinList conversation={conversation} />}
      </div>
    </section>
  );
}
