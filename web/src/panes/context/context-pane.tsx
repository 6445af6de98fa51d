import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { ContextItemView, ContextView } from '#shared/wire/resources/context.ts';
import { count, inWords, percent } from '#web/figures.ts';
import { IconButton, Button } from '#web/panes/controls.tsx';
import { isUnderWay } from '#web/state/compactions.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { gaugeScale, kindSegments, toSegments } from '#web/state/gauge.ts';
import { useSignal, type Signal } from '@preact/signals';

interface PaneProps {
  conversation: OpenConversation;
}

/** What stands in every context word for word, and the way to take it out. */
function PinList({ conversation }: PaneProps) {
  const { pins = [], tokens = 0, budgetTokens = 0 } = conversation.pins.value ?? {};
  if (pins.length === 0) return null;
  return (
    <section>
      <h4>
        Pins: {count(tokens)} / {count(budgetTokens)} tokens
      </h4>
      <ul class="report-list">
        {pins.map(({ id, text }) => (
          <li key={id} class="pin bar">
            <span>{text}</span>
            <IconButton
              class="icon-button at-end"
              sign="✕"
              label="Remove pin"
              aria-label={`Remove pin: ${text}`}
              onClick={() => void conversation.unpin(id)}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

const sourceTexts = {
  reported: 'Reported by the model; the parts are estimates.',
  counted: 'Counted by the model; the parts are estimates.',
  estimated: 'Estimated.',
};

/** What there is to say of the figures. */
function remarks({ thresholdTokens, tokens, source, compaction, leftOut }: ContextObject) {
  const lines: string[] = [sourceTexts[source]];
  if (thresholdTokens === null) lines.push('Nothing is compacted at a threshold.');
  if (leftOut) lines.push(leftOut.message);
  // Over the threshold a swap is not followed by the next one at once.
  if (thresholdTokens !== null && tokens >= thresholdTokens && compaction?.state === 'COMPACTED')
    lines.push(
      'Over the threshold: the next compaction comes when more was added since the last one.',
    );
  return lines;
}

/** How full the context is, of what, and where it is compacted: there the bar is full. */
function TokenGauge({ conversation }: PaneProps) {
  const context = conversation.context.value;
  if (!context) return null;
  const { tokens, thresholdTokens, windowTokens } = context;
  const limit = thresholdTokens ?? windowTokens;
  const shown = conversation.shown.value;
  const segments = toSegments(tokens, shown?.items ?? []);
  const marks = [
    ['Compacts', thresholdTokens],
    ['Shortens', shown?.policy?.hardThreshold.tokens],
    ['Window', windowTokens],
  ] as const;
  return (
    <div class="gauge">
      <p class="gauge-figure bar figure">
        <strong>{count(tokens)}</strong>
        <span class="quiet">/ {count(limit)} tokens</span>
        <strong class="at-end">{percent(tokens / limit)}</strong>
      </p>
      <div
        class="gauge-bar"
        role="meter"
        aria-label="Context in use"
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(limit, tokens)}
        aria-valuetext={`${count(tokens)} of ${count(limit)} tokens`}
      >
        {segments.map((segment) => (
          <span
            key={segment.kind}
            class={`segment ${segment.kind}`}
            style={{ inlineSize: `${(100 * segment.tokens) / limit}%` }}
          />
        ))}
      </div>
      <ul class="gauge-legend bar small">
        {segments.map((segment) => (
          <li key={segment.kind} class="bar">
            <span class={`swatch segment ${segment.kind}`} aria-hidden="true" />
            {inWords(segment.kind)} <span class="figure">{count(segment.tokens)}</span>
          </li>
        ))}
      </ul>
      <p
        class="gauge-marks quiet small figure"
        title="At the first it is compacted. From the second on the model sees a shortened view."
      >
        {marks
          .flatMap(([name, at]) => (typeof at === 'number' ? [`${name} ${count(at)}`] : []))
          .join(' · ')}
      </p>
      <p class="quiet small">{remarks(context).join(' ')}</p>
    </div>
  );
}

function CompactButton({ conversation }: PaneProps) {
  const isRunning = isUnderWay(conversation.context.value?.compaction);
  return (
    <Button
      class="button at-end"
      text="Compact now"
      disabled={conversation.context.value === undefined}
      // Not disabled while one runs: the keyboard would lose its place.
      aria-disabled={isRunning}
      onClick={() => {
        if (!isRunning) void conversation.attempt(() => conversation.chat.compact());
      }}
    />
  );
}

/** The least that a conversation may have (`settings.thresholdTokens`). */
const LEAST_THRESHOLD_TOKENS = 1_000;

/** From how many tokens on this conversation is compacted; deployments let users lower it. */
function ThresholdField({ conversation }: PaneProps) {
  const thresholdTokens = conversation.context.value?.thresholdTokens;
  if (!thresholdTokens) return null;
  const change = (wanted: number): void => {
    if (!(wanted >= LEAST_THRESHOLD_TOKENS) || wanted === thresholdTokens) return;
    const query = { updateMask: 'settings.thresholdTokens' };
    const body = { settings: { thresholdTokens: Math.round(wanted) } };
    void conversation.change(() => conversation.chat.call('PATCH', '', { query, body }));
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

/** Which generation is looked at, and the way back to it. */
function Generations({ conversation, earlier }: GenerationsProps) {
  const present = conversation.context.value?.generation ?? 0;
  if (present === 0) return null;
  const shown = earlier.value?.generation ?? present;
  const choose = async (generation: number): Promise<void> => {
    const read = () =>
      conversation.chat.call<ContextView>('GET', '/context', { query: { generation } });
    earlier.value = generation === present ? undefined : await conversation.attempt(read);
  };
  const restore = async (): Promise<void> => {
    const body = { generation: shown, requestId: crypto.randomUUID() };
    await conversation.chat.call('POST', ':restore', { body });
    earlier.value = undefined;
  };
  return (
    <>
      <label class="bar quiet small">
        View as of
        <select
          value={shown}
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
      {earlier.value && (
        <div class="banner" role="status">
          <p>
            These parts made up {count(earlier.value.contextTokens)} tokens. Restoring makes them
            the present context again. The transcript stays as it is.
          </p>
          <Button
            class="button primary"
            text="Restore it"
            onClick={() => void conversation.change(restore)}
          />
        </div>
      )}
    </>
  );
}

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
                {inWords(item.kind)} {item.seq}
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
        <PinList conversation={conversation} />
      </div>
    </section>
  );
}
