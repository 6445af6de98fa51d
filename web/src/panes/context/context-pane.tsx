import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { ContextItemView, ContextView } from '#shared/wire/resources/context.ts';
import { count, percent } from '#web/figures.ts';
import { IconButton, Button } from '#web/panes/controls.tsx';
import { isUnderWay } from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { toGauge, type Gauge, type Mark, gaugeScale, kindSegments } from '#web/state/gauge.ts';
import { useSignal, type Signal } from '@preact/signals';

/** What stands in every context word for word, and the way to take it out. */
export function PinList({ conversation }: { conversation: OpenConversation }) {
  const { pins = [], tokens = 0, budgetTokens = 0 } = conversation.pins.value ?? {};
  return (
    <section>
      <h4>
        Pins{' '}
        {budgetTokens > 0 && (
          <span class="quiet figure">
            {count(tokens)} / {count(budgetTokens)} tokens
          </span>
        )}
      </h4>
      {pins.length === 0 && <p class="quiet">No pins. Pin a message to keep it word for word.</p>}
      <ul class="report-list">
        {pins.map(({ id, text }) => (
          <li key={id} class="pin bar">
            <span>{text}</span>
            <IconButton
              class="icon-button at-end"
              sign="✕"
              label="Remove pin"
              aria-label={`Remove pin: ${text}`}
              onClick={() => void conversation.attempt(() => conversation.unpin(id))}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

const segmentNames = {
  system: 'System & tools',
  memory: 'Memory',
  pins: 'Pins',
  snapshot: 'Snapshot',
  tail: 'Recent turns',
  free: 'Free',
};
const markNames = { soft: 'Compacts', hard: 'Shortens', window: 'Window' };
const sourceTexts = {
  reported: 'Reported by the model; the parts are estimates.',
  counted: 'Counted by the model; the parts are estimates.',
  estimated: 'Estimated.',
};

const width = (share: number): string => `${(100 * share).toFixed(3)}%`;

/** A mark near an end is named on its inner side. */
const sideOf = ({ at }: Mark): 'start' | 'middle' | 'end' => {
  if (at < 0.15) return 'start';
  return at > 0.85 ? 'end' : 'middle';
};

const Marks = ({ marks }: { marks: readonly Mark[] }) => (
  <div
    class="gauge-marks"
    aria-hidden="true"
    title="At the first mark it is compacted. From the second on the model sees a shortened view."
  >
    {marks
      // The window stands in the legend when it is beyond the scale.
      .filter(({ isBeyond }) => !isBeyond)
      .map((mark) => (
        <span
          key={mark.kind}
          class={`gauge-mark ${mark.kind}`}
          data-side={sideOf(mark)}
          style={{ insetInlineStart: width(mark.at) }}
        >
          <span>
            {markNames[mark.kind]} <span class="figure">{count(mark.tokens)}</span>
          </span>
        </span>
      ))}
  </div>
);

function Legend({ gauge }: { gauge: Gauge }) {
  const beyond = gauge.marks.filter(({ isBeyond }) => isBeyond);
  const entries = [
    ...gauge.segments.map(({ kind, tokens }) => [kind, segmentNames[kind], tokens] as const),
    ...beyond.map(({ kind, tokens }) => ['beyond', markNames[kind], tokens] as const),
  ];
  return (
    <dl class="gauge-legend small">
      {entries.map(([look, name, tokens]) => (
        <div key={name} class="bar">
          <dt class="bar">
            <span class={`swatch segment ${look}`} aria-hidden="true" />
            {name}
          </dt>
          <dd class="figure at-end">{count(tokens)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What there is to say of the figures. */
function remarks({ thresholdTokens, tokens, source, compaction, leftOut }: ContextObject) {
  const lines: string[] = [sourceTexts[source]];
  if (thresholdTokens === null) lines.push('Nothing is compacted at a threshold.');
  if (leftOut)
    lines.push(
      `The model does not see the oldest turns (${count(leftOut.turns)}).`,
      leftOut.remedy === 'wait'
        ? 'A compaction is on its way.'
        : '“Compact now” gives it a summary of them.',
    );
  // Over the threshold a swap is not followed by the next one at once.
  if (thresholdTokens !== null && tokens >= thresholdTokens && compaction?.state === 'COMPACTED')
    lines.push(
      'Over the threshold: the next compaction comes when more was added since the last one.',
    );
  return lines;
}

/** How full the context is, of what, and where it is compacted. */
function TokenGauge({ conversation }: { conversation: OpenConversation }) {
  const context = conversation.context.value;
  if (!context) return null;
  const gauge = toGauge(context, conversation.shown.value);
  const limit = context.thresholdTokens ?? context.windowTokens;
  return (
    <div class="gauge">
      <p class="gauge-figure bar figure">
        <strong>{count(context.tokens)}</strong>
        <span class="quiet">/ {count(limit)} tokens</span>
        <strong class="at-end">{percent(context.tokens / limit)}</strong>
      </p>
      <div
        class="gauge-bar"
        role="meter"
        aria-label="Context in use"
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(limit, context.tokens)}
        aria-valuetext={`${count(context.tokens)} of ${count(limit)} tokens`}
      >
        {gauge.segments.map(({ kind, share, tokens }) => (
          <span
            key={kind}
            class={`segment ${kind}`}
            title={`${segmentNames[kind]}: ${count(tokens)}`}
            style={{ inlineSize: width(share) }}
          />
        ))}
      </div>
      <Marks marks={gauge.marks} />
      <Legend gauge={gauge} />
      <p class="quiet small">{remarks(context).join(' ')}</p>
    </div>
  );
}

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
