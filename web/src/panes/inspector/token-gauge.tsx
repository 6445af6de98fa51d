import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { App, ConversationProps } from '#web/state/app.ts';
import { toGauge, type Gauge, type Mark } from '#web/state/context/gauge.ts';

const percent = (share: number): string => `${(100 * share).toFixed(3)}%`;

/** A mark near an end is named on its inner side. */
const sideOf = ({ at }: Mark): 'start' | 'middle' | 'end' => {
  if (at < 0.15) return 'start';
  return at > 0.85 ? 'end' : 'middle';
};

function Marks({ app, marks }: { app: App; marks: readonly Mark[] }) {
  const texts = app.texts.value.inspector.marks;
  const { count } = app.figures.value;
  // The window stands in the legend when it is beyond the scale.
  const shown = marks.filter(({ isBeyond }) => !isBeyond);
  return (
    <div class="gauge-marks" aria-hidden="true" title={app.texts.value.inspector.limits}>
      {shown.map((mark) => (
        <span
          key={mark.kind}
          class={`gauge-mark ${mark.kind}`}
          data-side={sideOf(mark)}
          style={{ insetInlineStart: percent(mark.at) }}
        >
          <span class="gauge-mark-name">
            {texts[mark.kind]} <span class="figure">{count(mark.tokens)}</span>
          </span>
        </span>
      ))}
    </div>
  );
}

function Legend({ app, gauge }: { app: App; gauge: Gauge }) {
  const { segments: names, marks: markNames } = app.texts.value.inspector;
  const { count } = app.figures.value;
  const beyond = gauge.marks.filter(({ isBeyond }) => isBeyond);
  const entries = [
    ...gauge.segments.map(({ kind, tokens }) => [`segment ${kind}`, names[kind], tokens] as const),
    ...beyond.map(({ kind, tokens }) => ['beyond', markNames[kind], tokens] as const),
  ];
  return (
    <dl class="gauge-legend">
      {entries.map(([look, name, tokens]) => (
        <div key={name}>
          <dt>
            <span class={`swatch ${look}`} aria-hidden="true" />
            {name}
          </dt>
          <dd class="figure">{count(tokens)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Over the threshold a swap is not followed by the next one at once. */
const isNotDue = ({ thresholdTokens, tokens, compaction }: ContextObject): boolean =>
  thresholdTokens !== null && tokens >= thresholdTokens && compaction?.state === 'COMPACTED';

/** How full the context is, of what, and where it is compacted. */
export function TokenGauge({ app, conversation }: ConversationProps) {
  const texts = app.texts.value.inspector;
  const { count, percent: percentText } = app.figures.value;
  const context = conversation.context.value;
  if (!context) return null;
  const gauge = toGauge(context, conversation.shown.value);
  const limit = context.thresholdTokens ?? context.windowTokens;
  return (
    <div class="gauge">
      <p class="gauge-figure">
        <strong class="figure">{count(context.tokens)}</strong>
        <span class="figure">
          / {count(limit)} {texts.tokens}
        </span>
        <span class="gauge-share figure">{percentText(context.tokens / limit)}</span>
      </p>
      <div
        class="gauge-bar"
        role="meter"
        aria-label={texts.gauge}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(limit, context.tokens)}
        aria-valuetext={texts.of(count(context.tokens), count(limit))}
      >
        {gauge.segments.map(({ kind, share, tokens }) => (
          <span
            key={kind}
            class={`segment ${kind}`}
            title={`${texts.segments[kind]}: ${count(tokens)}`}
            style={{ inlineSize: percent(share) }}
          />
        ))}
      </div>
      <Marks app={app} marks={gauge.marks} />
      <Legend app={app} gauge={gauge} />
      <p class="quiet gauge-source">
        {texts.source[context.source]}
        {context.source !== 'estimated' && ` · ${texts.partsEstimated}`}
        {context.thresholdTokens === null && ` · ${texts.noThreshold}`}
      </p>
      {context.leftOut && (
        <p class="gauge-source">
          {texts.leftOut[context.leftOut.remedy](count(context.leftOut.turns))}
        </p>
      )}
      {isNotDue(context) && <p class="quiet gauge-source">{texts.notDue}</p>}
    </div>
  );
}
