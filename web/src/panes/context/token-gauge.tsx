import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import { count, percent } from '#web/figures.ts';
import type { OpenConversation } from '#web/state/conversation.ts';
import { toGauge, type Gauge, type Mark } from '#web/state/gauge.ts';

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
export function TokenGauge({ conversation }: { conversation: OpenConversation }) {
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
